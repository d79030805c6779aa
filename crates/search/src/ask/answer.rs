//! What is asked, and what is answered.

use schemars::JsonSchema;
use serde::Serialize;
use vernal_model::{Moment, Seed, Url};

/// Hits of one answer.
pub const LIMIT_MAX: usize = 200;
/// Hits that can be reached by going on.
pub const DEPTH_MAX: usize = 2_000;
/// Hits of one answer where nobody says how many.
pub const LIMIT: usize = 10;

/// One question.
#[derive(Clone, Debug)]
pub struct Asked {
    pub query: String,
    pub within: Within,
    /// Pages like this one, instead of a query.
    pub like: Option<Url>,
    pub site: Option<String>,
    pub tag: Option<String>,
    pub topic: Option<String>,
    pub language: Option<String>,
    pub kind: Option<String>,
    pub role: Option<RoleAsked>,
    pub since: Option<Moment>,
    pub until: Option<Moment>,
    pub sort: Sort,
    pub limit: usize,
    /// Hits that were shown before.
    pub skip: usize,
    /// What ages are counted from.
    pub now: Moment,
    /// The seeds, which say what tags a page has.
    pub seeds: Vec<Seed>,
}

impl Asked {
    pub fn new(query: &str, now: Moment) -> Asked {
        Asked {
            query: query.to_owned(),
            within: Within::Now,
            like: None,
            site: None,
            tag: None,
            topic: None,
            language: None,
            kind: None,
            role: None,
            since: None,
            until: None,
            sort: Sort::Relevance,
            limit: LIMIT,
            skip: 0,
            now,
            seeds: Vec::new(),
        }
    }
}

/// Which text is asked.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// The newest version of each page.
    #[default]
    Now,
    /// What changes took away.
    Removed,
    /// Both.
    Past,
    /// The text that was held then.
    At(Moment),
}

/// The part of the page in which the words stand.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RoleAsked {
    Main,
    Frame,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    #[default]
    Relevance,
    /// Relevance times how new it is.
    Fresh,
    /// The newest first, however well it fits.
    Newest,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answer {
    pub total: u64,
    /// False where some candidates were not looked at, or some texts could not be.
    pub exact: bool,
    /// The index has everything up to here.
    pub cursor: String,
    #[serde(flatten)]
    pub facets: Facets,
    #[serde(skip)]
    pub hits: Vec<Hit>,
    /// Whether there are hits behind these.
    #[serde(skip)]
    pub has_more: bool,
}

/// How the hits divide; the largest counts first, months by time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Facets {
    pub by_site: Vec<Count>,
    pub by_language: Vec<Count>,
    pub by_month: Vec<Count>,
    pub by_kind: Vec<Count>,
    /// Of the best hits alone, at most 200: the topics that the last pass over the repository gave their pages.
    pub by_topic: Vec<Count>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Count {
    pub value: String,
    pub count: u64,
}

/// One page, or one removed paragraph.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Hit {
    pub url: String,
    pub site: String,
    pub title: String,
    pub language: String,
    pub score: f32,
    /// The version whose text this is.
    pub version: u32,
    /// When that version was first seen; of removed text, when it was first found gone.
    pub time: Option<String>,
    /// The paragraph that fits best; null where none of the words stands in a paragraph.
    pub paragraph: Option<String>,
    pub role: Option<&'static str>,
    pub headings: Vec<Box<str>>,
    pub text: String,
    /// The places of the words in `text`, in characters.
    pub marks: Vec<(usize, usize)>,
    /// The version that had the paragraph first; null where nobody knows.
    pub born: Option<Bracket>,
    pub gone: Option<RemovedText>,
    /// What links to the page say that has words that were asked for.
    pub anchors: Vec<String>,
}

/// The two visits between which something happened, and the version that shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Bracket {
    pub version: u32,
    pub seen_same: Option<String>,
    pub seen_different: Option<String>,
}

/// How a paragraph went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RemovedText {
    /// `removed`, `edited`, or `gone` with its page.
    pub op: &'static str,
    /// The first version that no longer has it; null where the page itself is gone.
    pub version: Option<u32>,
    /// The version that had it last.
    pub previous: u32,
    pub seen_same: Option<String>,
    pub seen_different: Option<String>,
    /// The cursor of the event that told of it.
    pub cursor: String,
    /// The change to open: a command, and a path of the API.
    pub command: String,
    pub diff: Option<String>,
}
