//! The difference of two signatures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ParagraphMark, Role};

/// The difference of two versions, with its evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Every kind that differs, noise included.
    pub kinds: Kinds,
    /// The kinds that still differ without the noise.
    pub left: Kinds,
    /// From 0 to 1: the share of the visible text that differs, weighted by role.
    pub magnitude: f32,
    pub degree: Degree,
    pub decided_by: DecidedBy,
    /// What happened to paragraphs, without noise.
    pub paragraphs: Vec<ParagraphChange>,
    /// Other differences (links, images, scripts, forms, styles, meta), without noise.
    pub notes: Vec<Note>,
    /// The suppressed differences, each with its reason.
    pub noise: Vec<Suppressed>,
    /// Whether the page has returned to the content before the last version (A, B, A).
    pub flapping: bool,
}

impl Change {
    /// Whether something is left that matters to a reader.
    pub fn is_change(&self) -> bool {
        !self.left.is_empty()
    }

    /// Whether bytes or marks differ and all of it was noise.
    pub fn is_noise(&self) -> bool {
        self.left.is_empty() && !self.kinds.is_empty()
    }
}

/// How large a change is.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Degree {
    #[default]
    None,
    /// Nothing in the visible text.
    Hidden,
    Slight,
    Moderate,
    Large,
    /// Hardly anything is unchanged.
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

/// A difference outside the paragraphs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    pub kind: Kind,
    /// The part of the page: "link", "image", "script source", "form target", "style sheet" and so on.
    pub what: Box<str>,
    pub before: Option<Box<str>>,
    pub after: Option<Box<str>>,
}

/// A suppressed difference, which is noise, with its reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suppressed {
    pub kind: Kind,
    /// The built-in detector ("token", "relative time" and so on), or `learned`.
    pub detector: Box<str>,
    /// The learned rule of the site that explains it.
    pub rule: Option<u32>,
    pub before: Option<Box<str>>,
    pub after: Option<Box<str>>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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

/// The cheapest test that could decide, in the order of the paper.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DecidedBy {
    /// The site said so (304).
    Validators,
    /// The bytes are the same, or only bytes can be compared.
    #[default]
    Digest,
    Structure,
    Content,
    Presentation,
    Behaviour,
    /// The bytes differ, but nothing else that we compare.
    Nothing,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// The number of the paragraph within its page (see `ParagraphMark`); 0 where there is no repository.
    pub id: u32,
    pub digest: u64,
    pub role: Role,
    /// Its index among the paragraphs of its version, from 0: the new version, or the old one if it was removed.
    pub position: u32,
    /// Its index in the old version, if it was there.
    pub from: Option<u32>,
    /// The other parts of a split (new indices), the other sources of a merge (old indices), or, for a move within a list, the
    /// other moved items (new indices).
    pub others: Vec<u32>,
    /// The headings above it, the highest first.
    pub headings: Vec<Box<str>>,
    pub before: Option<Box<str>>,
    pub after: Option<Box<str>>,
}

impl ParagraphChange {
    /// A paragraph that is gone, by its mark and its index in the old version.
    pub fn removed(place: usize, mark: &ParagraphMark) -> ParagraphChange {
        ParagraphChange {
            operation: Operation::Removed,
            id: mark.id,
            digest: mark.digest,
            role: mark.role,
            position: place as u32,
            from: None,
            others: Vec::new(),
            headings: Vec::new(),
            before: None,
            after: None,
        }
    }
}
