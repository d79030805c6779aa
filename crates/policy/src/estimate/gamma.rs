//! The belief about one page's change rate: a Gamma distribution, kept by assumed density filtering.
//!
//! A visit after an unchanged time `o` multiplies the density of the rate by e^(−rate·o), which stays a Gamma. A visit
//! that found a change multiplies it by 1 − e^(−rate·o), which does not: it is replaced by the Gamma with the same mean
//! and variance. All times are in days.

/// Below this expected number of changes the moments cancel in floating point; their limit is exact enough.
const CHANGES_TINY: f64 = 1e-6;

/// A belief about a change rate: shape `a`, scale 1/`b`, mean `a / b` changes per day.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Gamma {
    pub a: f64,
    pub b: f64,
}

impl Gamma {
    /// The belief before any visit, from the mean rate of similar pages.
    pub fn prior(mean: f64) -> Self {
        Gamma { a: 1.0, b: 1.0 / mean }
    }

    pub fn mean(self) -> f64 {
        self.a / self.b
    }

    /// The probability that nothing changed in a time `o`.
    pub fn survival(self, o: f64) -> f64 {
        (-self.a * (o / self.b).ln_1p()).exp()
    }

    /// The expected part of a time `o` during which nothing had changed yet: ∫ survival.
    pub fn fresh_time(self, o: f64) -> f64 {
        let log = (o / self.b).ln_1p();
        let power = self.a - 1.0;
        if power.abs() < 1e-9 { self.b * log } else { -self.b * (-power * log).exp_m1() / power }
    }

    /// The belief after a time `o` without a change.
    pub fn seen_unchanged(self, o: f64) -> Self {
        Gamma { a: self.a, b: self.b + o }
    }

    /// The belief after a change that is known to be the last one, a time `o` ago. Seen backwards it is the first one met, so
    /// that the density is multiplied by rate·e^(−rate·o), whatever happened before (Cho and Garcia-Molina 2003, section 5).
    pub fn seen_last_change(self, o: f64) -> Self {
        Gamma { a: self.a + 1.0, b: self.b + o }
    }

    /// The belief after a time `o` with at least one change.
    pub fn seen_changed(self, o: f64) -> Self {
        let Gamma { a, b } = self;
        if a * o / b < CHANGES_TINY {
            return Gamma { a: a + 1.0, b: b + o / 2.0 };
        }
        let log = (o / b).ln_1p();
        let changed = |power: f64| -(-power * log).exp_m1();
        let mean = a / b * changed(a + 1.0) / changed(a);
        let square = a * (a + 1.0) / (b * b) * changed(a + 2.0) / changed(a);
        let variance = square - mean * mean;
        if variance <= 0.0 || !variance.is_finite() {
            return Gamma { a: a + 1.0, b: b + o / 2.0 };
        }
        Gamma { a: mean * mean / variance, b: mean / variance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(value: f64, expected: f64, within: f64) {
        assert!((value - expected).abs() < within, "{value} is not {expected}");
    }

    #[test]
    fn beliefs_by_last_changes_agree_with_the_estimator_by_last_modified() {
        // A prior that weighs nothing: then the mean is N/T.
        let (mut belief, mut counted) = (Gamma { a: 1e-9, b: 1e-9 }, super::super::LastModified::default());
        for (days, ago) in [(4.0, None), (4.0, Some(1.0)), (2.0, Some(0.5)), (7.0, None)] {
            belief = ago.map_or_else(|| belief.seen_unchanged(days), |ago| belief.seen_last_change(ago));
            counted.hear(days, ago);
        }
        close(belief.mean(), counted.rate().unwrap(), 1e-6);
    }

    #[test]
    fn a_change_moves_the_belief_to_the_exact_moments() {
        let seen = Gamma { a: 1.0, b: 20.0 }.seen_changed(10.0);
        close(seen.a, 1.923077, 1e-6);
        close(seen.b, 23.076923, 1e-6);
        let seen = Gamma { a: 2.0, b: 4.0 }.seen_changed(1.0);
        close(seen.a, 2.952003, 1e-6);
        close(seen.b, 4.355415, 1e-6);
    }

    #[test]
    fn the_limit_for_short_times_meets_the_moments() {
        let belief = Gamma { a: 1.5, b: 30.0 };
        let (below, above) = (belief.seen_changed(1.9e-5), belief.seen_changed(2.1e-5));
        close(below.a, above.a, 1e-3);
        close(below.b, above.b, 1e-2);
    }

    proptest! {
        #[test]
        fn a_change_raises_the_mean_and_no_change_lowers_it(a in 0.2f64..50.0, b in 0.1f64..2000.0, o in 1e-4f64..400.0) {
            let belief = Gamma { a, b };
            prop_assert!(belief.seen_changed(o).mean() >= belief.mean() * (1.0 - 1e-6));
            prop_assert!(belief.seen_unchanged(o).mean() < belief.mean());
            let changed = belief.seen_changed(o);
            prop_assert!(changed.a.is_finite() && changed.b > 0.0);
        }

        #[test]
        fn fresh_time_is_the_integral_of_survival(a in 0.2f64..8.0, b in 0.5f64..200.0, o in 0.01f64..100.0) {
            let belief = Gamma { a, b };
            let steps = 4_000;
            let width = o / f64::from(steps);
            let sum: f64 = (0..steps).map(|step| belief.survival((f64::from(step) + 0.5) * width) * width).sum();
            prop_assert!((sum - belief.fresh_time(o)).abs() < 1e-4 * o);
        }
    }
}
