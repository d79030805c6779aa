//! How long a copy has been stale.

use vernal_model::{Moment, Span};

/// The age of one page: nothing while it is up to date, else the time since its first change that we have not seen.
pub fn age(stale_since: Option<Moment>, now: Moment) -> Span {
    stale_since.map_or(Span::ZERO, |since| now.since(since))
}

/// The expected age of a page that is up to date with this probability and was visited so long ago, if it changes at one
/// rate: with x = −ln P, t·(1 − (1 − P)/x), for the first change since the visit lies at u with the density λ·e^(−λu).
pub fn expected_age(fresh: f64, waited: f64) -> f64 {
    let fresh = fresh.clamp(f64::MIN_POSITIVE, 1.0);
    let expected_changes = -fresh.ln();
    if expected_changes < 1e-9 {
        return 0.0;
    }
    waited.max(0.0) * (1.0 - (1.0 - fresh) / expected_changes)
}

/// The mean over pages; nothing for no pages.
pub fn mean_age(ages: impl Iterator<Item = Span>) -> Span {
    let (mut secs, mut pages) = (0.0, 0u64);
    for age in ages {
        secs += age.secs_f64();
        pages += 1;
    }
    if pages == 0 { Span::ZERO } else { Span::from_secs_f64(secs / pages as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_age_is_the_integral_over_the_first_change() {
        for (rate, waited) in [(0.1f64, 5.0f64), (2.0, 3.0), (0.001, 400.0)] {
            let (steps, mut age) = (200_000, 0.0);
            for step in 0..steps {
                let first = (f64::from(step) + 0.5) / f64::from(steps) * waited;
                age += rate * (-rate * first).exp() * (waited - first) * waited / f64::from(steps);
            }
            let expected = expected_age((-rate * waited).exp(), waited);
            assert!((expected - age).abs() < 1e-6 * waited, "{expected} {age}");
        }
        assert_eq!((expected_age(1.0, 7.0), expected_age(0.0, 7.0) > 6.9), (0.0, true));
    }

    #[test]
    fn age_runs_from_the_first_unseen_change() {
        let now = Moment::from_secs(100);
        assert_eq!(age(None, now), Span::ZERO);
        assert_eq!(age(Some(Moment::from_secs(40)), now), Span::from_secs(60));
        assert_eq!(mean_age([Span::ZERO, Span::from_secs(60)].into_iter()), Span::from_secs(30));
        assert_eq!(mean_age(std::iter::empty()), Span::ZERO);
    }
}
