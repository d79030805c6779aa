//! `GET /api/v1/search`: the first line counts, the others are hits.

use serde::Deserialize;

/// A line of the answer. The head has a total, a hit has none.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SearchLine {
    pub total: Option<u64>,
    pub exact: bool,
    #[serde(flatten)]
    pub facets: Facets,
    #[serde(flatten)]
    pub hit: Hit,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Facets {
    pub by_site: Vec<Count>,
    pub by_language: Vec<Count>,
    pub by_month: Vec<Count>,
    pub by_kind: Vec<Count>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Count {
    pub value: String,
    pub count: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Hit {
    pub url: String,
    pub title: String,
    pub language: String,
    pub version: u32,
    pub time: Option<String>,
    pub paragraph: Option<String>,
    pub headings: Vec<String>,
    pub text: String,
    /// The places of the words, in characters.
    pub marks: Vec<(usize, usize)>,
    pub born: Option<Born>,
    pub gone: Option<RemovedText>,
}

/// When a paragraph came.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Born {
    pub version: u32,
    pub seen_same: Option<String>,
    pub seen_different: Option<String>,
}

/// How a paragraph went.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct RemovedText {
    pub op: String,
    pub version: Option<u32>,
    pub previous: u32,
    pub seen_same: Option<String>,
    pub seen_different: Option<String>,
}
