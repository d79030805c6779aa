//! What differs between two versions, as JSON.

use schemars::JsonSchema;
use serde::Serialize;
use vernal_document::diff::{Fallback, ParagraphDiff, Unchanged, WordEdit};
use vernal_document::methods::PaperVerdicts;
use vernal_model::{Operation, Page};

use super::change::{self, Answers, ChangeJson};
use super::page::VersionRow;

#[derive(Serialize, JsonSchema)]
pub struct DiffAnswer {
    pub url: String,
    pub from: VersionRow,
    pub to: VersionRow,
    /// The last visit that found the older of two neighbouring versions, and the first that found the newer.
    pub seen_same: Option<String>,
    pub seen_different: Option<String>,
    #[serde(flatten)]
    pub answers: Answers,
    #[serde(flatten)]
    pub change: ChangeJson,
    pub paragraphs: Vec<Paragraph>,
    pub fallback: Option<Fallback>,
    /// What the methods of paper 003 say.
    pub papers: PaperVerdicts,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DiffParagraph")]
pub struct Paragraph {
    pub op: Op,
    pub id: Option<String>,
    pub digest: String,
    pub role: &'static str,
    pub headings: Vec<Box<str>>,
    pub position: u32,
    pub from: Option<u32>,
    pub others: Vec<u32>,
    pub before: Option<Box<str>>,
    pub after: Option<Box<str>>,
    pub words: Vec<WordEdit>,
}

/// What happened to a paragraph, or `same` where nothing did.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ParagraphOperation")]
pub enum Op {
    Changed(Operation),
    Same(&'static str),
}

pub fn changed(page: &Page, digest: u64, one: ParagraphDiff) -> Paragraph {
    Paragraph {
        digest: change::digest(digest),
        op: Op::Changed(one.op),
        id: change::paragraph_id(Some(page.key), one.id),
        role: one.role.name(),
        headings: one.headings,
        position: one.position,
        from: one.from,
        others: one.others,
        before: one.before,
        after: one.after,
        words: one.words,
    }
}

/// A paragraph with this number in which nothing changed.
pub fn unchanged(page: &Page, digest: u64, number: u32, one: Unchanged) -> Paragraph {
    Paragraph {
        digest: change::digest(digest),
        op: Op::Same("same"),
        id: change::paragraph_id(Some(page.key), number),
        role: one.role.name(),
        headings: one.headings,
        position: one.position,
        from: one.from,
        others: Vec::new(),
        before: one.from.is_some().then(|| one.text.clone()),
        after: Some(one.text),
        words: Vec::new(),
    }
}
