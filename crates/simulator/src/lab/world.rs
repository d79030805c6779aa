//! A world: sites, pages, and every change that will ever happen to them, known beforehand.
//!
//! All policies of one comparison meet the same world, so that they differ by their choices and by nothing else. Times
//! are Moments; what happens to a page lies in one flat list for all pages, in the order of pages and of time, so that
//! a hundred thousand pages cost two allocations and not two hundred thousand.

use std::ops::Range;

use vernal_model::{Moment, Span};
use vernal_policy::measure::hindsight_rate;

/// Sites, pages and their changes from `origin` to `end`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct World {
    pub name: String,
    pub origin: Moment,
    pub end: Moment,
    /// What happens before `origin + warm_up` is measured apart.
    pub warm_up: Span,
    pub sites: Vec<WorldSite>,
    /// In the order of sites, and of names within a site: a page's place is its number.
    pub pages: Vec<WorldPage>,
    /// Where each page's changes and hints lie in the lists of all.
    places: Vec<(Range<u32>, Range<u32>)>,
    changes: Vec<WorldChange>,
    hints: Vec<Moment>,
    /// How far this world's hints are to be trusted.
    pub trust: Option<HintTrust>,
    /// Whether changes are known only to the visit that found them (a crawl), not to the instant.
    pub censored: bool,
    /// Whether the model's optimum is a bound here: pages that are there throughout change by Poisson's law at rates that
    /// stay, and nobody says when. Never true of a recording.
    pub modelled: bool,
}

/// The share of changes that is announced, and false announcements for each change there is.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct HintTrust {
    pub recall: f64,
    pub false_per_change: f64,
}

/// A sure hint is worth no more than this.
const HINT_WORTH_DAYS_MAX: f64 = 3_650.0;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldSite {
    pub name: String,
    /// Visits a day that politeness allows; `None` if it never binds.
    pub visits_per_day_max: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldPage {
    pub name: Box<str>,
    pub site: u32,
    /// A number of the first part of its path within the site.
    pub path: u32,
    /// Online from here; before `origin` if it is there at the start.
    pub born: Moment,
    /// Online until here; `Moment::NEVER` if it outlives the world.
    pub gone: Moment,
    pub weight: f32,
    pub bytes: u32,
    /// Changes a day: as drawn in an invented world, counted in hindsight in a recorded one.
    pub rate: f64,
}

impl WorldPage {
    pub fn is_online(&self, now: Moment) -> bool {
        self.born <= now && self.gone > now
    }
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct WorldChange {
    pub moment: Moment,
    /// How much of the page differs, 0 to 1.
    pub degree: f32,
    pub kind: ChangeKind,
}

/// The kinds of a trace; an invented change is one of content.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    #[default]
    Content,
    Structure,
    Presentation,
    Behaviour,
    /// White space, comments, doctype only.
    Nothing,
    /// An HTML change that nobody classified.
    Unsampled,
    /// A change of a page that is not HTML.
    Other,
    Created,
    Deleted,
}

impl ChangeKind {
    pub const ALL: [ChangeKind; 9] = [
        ChangeKind::Content,
        ChangeKind::Structure,
        ChangeKind::Presentation,
        ChangeKind::Behaviour,
        ChangeKind::Nothing,
        ChangeKind::Unsampled,
        ChangeKind::Other,
        ChangeKind::Created,
        ChangeKind::Deleted,
    ];

    /// The name in a trace; `script` is read as behaviour too.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Content => "content",
            ChangeKind::Structure => "structure",
            ChangeKind::Presentation => "presentation",
            ChangeKind::Behaviour => "behaviour",
            ChangeKind::Nothing => "none",
            ChangeKind::Unsampled => "unsampled",
            ChangeKind::Other => "other",
            ChangeKind::Created => "create",
            ChangeKind::Deleted => "delete",
        }
    }

    pub fn by_name(name: &str) -> Option<Self> {
        if name == "script" {
            return Some(ChangeKind::Behaviour);
        }
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl World {
    pub fn new(name: &str, origin: Moment, length: Span, warm_up: Span) -> Self {
        World { name: name.to_owned(), origin, end: origin + length, warm_up, ..World::default() }
    }

    /// Adds a page with its changes, which must be in order and within its life; those outside of the world are left out.
    pub fn push(&mut self, page: WorldPage, changes: &[WorldChange], hints: &[Moment]) {
        let (from, until) = (page.born.max(self.origin), page.gone.min(self.end));
        let first_change = self.changes.len() as u32;
        let inside = |moment: Moment| moment > from && moment < until;
        self.changes.extend(changes.iter().filter(|change| inside(change.moment)));
        let first_hint = self.hints.len() as u32;
        self.hints.extend(hints.iter().filter(|&&hint| inside(hint)));
        let changes = first_change..self.changes.len() as u32;
        self.places.push((changes, first_hint..self.hints.len() as u32));
        self.pages.push(page);
    }

    pub fn changes(&self, page: usize) -> &[WorldChange] {
        let range = &self.places[page].0;
        &self.changes[range.start as usize..range.end as usize]
    }

    pub fn hints(&self, page: usize) -> &[Moment] {
        let range = &self.places[page].1;
        &self.hints[range.start as usize..range.end as usize]
    }

    /// How much waiting a hint is worth where the trust in hints is known (Busa-Fekete and others
    /// 2025): β = ln(γ/ν)/α with α = (1−ρ)Δ, γ = ρΔ + ν.
    pub fn hint_worth(&self, page: usize) -> Span {
        let Some(trust) = self.trust else { return Span::ZERO };
        let wrong = trust.false_per_change.max(1e-6);
        let unannounced = ((1.0 - trust.recall) * self.pages[page].rate).max(1e-9);
        let days = ((trust.recall + wrong) / wrong).ln() / unannounced;
        Span::from_secs_f64(days.min(HINT_WORTH_DAYS_MAX) * 86_400.0)
    }

    pub fn has_hints(&self) -> bool {
        !self.hints.is_empty()
    }

    pub fn changes_total(&self) -> usize {
        self.changes.len()
    }

    /// When the page is online within the world.
    pub fn life(&self, page: usize) -> (Moment, Moment) {
        let page = &self.pages[page];
        (page.born.max(self.origin), page.gone.min(self.end))
    }

    pub fn length(&self) -> Span {
        self.end.since(self.origin)
    }

    pub fn measured_from(&self) -> Moment {
        self.origin + self.warm_up
    }

    /// Changes a day over the page's life in this world, known only in hindsight.
    pub fn hindsight_rate(&self, page: usize) -> f64 {
        let (from, until) = self.life(page);
        hindsight_rate(self.changes(page).len(), until.since(from).days_f64())
    }

    /// Sets every page's rate to the one of hindsight.
    pub fn rate_in_hindsight(&mut self) {
        for page in 0..self.pages.len() {
            self.pages[page].rate = self.hindsight_rate(page);
        }
    }
}
