//! How long a copy has been stale.

use vernal_model::{Moment, Span};

/// The age of one page: nothing while it is up to date, else the time since its first change that we have not seen.
pub fn age(stale_since: Option<Moment>, now: Moment) -> Span {
    stale_since.map_or(Span::ZERO, |since| now.since(since))
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
    fn age_runs_from_the_first_unseen_change() {
        let now = Moment::from_secs(100);
        assert_eq!(age(None, now), Span::ZERO);
        assert_eq!(age(Some(Moment::from_secs(40)), now), Span::from_secs(60));
        assert_eq!(mean_age([Span::ZERO, Span::from_secs(60)].into_iter()), Span::from_secs(30));
        assert_eq!(mean_age(std::iter::empty()), Span::ZERO);
    }
}
