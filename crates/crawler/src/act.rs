//! What a person can ask of a running crawl; each act is a deed and survives restarts.

use vernal_model::{
    ErasedCounts, ForgetRule, ForgottenRow, HintSource, Moment, NoisePattern, RuleReach, Seed, Site, Span, Url,
};

#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    AddSeeds(Vec<Seed>),
    RemoveSeed(Url),
    /// `None` pauses the whole crawl.
    Pause(Option<Site>),
    Resume(Option<Site>),
    Block(Site),
    /// A person or program says that these pages have changed.
    Hint {
        source: HintSource,
        urls: Vec<Url>,
    },
    /// A hub sends a message about the subscription to this feed.
    Hub {
        topic: Url,
        word: HubWord,
    },
    /// A person decides whether two pages are one page with two names.
    Names {
        first: Url,
        second: Url,
        word: NamesWord,
        reason: String,
    },
    /// A person decides what differs without meaning.
    Noise {
        site: Site,
        word: NoiseWord,
    },
    /// A person has pages erased and kept out.
    Forget(ForgetWord),
    /// Take back an entry of the ledger of what was forgotten: its pages may come again.
    LiftForgotten(u32),
    /// Take up the ledger of a damaged folder, before anything is restored.
    TakeUpLedger(Vec<ForgottenRow>),
    /// Rewrite all files that may have what was erased, of a folder that nobody crawls.
    RewriteErased,
}

/// What is to be forgotten, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetWord {
    pub rules: Vec<ForgetRule>,
    pub reason: String,
    /// Only tell what would be erased.
    pub dry_run: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum HubWord {
    /// The hub verifies that we meant the request, and offers a lease of this length.
    Verifies { lease: Option<Span> },
    /// The hub denies the subscription.
    Denies,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum NamesWord {
    /// The second page is another name of the first one, whatever they contain.
    Join,
    /// They are two pages, whatever they contain.
    Part,
    /// Take back what was said of these two: the rule decides again.
    Forget,
}

#[derive(Clone, Debug, PartialEq)]
pub enum NoiseWord {
    /// This is noise.
    Add { what: NoisePattern, on: RuleReach, reason: String },
    /// This rule is wrong: the differences that it matches have meaning.
    Allow { rule: u32, reason: String },
    /// Take the rule away with its evidence.
    Forget { rule: u32 },
}

/// The result of an act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acted {
    /// How many seeds were new, and how many were known already (their settings were updated).
    Seeds {
        new: usize,
        known: usize,
    },
    Removed(bool),
    Done,
    UnknownSite(Site),
    /// How many known pages got a hint, how many URLs are new, and how many are out of scope.
    Hinted {
        hinted: usize,
        found: usize,
        ignored: usize,
    },
    /// Whether the message is about a subscription that we asked for.
    Subscribed(bool),
    /// What was said of two pages counts from now on.
    NamesRuled,
    /// No page with this URL was ever visited.
    UnknownPage(Url),
    /// Only pages of one site can be one page.
    OfTwoSites,
    /// Nothing was said of these two pages.
    NothingSaid,
    /// People have said something of as many pairs with this page as they may.
    NamesFull(Url),
    /// The rule that was made or changed.
    Ruled(u32),
    /// The site has no such rule.
    UnknownRule(u32),
    /// The site's noise book holds as many rules given by people as it may.
    BookFull,
    /// The entries of the ledger, and how much is erased by them. Large numbers of pages are erased in turns.
    Forgot {
        entries: Vec<ForgottenRow>,
        counts: ErasedCounts,
    },
    /// The rules, with those of other names of their pages, and how much they would erase.
    WouldForget {
        rules: Vec<ForgetRule>,
        counts: ErasedCounts,
    },
    Lifted(Box<ForgottenRow>),
    /// The ledger has no such entry in force.
    NotForgotten(u32),
    /// The URL was forgotten, by this entry of the ledger, and is no seed before that is taken back.
    ForgottenSeed(Url, u32),
}

/// What keeps a URL from its next visit; found out without a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    pub url: Url,
    pub in_scope: bool,
    /// The seed whose scope covers it.
    pub seed: Option<Url>,
    /// `allowed`, `forbidden`, `unreachable` or `unknown` (not asked yet).
    pub robots: &'static str,
    /// When the copy of robots.txt in force was read, and whether later requests for the file failed. Such a copy stays
    /// in force (RFC 9309, 2.4).
    pub robots_read: Option<Moment>,
    pub robots_stale: bool,
    pub crawl_delay_secs: Option<f64>,
    pub trap: Option<String>,
    /// `unknown`, `waiting`, `barred`, `forgotten`, or the state of the page.
    pub state: &'static str,
    /// The earliest Moment at which the URL's site may be asked.
    pub next_slot: Moment,
    pub site_standing: &'static str,
}
