//! What a visit is worth: the index of Olston and Pandey, U(o) = o·D(o) − ∫D, for each objective.
//!
//! D is the expected loss a time `o` after a visit. At a given price the best rule is to visit when the value reaches
//! it. The value of a believed rate is the mean over the belief, so that a page which may be slow is worth a look.

use std::str::FromStr;

use crate::estimate::Gamma;

/// Freshness alone never comes back to a page that changes faster than it can be kept; this much of the harmonic
/// objective is added so that it does. Measured: freshness is not hurt, age falls by an eighth.
pub const HARMONIC_SHARE: f64 = 0.05;
/// No page is worth waiting for longer than this many days.
const WAIT_DAYS_MAX: f64 = 1e6;
/// As near below a price as this share its time is sought: who comes too early looks again, who comes too late has missed it.
const BELOW: f64 = 1e-5;
/// A search that has come so near takes one more step and is done: what that step leaves is of the order of its cube.
const NEAR: f64 = 0.04;
/// The longest step, as a logarithm.
const STEP_MAX: f64 = 8.0;
/// So near a value, as a logarithm, one step does without a second look, if it is sought this much below the price.
const CLOSE: f64 = 0.198;
const BELOW_UNSEEN: f64 = 3e-4;
/// A search begins anew, and not at the value of the present, where that is this much smaller than the price.
const FAR: f64 = 0.05;
/// Beyond this many steps the bracket is taken as it is; a few are enough.
const STEPS_MAX: usize = 60;
/// Below these the closed forms cancel, and the slower ones are taken.
const SHAPE_FROM_ONE_MIN: f64 = 0.02;
const CHANGES_MIN: f64 = 1e-3;

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The share of the copy that is up to date.
    #[default]
    Freshness,
    /// How long pages have been stale.
    Age,
    /// Harmonic freshness (Kolobov): each change missed in a row counts less than the one before.
    Harmonic,
    /// Changed visits over all visits.
    ChangeRatio,
}

/// What is known of a page's change rate.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Rate {
    Known(f64),
    Believed(Gamma),
}

impl Rate {
    pub fn mean(self) -> f64 {
        match self {
            Rate::Known(rate) => rate,
            Rate::Believed(belief) => belief.mean(),
        }
    }

    /// The probability that nothing changed in a time `o`.
    pub fn survival(self, o: f64) -> f64 {
        match self {
            Rate::Known(rate) => (-rate * o).exp(),
            Rate::Believed(belief) => belief.survival(o),
        }
    }

    /// ∫ survival.
    fn fresh_time(self, o: f64) -> f64 {
        match self {
            Rate::Known(rate) if rate * o < 1e-9 => o,
            Rate::Known(rate) => -(-rate * o).exp_m1() / rate,
            Rate::Believed(belief) => belief.fresh_time(o),
        }
    }

    /// ∫∫ survival.
    fn fresh_time_summed(self, o: f64) -> f64 {
        match self {
            Rate::Known(rate) if rate * o < 1e-4 => o * o / 2.0,
            Rate::Known(rate) => (o - self.fresh_time(o)) / rate,
            Rate::Believed(Gamma { a, b }) if (a - 1.0).abs() < 1e-6 => (b + o) * (o / b).ln_1p() * b - b * o,
            Rate::Believed(Gamma { a, b }) => {
                let log = (o / b).ln_1p();
                let power = 2.0 - a;
                let grown = if power.abs() < 1e-9 { b * log } else { b * (power * log).exp_m1() / power };
                b / (a - 1.0) * (o - grown)
            }
        }
    }

    /// All of it at one time; together they need the logarithm once.
    fn losses(self, o: f64) -> Losses {
        match self {
            Rate::Known(rate) if rate * o > CHANGES_MIN => {
                let survival = (-rate * o).exp();
                Losses { fresh: (1.0 - survival) / rate, survival, loss: rate * survival, falling: rate }
            }
            Rate::Believed(Gamma { a, b }) if o > CHANGES_MIN * b => {
                let (end, power) = (b + o, a - 1.0);
                let log = (end / b).ln();
                let survival = (-a * log).exp();
                let fresh = match power.abs() > SHAPE_FROM_ONE_MIN {
                    true => (b - end * survival) / power,
                    false => b * log * mean_of_falling(power * log),
                };
                let share = 1.0 / end;
                Losses { fresh, survival, loss: a * share * survival, falling: (a + 1.0) * share }
            }
            _ => {
                let survival = self.survival(o);
                let (loss, falling) = match self {
                    Rate::Known(rate) => (rate * survival, rate),
                    Rate::Believed(Gamma { a, b }) => (a / (b + o) * survival, (a + 1.0) / (b + o)),
                };
                Losses { fresh: self.fresh_time(o), survival, loss, falling }
            }
        }
    }

    /// How fast `rate_if_unchanged` falls, as a share of it.
    fn rate_falls(self, o: f64) -> f64 {
        match self {
            Rate::Known(_) => 0.0,
            Rate::Believed(Gamma { b, .. }) => 1.0 / (b + o),
        }
    }

    /// What the rate is thought to be after a time `o` without a change, seen from the second change on.
    fn rate_if_unchanged(self, o: f64) -> f64 {
        match self {
            Rate::Known(rate) => rate,
            Rate::Believed(Gamma { a, b }) => (a + 1.0) / (b + o),
        }
    }
}

/// (1 − e^(−y)) / y for a small y.
fn mean_of_falling(y: f64) -> f64 {
    let term = |under: f64, next: f64| 1.0 - y / under * next;
    term(2.0, term(3.0, term(4.0, term(5.0, term(6.0, term(7.0, term(8.0, 1.0)))))))
}

/// What became of a page by a time `o` after its visit.
struct Losses {
    /// ∫ survival.
    fresh: f64,
    survival: f64,
    /// How fast the survival falls.
    loss: f64,
    /// How fast that rate falls itself, as a share of it.
    falling: f64,
}

impl Objective {
    pub const ALL: [Objective; 4] = [Objective::Freshness, Objective::Age, Objective::Harmonic, Objective::ChangeRatio];

    pub fn name(self) -> &'static str {
        match self {
            Objective::Freshness => "freshness",
            Objective::Age => "age",
            Objective::Harmonic => "harmonic",
            Objective::ChangeRatio => "change-ratio",
        }
    }

    /// The value of a visit a time `o` after the last one; `harmonic_share` is added to freshness only.
    pub fn value(self, rate: Rate, o: f64, harmonic_share: f64) -> f64 {
        self.curve(rate, o, harmonic_share).value
    }

    /// The value and how it grows with the time: U' = o·D', and for age ∫D'.
    pub(crate) fn curve(self, rate: Rate, o: f64, harmonic_share: f64) -> Curve {
        let Losses { fresh, survival, loss: lost, falling } = rate.losses(o);
        let (value, growth, bend) = match self {
            Objective::Freshness => (
                fresh - o * survival + harmonic_share * (o - fresh),
                o * lost + harmonic_share * (1.0 - survival),
                lost * (1.0 - o * falling + harmonic_share),
            ),
            Objective::Harmonic => (o - fresh, 1.0 - survival, lost),
            Objective::Age => {
                (o * o / 2.0 - o * fresh + rate.fresh_time_summed(o), o * (1.0 - survival), 1.0 - survival + o * lost)
            }
            Objective::ChangeRatio => {
                let growth = o * lost * rate.rate_if_unchanged(o);
                let falls = falling + rate.rate_falls(o);
                (1.0 - survival - o * lost, growth, if o > 0.0 { growth * (1.0 / o - falls) } else { 0.0 })
            }
        };
        Curve { value: value.max(0.0), growth: growth.max(0.0), bend }
    }

    /// What the value never exceeds, where a closed form says so.
    fn value_sup(self, rate: Rate, harmonic_share: f64) -> f64 {
        match (self, rate) {
            (Objective::Freshness, Rate::Known(rate)) if harmonic_share == 0.0 => 1.0 / rate,
            (Objective::ChangeRatio, _) => 1.0,
            _ => f64::INFINITY,
        }
    }

    /// The time after `from` at which the value reaches `price`, or a little before; endless if it never does.
    pub fn time_of(self, rate: Rate, price: f64, from: f64, harmonic_share: f64) -> f64 {
        let now = self.curve(rate, from, harmonic_share);
        self.time_after(rate, price, from, now, harmonic_share)
    }

    /// The same for those who know the curve at `from`.
    pub(crate) fn time_after(self, rate: Rate, price: f64, from: f64, now: Curve, harmonic_share: f64) -> f64 {
        if now.value >= price {
            return from;
        }
        if price >= self.value_sup(rate, harmonic_share) {
            return f64::INFINITY;
        }
        let aim = price * (1.0 - BELOW);
        let (mut low, mut high) = (from, f64::INFINITY);
        if now.value > price * FAR
            && let Some(time) = now.near(from, (price / now.value).ln())
        {
            // A price that is as good as reached may be sought a little before.
            return time.max(from);
        }
        let mut o = match now.value > price * FAR {
            true => now.step(from, (aim / now.value).ln()),
            false => self.first_guess(rate, aim, harmonic_share),
        };
        for _ in 0..STEPS_MAX {
            if !(o > low && o < high) {
                o = if high.is_finite() { (low + high) / 2.0 } else { (low * 1.5).max(1e-9) };
            }
            o = o.min(WAIT_DAYS_MAX);
            let curve = self.curve(rate, o, harmonic_share);
            match curve.value < price {
                true if o >= WAIT_DAYS_MAX => return f64::INFINITY,
                true => low = o,
                false => high = o,
            }
            if high.is_finite() && high - low <= 1e-6 * high {
                return low;
            }
            let next = curve.step(o, (aim / curve.value).ln());
            if (curve.value / price - 1.0).abs() < NEAR && (next / o - 1.0).abs() < NEAR {
                return next.clamp(low, high);
            }
            o = next;
        }
        if high.is_finite() { low } else { f64::INFINITY }
    }

    /// The time of a value, for those who begin at none: U ≈ A·o² / (1 + B·o) has the first two terms of freshness.
    fn first_guess(self, rate: Rate, value: f64, harmonic_share: f64) -> f64 {
        let (mean, second) = match rate {
            Rate::Believed(Gamma { a, b }) => (a / b, (a + 1.0) / b),
            Rate::Known(rate) => (rate, rate),
        };
        let (square, linear) = (mean * (1.0 + harmonic_share) / 2.0, second * 2.0 / 3.0 * value);
        (linear + (linear * linear + 4.0 * square * value).sqrt()) / (2.0 * square)
    }
}

/// A value at one time, how fast it grows there, and how fast that changes.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Curve {
    pub value: f64,
    pub growth: f64,
    pub bend: f64,
}

impl Curve {
    pub fn times(self, weight: f64) -> Self {
        Curve { value: self.value * weight, growth: self.growth * weight, bend: self.bend * weight }
    }

    /// The power of the time with which the value grows at `o`.
    fn power(self, o: f64) -> f64 {
        o * self.growth / self.value
    }

    /// The time of a value that lies `away` above this one, in logarithm, or a little before it; `None` if that is too far
    /// for one step.
    pub fn near(self, o: f64, away: f64) -> Option<f64> {
        (away < CLOSE && self.power(o) > 1.0).then(|| self.step(o, away - BELOW_UNSEEN))
    }

    /// One step towards the time of a value that lies `away` above this one, in logarithm. Values grow like a power of the
    /// time that changes slowly: in logarithms this is the root of a parabola, or Newton's step where that has none. Not a
    /// number where nothing grows.
    fn step(self, o: f64, away: f64) -> f64 {
        let Curve { value, growth, bend } = self;
        if !(value > 0.0 && growth > 0.0) {
            return f64::NAN;
        }
        let power = self.power(o);
        let turning = power * (1.0 + o * bend / growth - power);
        let square = power * power + 2.0 * turning * away;
        let step = if square > power * power / 4.0 { 2.0 * away / (power + square.sqrt()) } else { away / power };
        o * step.min(STEP_MAX).exp()
    }
}

impl FromStr for Objective {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Objective::ALL.into_iter().find(|objective| objective.name() == text).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
    }

    #[test]
    fn the_values_are_those_of_the_vectors() {
        let known = |rate, o| Objective::Freshness.value(Rate::Known(rate), o, 0.0);
        close(known(1.0, 1.0), 0.264241);
        close(known(2.0, 1.0), 0.296997);
        assert!((known(0.1, 10.0) - 2.64241).abs() < 1e-5);
        let believed = |a| Objective::Freshness.value(Rate::Believed(Gamma { a, b: 20.0 }), 10.0, 0.0);
        close(believed(1.0), 1.442635);
        close(believed(2.0), 2.222222);
        close(believed(0.5), 0.824829);
    }

    #[test]
    fn every_name_is_read_back() {
        for objective in Objective::ALL {
            assert_eq!(objective.name().parse(), Ok(objective));
        }
        assert_eq!("luck".parse::<Objective>(), Err(()));
    }

    #[test]
    fn a_price_that_is_as_good_as_reached_is_not_reached_in_the_past() {
        let (rate, price, from) = (Rate::Known(10.850_775_458_553_064), 3.904_347_184_815_879, 3.996_154_176_000_952_7);
        for objective in Objective::ALL {
            assert!(objective.time_of(rate, price, from, HARMONIC_SHARE) >= from, "{objective:?}");
        }
    }

    fn rates() -> impl Strategy<Value = Rate> {
        prop_oneof![
            (1e-3f64..20.0).prop_map(Rate::Known),
            (0.3f64..20.0, 0.2f64..500.0).prop_map(|(a, b)| Rate::Believed(Gamma { a, b })),
        ]
    }

    proptest! {
        #[test]
        fn the_value_reaches_the_price_when_it_is_said_to(rate in rates(), price in 1e-4f64..5.0, from in 0.0f64..5.0) {
            for objective in Objective::ALL {
                let time = objective.time_of(rate, price, from, HARMONIC_SHARE);
                prop_assert!(time >= from);
                if time.is_infinite() {
                    prop_assert!(objective.value(rate, 1e5, HARMONIC_SHARE) < price, "{:?}", objective);
                }
                if time.is_finite() && time > from {
                    let value = objective.value(rate, time, HARMONIC_SHARE);
                    prop_assert!((1.0 - 1e-3..1.0 + 1e-4).contains(&(value / price)), "{:?} {} {}", objective, value, price);
                }
            }
        }

        /// U = o·D − ∫D with D' ≥ 0: the longer the wait, the more a visit is worth.
        #[test]
        fn waiting_never_lowers_the_value(rate in rates(), o in 1e-3f64..200.0, more in 1e-3f64..50.0) {
            for objective in Objective::ALL {
                let (now, later) = (objective.value(rate, o, 0.0), objective.value(rate, o + more, 0.0));
                prop_assert!(later >= now - 1e-6 * (1.0 + o * o), "{:?} {} {}", objective, now, later);
            }
        }

        /// The value of a belief is the mean of the values of its rates.
        #[test]
        fn a_sharp_belief_is_worth_what_the_known_rate_is(rate in 0.01f64..2.0, o in 0.1f64..30.0) {
            let sharp = Rate::Believed(Gamma { a: 1e6, b: 1e6 / rate });
            for objective in Objective::ALL {
                let (known, believed) = (objective.value(Rate::Known(rate), o, 0.05), objective.value(sharp, o, 0.05));
                prop_assert!((known - believed).abs() < 1e-3 * (1.0 + o * o), "{:?} {} {}", objective, known, believed);
            }
        }
    }
}
