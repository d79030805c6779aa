//! Hints: what sites say about their own changes, and how often they were right. Data only: `vernal-document` reads the files, and
//! `vernal-policy` computes trust.

use serde::{Deserialize, Serialize};

use crate::{Fingerprint, Moment, PageKey, Site, Span, Url};

/// The source of a hint. The numbers are on disk, so new sources are added at the end.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum HintSource {
    /// The lastmod of a sitemap.
    Sitemap = 0,
    /// An entry of an RSS, Atom or JSON feed.
    Feed = 1,
    /// The meta-updates tag of paper 000 on the page itself.
    MetaUpdates = 2,
    /// Cache-Control and Expires.
    CacheHeaders = 3,
    /// The table of volatile information of the page (paper 004).
    Companion = 4,
    /// A push to us.
    IndexNow = 5,
    WebSub = 6,
    /// The date on a page. It is read when the page is visited, and dates the change.
    LastModified = 7,
}

impl HintSource {
    pub const ALL: [HintSource; 8] = [
        HintSource::Sitemap,
        HintSource::Feed,
        HintSource::MetaUpdates,
        HintSource::CacheHeaders,
        HintSource::Companion,
        HintSource::IndexNow,
        HintSource::WebSub,
        HintSource::LastModified,
    ];

    pub fn name(self) -> &'static str {
        match self {
            HintSource::Sitemap => "sitemap",
            HintSource::Feed => "feed",
            HintSource::MetaUpdates => "meta-updates",
            HintSource::CacheHeaders => "cache-headers",
            HintSource::Companion => "companion",
            HintSource::IndexNow => "indexnow",
            HintSource::WebSub => "websub",
            HintSource::LastModified => "last-modified",
        }
    }

    /// Whether it says how long a page will not change, rather than that it has changed.
    pub fn is_cadence(self) -> bool {
        matches!(self, HintSource::MetaUpdates | HintSource::CacheHeaders)
    }

    /// Its bit among the sources of a page.
    pub fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The parsed content of a sitemap, a feed or a table; short-lived.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteList {
    pub kind: SiteListKind,
    pub entries: Vec<ListEntry>,
    /// Entries beyond the limit or without a URL that we can request. They are counted and not kept.
    pub dropped: u32,
    /// The fault of the file, in words. `entries` has everything that could be read.
    pub note: Option<Box<str>>,
    /// The WebSub hub of a feed, and the URL by which the hub knows the feed.
    pub hub: Option<Url>,
    pub topic: Option<Url>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SiteListKind {
    Sitemap,
    /// Lists sitemaps, not pages.
    SitemapIndex,
    Feed,
    /// Lists the pages with volatile parts in it.
    VolatileTable,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ListEntry {
    pub url: Url,
    pub stamp: Option<DateRange>,
}

/// The range of a date: as sites write it, it may mean a whole day or year.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DateRange {
    pub from: Moment,
    pub until: Moment,
}

/// The trust in one source of one site: decaying counts of the results of its hints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrustRow {
    /// Hints with a real change, and hints without.
    pub right: f64,
    pub wrong: f64,
    /// Changes that the source did not announce, of pages that it covers.
    pub missed: f64,
    /// Page-days of observation, and those of them before the first hint.
    pub watched_days: f64,
    pub exposed_days: f64,
    /// When the counts were last decayed.
    pub faded: Moment,
    /// All hints received.
    pub heard: u64,
    pub last_heard: Moment,
    /// Why it is ignored, in words; `None` while it is used.
    pub muted: Option<Muted>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Muted {
    pub since: Moment,
    pub why: Box<str>,
    /// Whether the form of the file was the reason, not the results of its hints.
    pub by_look: bool,
}

/// A hint that waits for the page's next visit.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingHint {
    pub source: HintSource,
    /// When the page changed, according to the source.
    pub said: Moment,
    pub heard: Moment,
    /// The waiting time that it was worth when it was received. Zero from a muted source.
    pub worth: Span,
}

/// What a page says of its own changes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cadence {
    pub source: HintSource,
    /// It will not change for so long.
    pub period: Span,
}

/// The hints for one page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageHints {
    /// At most one per source.
    pub pending: Vec<PendingHint>,
    /// Bits of the sources that cover this page. Their silence is information.
    pub spoken_of: u8,
    pub cadence: Vec<Cadence>,
    /// The page whose table moves when this one changes.
    pub companion: Option<PageKey>,
}

impl PageHints {
    pub fn is_empty(&self) -> bool {
        *self == PageHints::default()
    }

    pub fn pending_of(&self, source: HintSource) -> Option<&PendingHint> {
        self.pending.iter().find(|hint| hint.source == source)
    }
}

/// A file of hints that is held as a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HintFile {
    pub url: Url,
    pub kind: SiteListKind,
    pub source: HintSource,
    /// When what it lists was last read.
    pub read: Moment,
    pub entries: u32,
    /// Entries with a date that could be read.
    pub dated: u32,
    pub dropped: u32,
    /// Entries that were new or had a new date at the last reading.
    pub moved: u32,
    /// Index files between this one and robots.txt.
    pub depth: u8,
    pub note: Option<Box<str>>,
    pub hub: Option<Url>,
    pub topic: Option<Url>,
}

/// The new rows of the hints of one site. Other rows stay as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HintRows {
    pub site: Site,
    pub sources: Vec<(HintSource, TrustRow)>,
    pub files: Vec<(PageKey, HintFile)>,
    /// An empty row is removed.
    pub pages: Vec<(PageKey, PageHints)>,
    pub listed: Option<ListEntryRows>,
}

impl HintRows {
    pub fn of(site: &Site) -> Self {
        HintRows { site: site.clone(), sources: Vec::new(), files: Vec::new(), pages: Vec::new(), listed: None }
    }

    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.files.is_empty() && self.pages.is_empty() && self.listed.is_none()
    }
}

/// The changes of the entries of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListEntryRows {
    pub file: PageKey,
    pub put: Vec<(Fingerprint, Option<DateRange>)>,
    pub gone: Vec<Fingerprint>,
}
