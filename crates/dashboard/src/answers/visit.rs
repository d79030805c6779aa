//! `GET /api/v1/history`

use serde::Deserialize;

use super::event::Change;
use super::page::Version;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Visit {
    pub started: Option<String>,
    pub outcome: String,
    pub status: Option<u16>,
    pub detail: String,
    pub version: Option<Version>,
    pub wire_bytes: u64,
    pub imported: bool,
    pub second_look: bool,
    /// Whether something was left when noise was set aside.
    pub changed: Option<bool>,
    pub event: Option<String>,
    pub folded: bool,
    pub seen_same: Option<String>,
    pub seen_different: Option<String>,
    pub change: Option<Change>,
}

/// Everything that is kept of one visit.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Evidence {
    #[serde(flatten)]
    pub visit: Visit,
    pub finished: Option<String>,
    pub decided_by: Option<String>,
    pub address: Option<String>,
    pub record: Option<Place>,
    pub counted: Option<bool>,
}

/// Where a record lies in the WARC files.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Place {
    pub segment: u64,
    pub offset: u64,
    pub length: u64,
}

impl Visit {
    /// Whether the visit gave nothing: it failed, or was refused.
    pub fn is_trouble(&self) -> bool {
        ["failed", "refused", "blocked", "gone"].contains(&&*self.outcome)
    }

    /// Whether a difference was found and all of it was set aside.
    pub fn is_noise(&self) -> bool {
        self.changed == Some(false) && self.change.as_ref().is_some_and(|change| !change.kinds.is_empty())
    }
}
