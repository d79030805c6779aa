//! What one page is promised.

use vernal_model::{Moment, Span};

use crate::Held;

#[derive(Copy, Clone, Debug)]
pub(super) struct Promise {
    pub at_least_every: Option<Span>,
    pub at_most_every: Option<Span>,
    pub site: u32,
    pub last_visit: Moment,
    /// On its way, whoever sent it.
    pub is_in_flight: bool,
    /// The policy inside thinks that it sent it.
    pub is_in_flight_inside: bool,
}

impl Promise {
    /// What is promised of this page, which may be nothing.
    pub fn of(held: &Held<'_>) -> Self {
        Promise {
            // Where the two contradict each other, the page is spared.
            at_least_every: held.at_least_every.map(|span| span.max(held.at_most_every.unwrap_or_default())),
            at_most_every: held.at_most_every,
            site: held.site,
            last_visit: held.last_visit,
            is_in_flight: false,
            is_in_flight_inside: false,
        }
    }

    pub fn says_something(&self) -> bool {
        self.at_least_every.is_some() || self.at_most_every.is_some()
    }

    pub fn due(&self) -> Option<Moment> {
        self.at_least_every.map(|every| self.last_visit + every)
    }

    pub fn allowed_from(&self) -> Moment {
        self.at_most_every.map_or(Moment::from_micros(i64::MIN), |every| self.last_visit + every)
    }
}
