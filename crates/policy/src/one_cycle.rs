//! One weekly cycle of the founding papers' experiments, as a policy sees it: a number of pages, a number of downloads,
//! one visit at a time, and every site always has room. The laboratory's re-enactments and the paper tests share it.

use vernal_model::{PageKey, Span};

use crate::View;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OneCycle {
    pub pages: usize,
    pub downloads: usize,
}

impl View for OneCycle {
    fn visits_left(&self) -> usize {
        1
    }

    fn has_room(&self, _: PageKey) -> bool {
        true
    }

    fn refresh_min(&self) -> Span {
        Span::from_hours(1)
    }

    fn held(&self) -> u64 {
        self.pages as u64
    }

    fn per_day(&self) -> f64 {
        self.downloads as f64 / 7.0
    }
}
