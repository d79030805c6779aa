//! `GET /api/v1/diff`

use serde::Deserialize;

use super::event::Change;
use super::page::Version;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Diff {
    pub url: String,
    pub from: Version,
    pub to: Version,
    pub seen_same: Option<String>,
    pub seen_different: Option<String>,
    pub changed: bool,
    pub bytes_differ: bool,
    #[serde(flatten)]
    pub change: Change,
    pub paragraphs: Vec<DiffParagraph>,
    pub fallback: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct DiffParagraph {
    pub op: String,
    pub id: Option<String>,
    pub role: String,
    pub headings: Vec<String>,
    pub position: u32,
    pub from: Option<u32>,
    pub before: Option<String>,
    pub after: Option<String>,
    pub words: Vec<Edit>,
}

/// Words that stayed, came or went.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Edit {
    pub op: String,
    pub text: String,
}
