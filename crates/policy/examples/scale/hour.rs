//! A view of an hour with room everywhere: what `scale` and the reference of the ladder show to policies.

use vernal_model::{PageKey, Span};

use super::View;

pub struct Hour {
    pub visits_left: usize,
    pub held: u64,
}

impl View for Hour {
    fn visits_left(&self) -> usize {
        self.visits_left
    }
    fn has_room(&self, _: PageKey) -> bool {
        true
    }
    fn refresh_min(&self) -> Span {
        Span::ZERO
    }
    fn held(&self) -> u64 {
        self.held
    }
    fn per_day(&self) -> f64 {
        self.visits_left as f64 * 24.0
    }
}
