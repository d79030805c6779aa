//! What was foretold of visits against what they found, so that the freshness that is believed is held against real time.
//!
//! While rates are still believed too low, the operational time of a site's past visits runs fast and the time to come does
//! not: a page just visited then looks safer than it is. No choice depends on this; it corrects what people are told.

/// So many visits are remembered, older ones with less weight.
const VISITS_KEPT: f64 = 2_000.0;
/// So many changes were foretold and found before the first visit.
const CHANGES_FIRST: f64 = 1.0;
/// No belief is corrected by more than this factor.
const FACTOR_MAX: f64 = 100.0;

#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    foretold: f64,
    found: f64,
}

impl Calibration {
    /// Hears of a visit that was to find a change with this probability.
    pub fn hear(&mut self, probability: f64, changed: bool) {
        let kept = 1.0 - 1.0 / VISITS_KEPT;
        self.foretold = kept * self.foretold + probability;
        self.found = kept * self.found + f64::from(u8::from(changed));
    }

    /// What is remembered: changes foretold, and changes found.
    pub fn parts(&self) -> [f64; 2] {
        [self.foretold, self.found]
    }

    /// `None` if these are not such parts.
    pub fn of([foretold, found]: [f64; 2]) -> Option<Self> {
        let sound = |part: f64| part.is_finite() && part >= 0.0;
        (sound(foretold) && sound(found)).then_some(Calibration { foretold, found })
    }

    /// How many changes were found for each that was foretold.
    fn factor(&self) -> f64 {
        let factor = (CHANGES_FIRST + self.found) / (CHANGES_FIRST + self.foretold);
        factor.clamp(1.0 / FACTOR_MAX, FACTOR_MAX)
    }

    /// The probability that nothing changed, as it turned out for those that were believed to be so fresh.
    pub fn corrected(&self, survival: f64) -> f64 {
        survival.powf(self.factor())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beliefs_are_left_alone_while_visits_find_what_was_foretold() {
        let mut calibration = Calibration::default();
        assert_eq!(calibration.corrected(0.9), 0.9);
        for visit in 0..10_000 {
            calibration.hear(0.25, visit % 4 == 0);
        }
        assert!((calibration.corrected(0.75) - 0.75).abs() < 0.005);
    }

    #[test]
    fn who_finds_twice_what_was_foretold_believes_half_as_much() {
        let mut calibration = Calibration::default();
        for visit in 0..10_000 {
            calibration.hear(0.05, visit % 10 == 0);
        }
        assert!((calibration.corrected(0.95) - 0.90).abs() < 0.01, "{}", calibration.corrected(0.95));
    }

    #[test]
    fn no_correction_leaves_the_bounds_of_a_probability() {
        for (probability, changed) in [(1.0, false), (0.0, true)] {
            let mut calibration = Calibration::default();
            (0..100_000).for_each(|_| calibration.hear(probability, changed));
            for survival in [0.0, 1e-9, 0.5, 1.0] {
                assert!((0.0..=1.0).contains(&calibration.corrected(survival)));
            }
        }
    }
}
