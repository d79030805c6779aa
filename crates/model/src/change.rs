//! How two signatures differ.

use serde::{Deserialize, Serialize};

use crate::Role;

/// The difference of two versions, with its evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Every kind that differs, noise included.
    pub kinds: Kinds,
    /// The kinds that still differ when noise is set aside.
    pub left: Kinds,
    /// From 0 to 1: how much of what a reader sees differs, weighted by role and place.
    pub magnitude: f32,
    pub degree: Degree,
    pub decided_by: DecidedBy,
    /// What happened to paragraphs, noise left out.
    pub paragraphs: Vec<ParagraphChange>,
    /// What else differs and can be told in words (links, images, scripts, forms, styles, meta), noise left out.
    pub notes: Vec<Note>,
    /// What was set aside, and why.
    pub noise: Vec<SetAside>,
    /// The page is again what it was before the version before (A, B, A).
    pub flapping: bool,
}

impl Change {
    /// Whether something is left that a reader would care about.
    pub fn is_change(&self) -> bool {
        !self.left.is_empty()
    }

    /// Whether bytes or marks differ and all of it was set aside.
    pub fn is_noise(&self) -> bool {
        self.left.is_empty() && !self.kinds.is_empty()
    }
}

/// How large a change is, in words.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Degree {
    #[default]
    None,
    /// Nothing that a reader reads.
    Hidden,
    Slight,
    Moderate,
    Large,
    /// Hardly anything is the same.
    Total,
}

impl Degree {
    pub fn name(self) -> &'static str {
        match self {
            Degree::None => "none",
            Degree::Hidden => "hidden",
            Degree::Slight => "slight",
            Degree::Moderate => "moderate",
            Degree::Large => "large",
            Degree::Total => "total",
        }
    }
}

/// A difference outside of the paragraphs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    pub kind: Kind,
    /// What it is: "link", "image", "script source", "form target", "style sheet" and so on.
    pub what: Box<str>,
    pub before: Option<Box<str>>,
    pub after: Option<Box<str>>,
}

/// A difference that means nothing, and why we think so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetAside {
    pub kind: Kind,
    /// The built-in detector ("token", "relative time" and so on), or `learned`.
    pub detector: Box<str>,
    /// The learned rule of the site that explains it.
    pub rule: Option<u32>,
    pub before: Option<Box<str>>,
    pub after: Option<Box<str>>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Kind {
    Structure = 1,
    Content = 2,
    Presentation = 4,
    Behaviour = 8,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Structure, Kind::Content, Kind::Presentation, Kind::Behaviour];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Structure => "structure",
            Kind::Content => "content",
            Kind::Presentation => "presentation",
            Kind::Behaviour => "behaviour",
        }
    }
}

/// A set of kinds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kinds(u8);

impl Kinds {
    pub fn of(kinds: &[Kind]) -> Self {
        Kinds(kinds.iter().fold(0, |all, &kind| all | kind as u8))
    }

    pub fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn contains(self, kind: Kind) -> bool {
        self.0 & kind as u8 != 0
    }

    pub fn insert(&mut self, kind: Kind) {
        self.0 |= kind as u8;
    }

    pub fn remove(&mut self, kind: Kind) {
        self.0 &= !(kind as u8);
    }

    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(move |&kind| self.contains(kind))
    }
}

/// The cheapest test that could decide, in the paper's order of cheapness.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecidedBy {
    /// The site said so (304).
    Validators,
    /// The bytes are the same, or nothing but bytes can be compared.
    #[default]
    Digest,
    Structure,
    Content,
    Presentation,
    Behaviour,
    /// Bytes differ and nothing that we compare does.
    Nothing,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    Added,
    Removed,
    Edited,
    Moved,
    Split,
    Merged,
}

/// What happened to one paragraph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParagraphChange {
    pub operation: Operation,
    /// The paragraph's number within its page (see `ParagraphMark`); 0 where there is no repository to give one.
    pub id: u32,
    pub digest: u64,
    pub role: Role,
    /// Its place among the paragraphs of the version that has it, from 0: the new one, or the old one if removed.
    pub position: u32,
    /// Where it was before, if it was.
    pub from: Option<u32>,
    /// The other paragraphs of a split (which it became, new places) or of a merge (which became it, old places); of a
    /// move within a list, the other items that changed places with it (new places).
    pub others: Vec<u32>,
    /// The headings above it, the highest first.
    pub headings: Vec<Box<str>>,
    pub before: Option<Box<str>>,
    pub after: Option<Box<str>>,
}
