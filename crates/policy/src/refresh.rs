//! The trait of all policies: choose pages, learn from visits.

use vernal_model::{Chance, Moment, PageKey, PolicyState, Span};

use crate::schedule::{RefreshTime, RoundRobin};

/// A page that the repository holds, as a policy may see it.
#[derive(Copy, Clone, Debug)]
pub struct Held<'a> {
    pub page: PageKey,
    /// A number of the page's site, the same for all its pages while this process lives.
    pub site: u32,
    pub importance: f32,
    pub admitted: Moment,
    pub last_visit: Moment,
    pub state: &'a PolicyState,
}

/// What one visit found.
#[derive(Copy, Clone, Debug)]
pub struct Seen {
    pub page: PageKey,
    pub moment: Moment,
    /// The visit before, if there was one.
    pub previous: Option<Moment>,
    /// Whether the page differs from the version before; `None` if there was no comparable answer.
    pub changed: Option<bool>,
    /// How much it differs, 0 to 1.
    pub degree: f32,
    pub wire_bytes: u64,
}

/// All that a policy can see of the world when it chooses.
pub trait View {
    /// How many visits may be given out now.
    fn visits_left(&self) -> usize;
    /// Whether the page's site can be asked before the next tick.
    fn has_room(&self, page: PageKey) -> bool;
    /// No page is refreshed within this Span of its last visit.
    fn refresh_min(&self) -> Span;
    /// Pages held.
    fn held(&self) -> u64;
    /// Visits a day that the refresh budget pays for.
    fn per_day(&self) -> f64;
}

/// A rule that chooses which held pages to visit again.
///
/// A page is known from `recall` or `learn` until `forget`. A page that was chosen is out: it is not chosen again until
/// `learn` or `put_back` names it. Same inputs, same choice.
pub trait Refresh: Send {
    fn name(&self) -> &'static str;
    /// Takes up a page that is held: at the start, and when a page was read for the first time, after its `learn`.
    fn recall(&mut self, held: &Held<'_>);
    /// The next pages to visit, the most urgent first; at most `view.visits_left()`.
    fn choose(&mut self, view: &dyn View, now: Moment, chance: &mut Chance) -> Vec<PageKey>;
    /// Hears what a visit found, and gives back what is to be remembered of the page.
    fn learn(&mut self, seen: &Seen) -> PolicyState;
    /// A chosen page could not be visited now.
    fn put_back(&mut self, page: PageKey);
    /// The page is no longer held.
    fn forget(&mut self, page: PageKey);
    /// When `choose` may next have an answer; `None` if nothing is known that will ever be due. Pages that are due and
    /// only wait for their site do not count: the crawler knows when their site gets free.
    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment>;
    /// Why the page is visited when it is, as names and values in words and numbers; empty if the page is not known.
    fn why(&self, page: PageKey, now: Moment) -> Vec<(String, String)>;
}

/// Every policy there is, by the name that the configuration gives it.
pub const NAMES: &[&str] = &[RoundRobin::NAME, RefreshTime::NAME];

pub fn by_name(name: &str) -> Option<Box<dyn Refresh>> {
    match name {
        RoundRobin::NAME => Some(Box::new(RoundRobin::new())),
        RefreshTime::NAME => Some(Box::new(RefreshTime::new())),
        _ => None,
    }
}
