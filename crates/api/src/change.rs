//! A change as every answer shows it: the same names in the feed, the history, a diff and a comparison of two files.

use schemars::JsonSchema;
use serde::Serialize;
use vernal_model::{
    Change, DecidedBy, Degree, Kind, Note, Operation, PageKey, ParagraphChange, ParagraphKey, Suppressed,
};

/// The verdict, without its paragraphs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangeJson {
    /// Every kind that differs, noise included.
    pub kinds: Vec<Kind>,
    /// The kinds that still differ when noise is set aside.
    pub left: Vec<Kind>,
    pub magnitude: f32,
    pub degree: Degree,
    /// Null for a new page, which was compared with nothing.
    pub decided_by: Option<DecidedBy>,
    pub flapping: bool,
    pub notes: Vec<Note>,
    pub noise: Vec<Suppressed>,
}

/// What happened to one paragraph.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ParagraphChange")]
pub struct Paragraph {
    pub op: Operation,
    /// Null where there is no repository that gave it one.
    pub id: Option<String>,
    pub digest: String,
    pub role: &'static str,
    pub headings: Vec<Box<str>>,
    pub position: u32,
    /// Where it was before, if it was.
    pub from: Option<u32>,
    /// The other places of a split, a merge or a reordered list.
    pub others: Vec<u32>,
    pub before: Option<Box<str>>,
    pub after: Option<Box<str>>,
    /// The parts of a split (in the new version), the sources of a merge (in the old one), or the items of a reordered list.
    pub parts: Vec<PartJson>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartJson {
    pub id: Option<String>,
    pub position: u32,
    pub text: Option<Box<str>>,
}

/// The plain questions, each answered for itself.
#[derive(Copy, Clone, Debug, Serialize, JsonSchema)]
pub struct Answers {
    /// Something is left when noise is set aside.
    pub changed: bool,
    pub bytes_differ: bool,
    pub reader_sees: bool,
    pub only_presentation: bool,
    pub only_behaviour: bool,
    pub only_noise: bool,
}

impl Answers {
    pub fn of(change: &Change, bytes_differ: bool) -> Answers {
        let only = |kind| change.left == vernal_model::Kinds::of(&[kind]);
        Answers {
            changed: change.is_change(),
            bytes_differ,
            reader_sees: change.left.contains(Kind::Content),
            only_presentation: only(Kind::Presentation),
            only_behaviour: only(Kind::Behaviour),
            only_noise: change.is_noise(),
        }
    }
}

impl ChangeJson {
    pub fn of(change: Change) -> ChangeJson {
        let noise = named_noise(&change);
        ChangeJson {
            kinds: change.kinds.iter().collect(),
            left: change.left.iter().collect(),
            magnitude: change.magnitude,
            degree: change.degree,
            decided_by: Some(change.decided_by),
            flapping: change.flapping,
            notes: change.notes,
            noise,
        }
    }
}

/// What was set aside. What marks alone set aside has no words; it is named by its kind, so that every kind that differs
/// and is not left has a reason.
pub fn named_noise(change: &Change) -> Vec<Suppressed> {
    let mut noise = change.noise.clone();
    for kind in change.kinds.iter().filter(|&kind| !change.left.contains(kind)) {
        if !noise.iter().any(|aside| aside.kind == kind) {
            noise.push(Suppressed { kind, detector: "built-in".into(), rule: None, before: None, after: None });
        }
    }
    noise
}

/// `page` is the page whose paragraphs these are; two files have none.
pub fn paragraph(page: Option<PageKey>, change: ParagraphChange) -> Paragraph {
    Paragraph {
        op: change.operation,
        id: paragraph_id(page, change.id),
        digest: digest(change.digest),
        role: change.role.name(),
        headings: change.headings,
        position: change.position,
        from: change.from,
        others: change.others,
        before: change.before,
        after: change.after,
        parts: Vec::new(),
    }
}

pub fn paragraph_id(page: Option<PageKey>, number: u32) -> Option<String> {
    page.filter(|_| number > 0).map(|page| ParagraphKey { page, number }.to_string())
}

pub fn digest(digest: u64) -> String {
    format!("{digest:016x}")
}
