//! The settings of a crawl; every setting in force is printed at start.

use vernal_frontier::VisitOrder;
use vernal_model::{AddressLimits, Budget, Kind, Kinds, Scope, Seed, Site, Span, TimeOrigin, Url};

use crate::url_terms::{UrlTerms, UrlTermsBook};
use crate::weights::{ImportanceBy, Weights};

#[derive(Clone, Debug)]
pub struct Settings {
    /// Scope and depth of seeds that do not say otherwise.
    pub scope: Scope,
    pub depth: Option<u16>,
    /// Pages held at most.
    pub pages_max: u64,
    pub per_site_pages_max: Option<u64>,
    /// URLs must match one of these, if there are any, and none of `exclude` (linear-time regular expressions).
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub budget: Budget,
    /// A name of `vernal_policy::NAMES`, with the values of its parameters.
    pub policy: String,
    /// Parameters of the policy `refresh-time` that hold for some URLs in place of its own.
    pub url_terms: Vec<UrlTerms>,
    /// How often topics are computed; `None` disables them.
    pub topics_every: Option<Span>,
    /// How often the mean change rate and the beliefs of the policies are summed up over all pages.
    pub rates_every: Span,
    pub visit_order: VisitOrder,
    /// The most URLs that a pass over all links may take; with more, no pass is made, and the status says so.
    pub pass_urls_max: u32,
    /// Whether passes run now and then even if nothing needs the scores, to answer which pages link to a page.
    pub links_at_hand: bool,
    /// A pass writes a checkpoint after reading this many pages, for the next process to resume.
    pub pass_piece_pages: usize,
    /// Which images, scripts and style sheets are fetched for the pages that use them.
    pub requisites: Requisites,
    /// How importance is computed, and the weights that people gave.
    pub importance: ImportanceBy,
    pub weights: Weights,
    /// How often pages must be visited at least and at most, whatever the policy prefers.
    pub promises: Vec<Wish>,
    /// The kinds of change that count for the schedule.
    pub counts: Kinds,
    /// Whether the crawl reads and uses the hints that sites give about their own changes.
    pub hints: bool,
    /// The URL to which hubs may send what is new in feeds; without it no hub is asked.
    pub callback: Option<Callback>,
    /// Whether each hour of the crawl leaves a row of its history.
    pub history: bool,
    /// Sites where no learned noise is set aside; `strict` applies this to all sites.
    pub strict: bool,
    pub strict_sites: Vec<Site>,
    /// Noise books of sites that are kept in memory. The limit exceeds the visits of a group, so that one book can
    /// always be dropped without a commit.
    pub noise_books_max: usize,
    /// The delay between two requests to one site.
    pub delay: Span,
    /// A crawl-delay in robots.txt overrides `delay` up to this.
    pub delay_max: Span,
    /// Requests to one site at a time.
    pub per_site: u16,
    /// Requests at a time, over all sites.
    pub concurrency: usize,
    /// No page is refreshed sooner than this after its last visit.
    pub refresh_min: Span,
    /// Whether a page that is never worth a visit may be abandoned.
    pub abandon: bool,
    pub address: AddressLimits,
    pub group: GroupLimits,
    /// The product token that robots.txt groups are matched with.
    pub robots_agent: String,
    /// Whether larger bodies are allowed than in the last run: pages that were too large are asked for again.
    pub larger_bodies: bool,
    /// Visit each held page at most once in the life of this process (`--until-idle`).
    pub once: bool,
    /// Private addresses may be asked: for seeds, and for what private pages lead to.
    pub allow_private: bool,
    /// Requests at most in the life of this process.
    pub visits_max: Option<u64>,
    /// Fetching stops while less than this is free on the disk.
    pub disk_free_min: DiskFreeMin,
    /// The time origin of the repository from now on, for its journal.
    pub time_origin: Option<TimeOrigin>,
    /// The chance number of this process.
    pub chance: u64,
}

/// Which images, scripts and style sheets are fetched.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Requisites {
    /// None for the pages that use them.
    #[default]
    None,
    /// Those that lie on the site of the page.
    Site,
}

/// The URL at which hubs reach us, and the secret from which each hub's secret is derived.
#[derive(Clone)]
pub struct Callback {
    pub url: Url,
    secret: String,
}

impl Callback {
    pub fn new(url: Url, secret: String) -> Self {
        Callback { url, secret }
    }

    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }
}

impl std::fmt::Debug for Callback {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Callback({})", self.url)
    }
}

/// How often a page is visited at least, and at most.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Promise {
    pub at_least_every: Option<Span>,
    pub at_most_every: Option<Span>,
}

/// A promise for all pages of a tag, or all that match a pattern.
#[derive(Clone, Debug)]
pub struct Wish {
    pub of: WishOf,
    pub promise: Promise,
}

#[derive(Clone, Debug)]
pub enum WishOf {
    Tag(String),
    Pattern(vernal_frontier::Pattern),
}

/// The strictest promise of the seeds that cover a URL and of the settings.
pub(crate) fn promise_of(seeds: &[Seed], wishes: &[Wish], url: &Url, depth: u16) -> Promise {
    let covering = || seeds.iter().filter(|seed| seed.covers(url, depth));
    let of_seeds = covering().map(|seed| (seed.at_least_every, seed.at_most_every));
    let of_settings = wishes.iter().filter(|wish| wish.of.holds(url, covering()));
    let of_settings = of_settings.map(|wish| (wish.promise.at_least_every, wish.promise.at_most_every));
    of_seeds.chain(of_settings).fold(Promise::default(), |promise, (at_least, at_most)| Promise {
        at_least_every: [promise.at_least_every, at_least].into_iter().flatten().min(),
        at_most_every: [promise.at_most_every, at_most].into_iter().flatten().max(),
    })
}

impl WishOf {
    /// Whether it applies to this URL, which the given seeds cover.
    fn holds<'s>(&self, url: &Url, mut covering: impl Iterator<Item = &'s Seed>) -> bool {
        match self {
            WishOf::Tag(tag) => covering.any(|seed| seed.tags.contains(tag)),
            WishOf::Pattern(pattern) => pattern.is_match(url.as_str()),
        }
    }
}

/// A group of deeds is closed when one of these is reached, or when the runtime says that 100 ms have passed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    pub visits: usize,
    pub bytes: usize,
}

/// The smaller of the two limits applies, so that neither a small nor a large disk is wasted.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct DiskFreeMin {
    pub bytes: u64,
    pub share: f64,
}

impl DiskFreeMin {
    /// Fetching continues to the last byte: for crawls that must not depend on the machine they run on.
    pub const NOTHING: DiskFreeMin = DiskFreeMin { bytes: 0, share: 0.0 };
}

impl Default for DiskFreeMin {
    fn default() -> Self {
        DiskFreeMin { bytes: 2 << 30, share: 0.05 }
    }
}

/// Topics change slowly: one pass a day is enough for a policy that samples by them.
const TOPICS_EVERY: Span = Span::from_days(1);

impl Settings {
    /// How often topics are computed by default: only for policies that use them.
    pub fn topics_for(policy: &str) -> Option<Span> {
        vernal_policy::wants_topics(policy).then_some(TOPICS_EVERY)
    }

    /// The parameters of the policy that hold for some URLs.
    pub fn url_terms_book(&self) -> UrlTermsBook {
        UrlTermsBook::new(&self.url_terms, &self.policy)
    }

    /// How long a span of the crawl is in real time.
    pub(crate) fn real(&self, span: Span) -> Span {
        self.time_origin.map_or(span, |origin| span.scaled(1.0 / origin.scale))
    }

    /// Whether no learned noise is set aside at this site.
    pub fn is_strict(&self, site: &Site) -> bool {
        self.strict || self.strict_sites.contains(site)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            scope: Scope::Site,
            depth: None,
            pages_max: 100_000,
            per_site_pages_max: None,
            include: Vec::new(),
            exclude: Vec::new(),
            budget: Budget::default(),
            policy: "round-robin".into(),
            url_terms: Vec::new(),
            topics_every: None,
            pass_urls_max: vernal_repository::graph::URLS_MAX,
            links_at_hand: true,
            pass_piece_pages: vernal_repository::graph::PIECE_PAGES,
            rates_every: Span::from_secs(600),
            requisites: Requisites::default(),
            importance: ImportanceBy::default(),
            weights: Weights::default(),
            promises: Vec::new(),
            counts: Kinds::of(&[Kind::Content]),
            hints: false,
            callback: None,
            history: false,
            strict: false,
            strict_sites: Vec::new(),
            noise_books_max: 1_024,
            visit_order: VisitOrder::Paper,
            delay: Span::from_secs(1),
            delay_max: Span::from_secs(60),
            per_site: 1,
            concurrency: 64,
            refresh_min: Span::from_hours(1),
            abandon: false,
            address: AddressLimits::default(),
            group: GroupLimits { visits: 512, bytes: 1 << 20 },
            robots_agent: "vernal".into(),
            larger_bodies: false,
            once: false,
            allow_private: false,
            visits_max: None,
            disk_free_min: DiskFreeMin::default(),
            time_origin: None,
            chance: 1,
        }
    }
}
