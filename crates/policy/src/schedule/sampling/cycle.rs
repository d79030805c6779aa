//! One round of sampling and downloading: a week, as in the papers, or less where the budget pays for more than most of
//! the pages in a week, since a page is visited once in a cycle.
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
    pub fn of(view: &dyn View, now: Moment) -> Self {
        let per_day = view.per_day() / view.held().max(1) as f64;
        let per_day = if per_day.is_finite() { per_day.max(0.0) } else { 0.0 };
        let least = view.refresh_min().max(LENGTH_MIN);
        let mut length = WEEK;
        for _ in 0..DOUBLINGS_MAX {
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
