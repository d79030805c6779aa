//! A view with fixed answers and room everywhere, for tests, examples and measurements.

use vernal_model::{PageKey, Span};

use crate::View;

#[derive(Copy, Clone, Debug)]
pub struct TestView {
    pub visits_left: usize,
    pub held: u64,
    pub per_day: f64,
    pub refresh_min: Span,
    pub mean_rate: Option<f64>,
    pub counts_bytes: bool,
    pub may_abandon: bool,
}

impl TestView {
    /// So many pages are held, and so many visits are left in this hour, as in every other one.
    pub fn of(held: u64, visits_left: usize) -> Self {
        TestView {
            visits_left,
            held,
            per_day: visits_left as f64 * 24.0,
            refresh_min: Span::ZERO,
            mean_rate: None,
            counts_bytes: false,
            may_abandon: false,
        }
    }
}

impl View for TestView {
    fn visits_left(&self) -> usize {
        self.visits_left
    }

    fn has_room(&self, _: PageKey) -> bool {
        true
    }

    fn refresh_min(&self) -> Span {
        self.refresh_min
    }

    fn held(&self) -> u64 {
        self.held
    }

    fn per_day(&self) -> f64 {
        self.per_day
    }

    fn mean_rate(&self) -> Option<f64> {
        self.mean_rate
    }

    fn counts_bytes(&self) -> bool {
        self.counts_bytes
    }

    fn may_abandon(&self) -> bool {
        self.may_abandon
    }
}
