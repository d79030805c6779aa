//! The words that every `why` shares.

use vernal_model::{Moment, Span};

pub(super) type Words = Vec<(String, String)>;

pub(super) fn word(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

pub(super) fn last_visit(last_visit: Moment, now: Moment) -> (String, String) {
    word("last visit", format!("{last_visit}, {} ago", now.since(last_visit)))
}

/// The mean Span between two visits to a page that the budget pays for; `None` if it pays for none.
pub(super) fn mean_wait(held: u64, per_day: f64) -> Option<Span> {
    let days = held as f64 / per_day;
    (per_day > 0.0 && days.is_finite() && held > 0).then(|| Span::from_secs_f64(days * 86_400.0))
}

/// A number that is a page's own in each round: chance without a memory, the same after a restart.
pub(super) fn lot(page: vernal_model::PageKey, round: u64) -> u64 {
    let number = u64::from(page.partition.0) << 32 | u64::from(page.number);
    vernal_model::Chance::new(round).numbered(number).bits()
}
