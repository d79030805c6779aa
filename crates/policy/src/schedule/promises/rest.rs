//! What promises leave to the policy inside.

use vernal_model::{PageKey, Span};

use crate::View;

/// A view with fewer visits left.
pub(super) struct Rest<'a> {
    pub view: &'a dyn View,
    pub visits_left: usize,
}

impl View for Rest<'_> {
    fn visits_left(&self) -> usize {
        self.visits_left
    }
    fn has_room(&self, page: PageKey) -> bool {
        self.view.has_room(page)
    }
    fn refresh_min(&self) -> Span {
        self.view.refresh_min()
    }
    fn held(&self) -> u64 {
        self.view.held()
    }
    fn per_day(&self) -> f64 {
        self.view.per_day()
    }
    fn mean_rate(&self) -> Option<f64> {
        self.view.mean_rate()
    }
    fn counts_bytes(&self) -> bool {
        self.view.counts_bytes()
    }
    fn may_abandon(&self) -> bool {
        self.view.may_abandon()
    }
}
