//! Change rates learned with one number per page, from visits at random instants of a known rate p (Avrachenkov, Patil
//! and Thoppe 2020): by the law of large numbers, by stochastic approximation, and with a heavy ball. I is 1 if a visit
//! found a change. At the truth a visit finds one with probability Δ/(Δ + p).

/// x_k = p·ΣI / (k + α − ΣI).
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct LargeNumbers {
    visits: f64,
    changes: f64,
}

/// α: keeps the rate finite when every visit found a change.
const ALPHA: f64 = 1.0;

impl LargeNumbers {
    pub fn hear(&mut self, changed: bool) {
        self.visits += 1.0;
        self.changes += f64::from(u8::from(changed));
    }

    pub fn rate(&self, visit_rate: f64) -> f64 {
        visit_rate * self.changes / (self.visits + ALPHA - self.changes)
    }
}

/// x ← x + η_k·(I·(x + p) − x), with η_k = (k + 1)^(−0.75).
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Approximation {
    rate: f64,
    visits: f64,
}

/// The steps shrink more slowly than 1/k, so that a poor first guess is forgotten, and fast enough to converge.
const STEP_POWER: f64 = -0.75;

impl Approximation {
    pub fn new(first_guess: f64) -> Self {
        Approximation { rate: first_guess, visits: 0.0 }
    }

    pub fn hear(&mut self, changed: bool, visit_rate: f64) {
        self.visits += 1.0;
        self.rate += step(self.visits) * drift(changed, self.rate, visit_rate);
    }

    pub fn rate(&self) -> f64 {
        self.rate
    }
}

/// The same step with momentum: x ← x + η_k·(I·(x + p) − x) + ζ_k·(x − x before).
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct HeavyBall {
    rate: f64,
    before: f64,
    visits: f64,
}

/// ζ: the share of the last step that is repeated.
const MOMENTUM: f64 = 0.3;

impl HeavyBall {
    pub fn new(first_guess: f64) -> Self {
        HeavyBall { rate: first_guess, before: first_guess, visits: 0.0 }
    }

    pub fn hear(&mut self, changed: bool, visit_rate: f64) {
        self.visits += 1.0;
        let pull = step(self.visits) * drift(changed, self.rate, visit_rate);
        let next = self.rate + pull + MOMENTUM * (self.rate - self.before);
        self.before = self.rate;
        self.rate = next.max(0.0);
    }

    pub fn rate(&self) -> f64 {
        self.rate
    }
}

fn step(visit: f64) -> f64 {
    (visit + 1.0).powf(STEP_POWER)
}

fn drift(changed: bool, rate: f64, visit_rate: f64) -> f64 {
    if changed { visit_rate } else { -rate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vernal_model::Chance;

    #[test]
    fn three_changes_in_ten_visits_at_rate_two() {
        let mut page = LargeNumbers::default();
        for visit in 0..10 {
            page.hear(visit < 3);
        }
        assert_eq!(page.rate(2.0), 2.0 * 3.0 / 8.0);
    }

    #[test]
    fn all_three_come_to_the_truth() {
        let (truth, visit_rate) = (0.4, 1.5);
        let mut chance = Chance::new(3);
        let (mut numbers, mut approximation, mut ball) =
            (LargeNumbers::default(), Approximation::new(5.0), HeavyBall::new(5.0));
        for _ in 0..200_000 {
            let changed = chance.happens(truth / (truth + visit_rate));
            numbers.hear(changed);
            approximation.hear(changed, visit_rate);
            ball.hear(changed, visit_rate);
        }
        for rate in [numbers.rate(visit_rate), approximation.rate(), ball.rate()] {
            assert!((rate - truth).abs() < 0.02, "{rate}");
        }
    }
}
