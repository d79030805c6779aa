//! One round of sampling and downloading: a week, as in the papers, or less where the budget pays for more than most of
//! the pages in a week, since a page is visited once in a cycle.
//!
//! A length that somebody chose is kept, unless no page could be visited again within it.
//!
//! Cycles begin at whole multiples of their length since 1970, so that a restart finds itself in the same one.

use vernal_model::{Moment, Span};

use crate::View;

const WEEK: Span = Span::from_days(7);
/// The largest share of all pages that one cycle may pay for.
const SHARE_MAX: f64 = 0.71;
/// However much the budget pays for, a sample needs time to be answered.
const LENGTH_MIN: Span = Span::from_secs(600);
/// Half of all weeks beyond this are the same to us.
const DOUBLINGS_MAX: u32 = 16;

#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Cycle {
    pub start: Moment,
    pub length: Span,
    pub number: u64,
    /// r: the share of all pages that the budget pays for in one cycle.
    pub share: f64,
}

impl Cycle {
    pub fn of(view: &dyn View, now: Moment, chosen: Option<Span>) -> Self {
        let per_day = view.per_day() / view.held().max(1) as f64;
        let per_day = if per_day.is_finite() { per_day.max(0.0) } else { 0.0 };
        let least = view.refresh_min().max(LENGTH_MIN);
        let mut length = chosen.unwrap_or(WEEK);
        for _ in 0..DOUBLINGS_MAX {
            if chosen.is_some() {
                break;
            }
            let half = Span::from_micros(length.micros() / 2);
            if per_day * length.days_f64() <= SHARE_MAX || half < least {
                break;
            }
            length = half;
        }
        for _ in 0..DOUBLINGS_MAX {
            if length >= view.refresh_min() {
                break;
            }
            length = length + length;
        }
        let number = now.micros().div_euclid(length.micros() as i64);
        let start = Moment::from_micros(number * length.micros() as i64);
        Cycle { start, length, number: number as u64, share: per_day * length.days_f64() }
    }

    pub fn end(&self) -> Moment {
        self.start + self.length
    }

    /// Whether the other is the same round, be the share what it may.
    pub fn is(&self, other: &Cycle) -> bool {
        (self.start, self.length) == (other.start, other.length)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::TestView;

    fn view(held: u64, per_day: f64, refresh_min: u64) -> TestView {
        TestView { per_day, refresh_min: Span::from_secs(refresh_min), ..TestView::of(held, 1) }
    }

    proptest! {
        #[test]
        fn a_moment_lies_in_one_cycle_and_the_next_begins_where_that_ends(
            held in 0u64..100_000, per_day in 0.0f64..1e6, refresh_min in 0u64..40 * 86_400, now in 0i64..4_000_000_000,
        ) {
            let (view, now) = (view(held, per_day, refresh_min), Moment::from_secs(now));
            let cycle = Cycle::of(&view, now, None);
            prop_assert!(cycle.start <= now && now < cycle.end());
            prop_assert!(cycle.length >= view.refresh_min && cycle.length >= LENGTH_MIN.min(WEEK));
            let last = Moment::from_micros(cycle.end().micros() - 1);
            prop_assert!(Cycle::of(&view, cycle.start, None) == cycle && Cycle::of(&view, last, None) == cycle);
            let next = Cycle::of(&view, cycle.end(), None);
            prop_assert_eq!((next.start, next.number), (cycle.end(), cycle.number + 1));
            prop_assert!(!next.is(&cycle));
        }

        #[test]
        fn a_cycle_pays_for_no_more_than_most_pages_unless_it_would_be_too_short(
            held in 1u64..100_000, per_day in 0.0f64..1e6, refresh_min in 0u64..86_400,
        ) {
            let view = view(held, per_day, refresh_min);
            let cycle = Cycle::of(&view, Moment::from_secs(1_700_000_000), None);
            let least = view.refresh_min.max(LENGTH_MIN);
            prop_assert!(cycle.share <= SHARE_MAX || cycle.length < least + least, "{cycle:?}");
            let paid_for = per_day * cycle.length.days_f64() / held as f64;
            prop_assert!((cycle.share - paid_for).abs() <= 1e-9 * paid_for);
        }
    }

    #[test]
    fn a_length_that_was_chosen_is_kept_unless_no_page_may_be_visited_again_within_it() {
        let length = |refresh_min: u64| {
            let chosen = Some(Span::from_hours(36));
            Cycle::of(&view(10, 1e6, refresh_min), Moment::from_secs(1_700_000_000), chosen).length
        };
        assert_eq!((length(60), length(40 * 3_600)), (Span::from_hours(36), Span::from_hours(72)));
    }

    #[test]
    fn a_budget_that_is_no_number_pays_for_nothing() {
        for per_day in [f64::NAN, f64::INFINITY, -3.0] {
            let cycle = Cycle::of(&view(10, per_day, 0), Moment::EPOCH, None);
            assert_eq!((cycle.share, cycle.length), (0.0, WEEK));
        }
    }
}
