//! What sites say about their own changes, and how often they were right: data only. The files are read in room
//! `document`, trust is reckoned in room `policy`.

use serde::{Deserialize, Serialize};

use crate::{Fingerprint, Moment, PageKey, Site, Span, Url};

/// Who speaks. The numbers are on disk: new sources come at the end.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum HintSource {
    /// The lastmod of a sitemap.
    Sitemap = 0,
    /// An entry of an RSS, Atom or JSON feed.
    Feed = 1,
    /// Paper 000's meta-updates tag on the page itself.
    MetaUpdates = 2,
    /// Cache-Control and Expires.
    CacheHeaders = 3,
    /// Paper 004's table of volatile information beside the page.
    Companion = 4,
    /// A push to our own door.
    IndexNow = 5,
    WebSub = 6,
    /// The date that a page bears: it speaks when the page is visited, and places the change in time.
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

    /// Whether it says how long a page stays as it is, rather than that one has changed.
    pub fn is_cadence(self) -> bool {
        matches!(self, HintSource::MetaUpdates | HintSource::CacheHeaders)
    }

    /// Its bit among the sources that speak of a page.
    pub fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// What a file for machines lists: the parsed meaning of a sitemap, a feed or a table; short-lived.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    pub kind: ListingKind,
    pub entries: Vec<Listed>,
    /// Entries beyond the limit or without a URL that we could ask for, counted and not kept.
    pub dropped: u32,
    /// What was wrong with the file, in words; what could be read is in `entries` all the same.
    pub note: Option<Box<str>>,
    /// The WebSub hub that a feed names, and the URL by which the hub knows the feed.
    pub hub: Option<Url>,
    pub topic: Option<Url>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ListingKind {
    Sitemap,
    /// Lists sitemaps, not pages.
    SitemapIndex,
    Feed,
    /// Lists the pages whose volatile parts it holds.
    VolatileTable,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub url: Url,
    pub stamp: Option<Stamp>,
}

/// A date as sites write it may mean a whole day or year: the Moments between which it lies.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    pub from: Moment,
    pub until: Moment,
}

/// How far one source of one site is to be trusted: fading counts of what came of its hints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrustRow {
    /// Hints that were followed by a real change, and those that were not.
    pub right: f64,
    pub wrong: f64,
    /// Changes of pages that the source speaks of which it did not announce.
    pub missed: f64,
    /// Days of pages watched for changes, and those of them up to the first hint.
    pub watched_days: f64,
    pub exposed_days: f64,
    /// Up to when the counts have faded.
    pub faded: Moment,
    /// Hints heard, ever.
    pub heard: u64,
    pub last_heard: Moment,
    /// Why it is not listened to, in words; nothing while it is.
    pub muted: Option<Muted>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Muted {
    pub since: Moment,
    pub why: Box<str>,
    /// Whether the look of the file said so, not what came of its hints.
    pub by_look: bool,
}

/// A hint that waits for the page's next visit.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingHint {
    pub source: HintSource,
    /// When the page changed, by the source's word.
    pub said: Moment,
    pub heard: Moment,
    /// The waiting that it was worth when it was heard; nothing from a source that is muted.
    pub worth: Span,
}

/// What a page says of its own changes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cadence {
    pub source: HintSource,
    /// It stays as it is for so long.
    pub period: Span,
}

/// What is said of one page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageHints {
    /// At most one per source.
    pub pending: Vec<PendingHint>,
    /// Bits of the sources that speak of this page, so that their silence means something.
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
    pub kind: ListingKind,
    pub source: HintSource,
    /// When what it lists was last read.
    pub read: Moment,
    pub entries: u32,
    /// Entries with a date that could be read.
    pub dated: u32,
    pub dropped: u32,
    /// Entries that were new or had moved at the last reading.
    pub moved: u32,
    /// Index files between this one and robots.txt.
    pub depth: u8,
    pub note: Option<Box<str>>,
    pub hub: Option<Url>,
    pub topic: Option<Url>,
}

/// Rows of one site's hints as they become; what is not named stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HintRows {
    pub site: Site,
    pub sources: Vec<(HintSource, TrustRow)>,
    pub files: Vec<(PageKey, HintFile)>,
    /// An empty row is taken away.
    pub pages: Vec<(PageKey, PageHints)>,
    pub listed: Option<ListedRows>,
}

impl HintRows {
    pub fn of(site: &Site) -> Self {
        HintRows { site: site.clone(), sources: Vec::new(), files: Vec::new(), pages: Vec::new(), listed: None }
    }

    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.files.is_empty() && self.pages.is_empty() && self.listed.is_none()
    }
}

/// What moved in one file's list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedRows {
    pub file: PageKey,
    pub put: Vec<(Fingerprint, Option<Stamp>)>,
    pub gone: Vec<Fingerprint>,
}
