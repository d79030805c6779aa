//! What a person can ask of a running crawl; each act is a deed and survives restarts.

use vernal_model::{HintSource, Moment, NoisePattern, RuleReach, Seed, Site, Span, Url};

use crate::plan::freshness_samples::Measured;

#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    AddSeeds(Vec<Seed>),
    RemoveSeed(Url),
    /// `None` is the whole crawl.
    Pause(Option<Site>),
    Resume(Option<Site>),
    Block(Site),
    /// Somebody says that these pages have changed.
    Hint {
        source: HintSource,
        urls: Vec<Url>,
    },
    /// A hub speaks of the subscription to this feed.
    Hub {
        topic: Url,
        word: HubWord,
    },
    /// A person's word on what differs without meaning.
    Noise {
        site: Site,
        word: NoiseWord,
    },
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum HubWord {
    /// It asks whether we meant it, and would send for so long.
    Verifies { lease: Option<Span> },
    /// It will not send.
    Denies,
}

#[derive(Clone, Debug, PartialEq)]
pub enum NoiseWord {
    /// This is noise.
    Add { what: NoisePattern, on: RuleReach, reason: String },
    /// This rule is wrong: what it speaks of means something.
    Allow { rule: u32, reason: String },
    /// Take the rule away with its evidence.
    Forget { rule: u32 },
}

/// What an act came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acted {
    /// So many seeds were new, so many known already (their wishes were renewed).
    Seeds {
        new: usize,
        known: usize,
    },
    Removed(bool),
    Done,
    UnknownSite(Site),
    /// So many known pages were hinted at, so many URLs are new to us, so many are none of ours.
    Hinted {
        hinted: usize,
        found: usize,
        ignored: usize,
    },
    /// Whether a hub spoke of a subscription that we asked for.
    Subscribed(bool),
    /// The rule that a word made or spoke of.
    Ruled(u32),
    /// The site has no such rule.
    UnknownRule(u32),
    /// The site's book is full of rules that people gave.
    BookFull,
}

/// What stands between a URL and its next visit, without a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    pub url: Url,
    pub in_scope: bool,
    /// The seed whose scope covers it.
    pub seed: Option<Url>,
    /// `allowed`, `forbidden`, `unreachable` or `unknown` (not asked yet).
    pub robots: &'static str,
    /// When the copy of robots.txt that is in force was read, and whether the file could not be had since: then the copy
    /// stays in force (RFC 9309, 2.4).
    pub robots_read: Option<Moment>,
    pub robots_stale: bool,
    pub crawl_delay_secs: Option<f64>,
    pub trap: Option<String>,
    /// `unknown`, `waiting`, `barred`, or the state of the page.
    pub state: &'static str,
    /// The earliest Moment at which its site may be asked.
    pub next_slot: Moment,
    pub site_standing: &'static str,
}

/// The crawl at this instant, beyond what the tables say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pulse {
    pub in_flight: usize,
    /// URLs in the windows of the frontiers.
    pub window: usize,
    pub orders_sent: u64,
    pub reports_taken: u64,
    pub commits: u64,
    pub paused: bool,
    /// Fetching has stopped because the disk is nearly full.
    pub disk_full: bool,
    /// Sites known to this process, and those of them that are held back now by a back-off.
    pub sites: usize,
    pub sites_backing_off: usize,
    pub budget_in_hand: f64,
    /// The share of the held pages, by importance, that the policy believes to be up to date; `None` without a model.
    pub believed: Option<f64>,
    /// The same as random samples show it.
    pub measured: Option<Measured>,
    pub retries_waiting: usize,
    /// So many URLs are known, more than a pass over all links may take: none is made. `None` while they may be taken.
    pub pass_refused_urls: Option<u64>,
    /// The scope has changed: so many held pages have been met with it so far. `None` when all have.
    pub scope_pass_pages: Option<u64>,
}
