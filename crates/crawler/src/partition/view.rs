//! What a policy can see: a few numbers, and whether a page's site has room. Never a list of all pages.

use vernal_model::{Moment, PageKey, SiteState, Span};
use vernal_policy::View;

use super::SiteBook;

/// The plain numbers of a View.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Facts {
    pub visits_left: usize,
    pub refresh_min: Span,
    pub held: u64,
    pub per_day: f64,
    pub mean_rate: f64,
    pub counts_bytes: bool,
    pub may_abandon: bool,
    /// Choose among all due pages, whether or not their sites are free now.
    pub any_site: bool,
}

/// All that a policy can see.
pub(crate) struct RefreshView<'a> {
    pub facts: Facts,
    pub sites: &'a SiteBook,
    pub now: Moment,
}

impl View for RefreshView<'_> {
    fn visits_left(&self) -> usize {
        self.facts.visits_left
    }

    fn has_room(&self, page: PageKey) -> bool {
        self.sites.life_of(page).is_some_and(|life| match life.profile.standing {
            SiteState::Active => self.facts.any_site || self.sites.politeness.may_ask(&life.site, self.now),
            SiteState::Paused | SiteState::Blocked => false,
        })
    }

    fn refresh_min(&self) -> Span {
        self.facts.refresh_min
    }

    fn held(&self) -> u64 {
        self.facts.held
    }

    fn per_day(&self) -> f64 {
        self.facts.per_day
    }

    fn mean_rate(&self) -> Option<f64> {
        Some(self.facts.mean_rate)
    }

    fn counts_bytes(&self) -> bool {
        self.facts.counts_bytes
    }

    fn may_abandon(&self) -> bool {
        self.facts.may_abandon
    }
}
