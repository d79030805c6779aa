//! The trait of all policies: choose pages, learn from visits.

use vernal_model::{BudgetAccount, Chance, Moment, PageKey, PolicyState, Span};

use crate::abilities::{Believing, Hinted, OwnTerms, Promising, Sampled, SiteMemory, Topical, Valued, Weighable};

/// A page that the repository holds, as a policy may see it.
#[derive(Copy, Clone, Debug)]
pub struct Held<'a> {
    pub page: PageKey,
    /// A number of the page's site, the same for all its pages while this process lives.
    pub site: u32,
    /// A number of the first path segment within the site, the same for all pages that share the segment.
    pub path: u32,
    pub importance: f32,
    pub admitted: Moment,
    pub last_visit: Moment,
    /// The expected bytes of a visit on the wire; 0 if unknown.
    pub wire_bytes: u64,
    /// Promises: how often to visit it at least, and at most.
    pub at_least_every: Option<Span>,
    pub at_most_every: Option<Span>,
    /// The change rate per day, if it is known (laboratory, hindsight).
    pub known_rate: Option<f64>,
    pub state: &'a PolicyState,
}

impl<'a> Held<'a> {
    /// A page that was first read at this Moment, with default values: weight one, no promises, and unknown path, size
    /// and rate.
    pub fn new(page: PageKey, site: u32, read: Moment, state: &'a PolicyState) -> Self {
        Held {
            page,
            site,
            path: 0,
            importance: 1.0,
            admitted: read,
            last_visit: read,
            wire_bytes: 0,
            at_least_every: None,
            at_most_every: None,
            known_rate: None,
            state,
        }
    }
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
    /// When the site says that the page last changed, if it says so.
    pub last_modified: Option<Moment>,
    pub wire_bytes: u64,
}

impl Seen {
    /// A visit of which nothing else is known.
    pub fn new(page: PageKey, moment: Moment) -> Self {
        Seen { page, moment, previous: None, changed: None, degree: 0.0, last_modified: None, wire_bytes: 0 }
    }
}

/// All that a policy can see of the world when it chooses.
pub trait View {
    /// How many visits may be chosen now.
    fn visits_left(&self) -> usize;
    /// Whether the page's site can be asked before the next tick.
    fn has_room(&self, page: PageKey) -> bool;
    /// No page is refreshed within this Span of its last visit.
    fn refresh_min(&self) -> Span;
    /// Pages held.
    fn held(&self) -> u64;
    /// Visits a day that the refresh budget pays for.
    fn per_day(&self) -> f64;
    /// The mean change rate per day over all partitions, as last summed up by the coordinator; `None` before that.
    fn mean_rate(&self) -> Option<f64> {
        None
    }
    /// Whether the budget is counted in bytes, so that a visit costs the page's bytes on the wire.
    fn counts_bytes(&self) -> bool {
        false
    }
    /// Whether a page that is never worth a visit may be abandoned.
    fn may_abandon(&self) -> bool {
        false
    }
}

/// A rule that chooses which held pages to visit again.
///
/// A page is known from `recall` or `learn` until `forget`. A chosen page is in flight: it is not chosen again until
/// `learn` or `put_back` names it. Same inputs, same choice. Optional abilities are in `abilities`.
pub trait Refresh: Send {
    fn name(&self) -> &'static str;
    /// Adds a held page: at the start, and after the `learn` of a page that was read for the first time.
    fn recall(&mut self, held: &Held<'_>);
    /// The next pages to visit, the most urgent first; at most `view.visits_left()`.
    fn choose(&mut self, view: &dyn View, now: Moment, chance: &mut Chance) -> Vec<PageKey>;
    /// Learns what a visit found, and returns the state to store with the page.
    fn learn(&mut self, seen: &Seen) -> PolicyState;
    /// A chosen page could not be visited now.
    fn put_back(&mut self, page: PageKey);
    /// The page is no longer held.
    fn forget(&mut self, page: PageKey);
    /// When `choose` may next have an answer; `None` if no later Moment is known. Pages that are due and only wait for
    /// their site do not count: the crawler knows when their site gets free.
    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment>;
    /// Why the page is visited when it is, as names with values; empty if the page is not known.
    fn why(&self, page: PageKey, now: Moment) -> Vec<(String, String)>;
    /// For how long unspent visits may be saved up: a policy that visits only in some hours of the day needs more than
    /// the account holds otherwise.
    fn saves_up(&self) -> Span {
        BudgetAccount::IN_HAND_MAX
    }
    /// The policy's abilities; `None` where it lacks one.
    fn valued(&mut self) -> Option<&mut dyn Valued> {
        None
    }
    fn weighable(&mut self) -> Option<&mut dyn Weighable> {
        None
    }
    fn hinted(&mut self) -> Option<&mut dyn Hinted> {
        None
    }
    fn topical(&mut self) -> Option<&mut dyn Topical> {
        None
    }
    fn own_terms(&mut self) -> Option<&mut dyn OwnTerms> {
        None
    }
    fn site_memory(&mut self) -> Option<&mut dyn SiteMemory> {
        None
    }
    fn believing(&self) -> Option<&dyn Believing> {
        None
    }
    fn sampled(&self) -> Option<&dyn Sampled> {
        None
    }
    fn promising(&self) -> Option<&dyn Promising> {
        None
    }

    /// The same, to change what is promised.
    fn promising_mut(&mut self) -> Option<&mut dyn Promising> {
        None
    }
}
