//! `GET /api/v1/changes`, `/changes/{id}` and `/changes/count`

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Event {
    pub id: String,
    pub cursor: String,
    pub event: String,
    pub url: String,
    pub site: String,
    pub title: String,
    pub language: String,
    pub version: Option<u32>,
    pub previous: Option<u32>,
    pub seen_same: Option<String>,
    pub seen_different: Option<String>,
    #[serde(flatten)]
    pub change: Change,
    pub paragraphs: Vec<Paragraph>,
    pub detail: String,
    #[serde(flatten)]
    pub around: Around,
}

/// What stands around a change: its fold, its names, the mark of people.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Around {
    pub tags: Vec<String>,
    pub content_type: String,
    pub fold: Option<String>,
    pub pages: Option<u32>,
    pub sample: Vec<SamplePage>,
    pub unread: Option<String>,
    pub mark: Option<Mark>,
    pub tally: Option<Tally>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Mark {
    pub state: String,
    pub by: Option<String>,
    pub at: Option<String>,
    pub note: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Tally {
    pub added: u64,
    pub removed: u64,
    pub edited: u64,
    pub moved: u64,
    pub split: u64,
    pub merged: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SamplePage {
    pub url: String,
    pub version: u32,
    pub id: Option<String>,
}

/// The verdict, in the feed, the history and a diff.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Change {
    pub kinds: Vec<String>,
    pub left: Vec<String>,
    pub magnitude: f64,
    pub degree: String,
    pub decided_by: Option<String>,
    pub flapping: bool,
    pub notes: Vec<Note>,
    pub noise: Vec<Noise>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Note {
    pub kind: String,
    pub what: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Noise {
    pub kind: String,
    pub detector: String,
    pub rule: Option<u32>,
    pub before: Option<String>,
    pub after: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Paragraph {
    pub op: String,
    pub id: Option<String>,
    pub role: String,
    pub headings: Vec<String>,
    pub position: u32,
    pub from: Option<u32>,
    pub before: Option<String>,
    pub after: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Counts {
    pub total: u64,
    pub exact: bool,
    pub event: BTreeMap<String, u64>,
    pub kind: BTreeMap<String, u64>,
    pub degree: BTreeMap<String, u64>,
    pub site: BTreeMap<String, u64>,
    pub tag: BTreeMap<String, u64>,
    pub mark: BTreeMap<String, u64>,
}

impl Event {
    /// How many paragraphs came, went, changed and moved.
    pub fn tally(&self) -> Tally {
        if let Some(tally) = &self.around.tally {
            return tally.clone();
        }
        let count = |op: &str| self.paragraphs.iter().filter(|one| one.op == op).count() as u64;
        Tally {
            added: count("added"),
            removed: count("removed"),
            edited: count("edited"),
            moved: count("moved"),
            split: count("split"),
            merged: count("merged"),
        }
    }
}
