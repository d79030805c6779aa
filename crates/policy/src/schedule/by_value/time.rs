//! Moments as the numbers that this policy keeps: whole seconds for the last visit of a page, and days with a fraction.

use vernal_model::{Moment, Span};

/// Whole seconds since 1970, rounded up, so that no page seems to have cooled down longer than it has.
pub fn seconds(moment: Moment) -> u32 {
    let micros = moment.micros().max(0);
    u32::try_from((micros + 999_999) / 1_000_000).unwrap_or(u32::MAX)
}

/// Days since 1970.
pub fn days(moment: Moment) -> f64 {
    moment.micros() as f64 / 86_400e6
}

/// When a page that was last visited in this second may be visited again. Seconds are rounded up, so that no wait is cut
/// short. Waits below a second occur in tests and demonstrations only, and are not prolonged to a second either.
pub fn cooled_down_at(last: u32, refresh_min: Span) -> Moment {
    let rounded = i64::from(refresh_min < Span::from_secs(1));
    Moment::from_secs(i64::from(last) - rounded) + refresh_min
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nobody_cools_down_too_early_and_nobody_a_second_too_late(
            micros in 0i64..4_000_000_000_000_000,
            refresh_min in 0u64..10_000_000,
        ) {
            let (visited, refresh_min) = (Moment::from_micros(micros), Span::from_micros(refresh_min));
            let free = cooled_down_at(seconds(visited), refresh_min);
            if refresh_min >= Span::from_secs(1) {
                prop_assert!(free >= visited + refresh_min);
            }
            prop_assert!(free < visited + refresh_min + Span::from_secs(1));
        }
    }

    #[test]
    fn a_moment_before_1970_counts_as_its_first_second() {
        assert_eq!(seconds(Moment::from_secs(-5)), 0);
        assert_eq!(days(Moment::from_secs(43_200)), 0.5);
    }
}
