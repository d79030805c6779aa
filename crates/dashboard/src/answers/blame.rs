//! `GET /api/v1/blame`

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Blame {
    pub url: String,
    pub version: u32,
    pub first: u32,
    pub versions: u64,
    pub without_body: Vec<u32>,
    pub paragraphs: Vec<BlamedParagraph>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct BlamedParagraph {
    pub id: Option<String>,
    pub position: u32,
    pub role: String,
    pub text: String,
    pub born: Seen,
    pub edited: Seen,
    pub edits: u64,
    pub words: Vec<BlamedWords>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Seen {
    pub version: u32,
    pub moment: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct BlamedWords {
    pub version: u32,
    pub text: String,
}
