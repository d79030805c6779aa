//! Evidence decays: an observation one half-life ago counts half.

use vernal_model::Span;

/// The share of evidence that is left after a Span: 2^(−τ/H).
pub fn kept_after(elapsed: Span, half_life: Span) -> f64 {
    if half_life == Span::ZERO { 0.0 } else { (-elapsed.secs_f64() / half_life.secs_f64()).exp2() }
}

/// Counts of changes and of observed days that decay with a half-life.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Fading {
    pub changes: f64,
    pub days: f64,
}

impl Fading {
    /// Decays the old counts by the Span since the last visit, then adds this visit in full.
    pub fn hear(&mut self, elapsed: Span, changes: f64, days: f64, half_life: Span) {
        let kept = kept_after(elapsed, half_life);
        self.changes = self.changes * kept + changes;
        self.days = self.days * kept + days;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_life_halves_and_two_of_them_quarter() {
        let half_life = Span::from_days(180);
        assert_eq!(kept_after(Span::ZERO, half_life), 1.0);
        assert!((kept_after(Span::from_days(180), half_life) - 0.5).abs() < 1e-12);
        assert!((kept_after(Span::from_days(360), half_life) - 0.25).abs() < 1e-12);
        assert_eq!(kept_after(Span::from_days(1), Span::ZERO), 0.0);
    }

    #[test]
    fn fading_in_two_steps_is_fading_in_one() {
        let half_life = Span::from_days(10);
        let mut twice = Fading { changes: 8.0, days: 40.0 };
        twice.hear(Span::from_days(3), 0.0, 0.0, half_life);
        twice.hear(Span::from_days(7), 1.0, 2.0, half_life);
        assert!((twice.changes - 5.0).abs() < 1e-9 && (twice.days - 22.0).abs() < 1e-9, "{twice:?}");
    }
}
