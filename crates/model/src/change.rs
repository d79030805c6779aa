//! How two signatures differ.

use serde::{Deserialize, Serialize};

use crate::Role;

/// The difference of two versions, with its evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub kinds: Kinds,
    /// From 0 to 1: how much of what a reader sees differs.
    pub magnitude: f32,
    pub decided_by: DecidedBy,
    pub paragraphs: Vec<ParagraphChange>,
}

impl Change {
    /// Whether there is something to tell: some kind of the page differs.
    pub fn is_change(&self) -> bool {
        !self.kinds.is_empty()
    }
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
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn contains(self, kind: Kind) -> bool {
        self.0 & kind as u8 != 0
    }

    pub fn insert(&mut self, kind: Kind) {
        self.0 |= kind as u8;
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
    pub digest: u64,
    pub role: Role,
    /// Its place among the paragraphs of the version that has it, from 0.
    pub position: u32,
    pub before: Option<Box<str>>,
    pub after: Option<Box<str>>,
}
