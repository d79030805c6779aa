//! One seam for all methods: two bodies go in; whether they differ, where, and what it cost come out.

use schemars::JsonSchema;
use serde::Serialize;
use vernal_model::{Change, DecidedBy, Degree, Kind};

use super::letters::{LettersFound, Weigh};
use super::words::words;
use super::{fingerprint, letters, tree};
use super::{fingerprint::FingerprintFound, tree::TreeFound};
use crate::{Input, compare_pages, read_closely};

/// A method of change detection.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The document tree of paper 003.
    Tree,
    /// The letters of the opening tags of paper 003.
    Fingerprint,
    /// The root mean square of paper 003.
    Rms,
    /// The weighted checksum of paper 003.
    Checksum,
    /// Ours: the marks of two signatures, then the words, with noise set aside.
    Vernal,
}

impl Method {
    pub const ALL: [Method; 5] = [Method::Tree, Method::Fingerprint, Method::Rms, Method::Checksum, Method::Vernal];

    pub fn name(self) -> &'static str {
        match self {
            Method::Tree => "tree",
            Method::Fingerprint => "fingerprint",
            Method::Rms => "rms",
            Method::Checksum => "checksum",
            Method::Vernal => "vernal",
        }
    }

    pub fn by_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Runs this method alone.
    pub fn compare(self, old: &Input<'_>, new: &Input<'_>) -> MethodVerdict {
        let (changed, found, cost) = match self {
            Method::Tree => tree::compared(old, new),
            Method::Fingerprint => fingerprint::compared(old, new),
            Method::Rms => letters::compared(old, new, Weigh::Rms),
            Method::Checksum => letters::compared(old, new, Weigh::Checksum),
            Method::Vernal => vernal(old, new),
        };
        MethodVerdict { method: self, changed, words: words(&found), found, cost }
    }
}

/// What one method says of two bodies.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MethodVerdict {
    pub method: Method,
    pub changed: bool,
    /// What it found, in one line.
    pub words: String,
    pub found: Found,
    pub cost: Cost,
}

/// What a method found, and where.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Found {
    Tree(TreeFound),
    Fingerprint(FingerprintFound),
    /// Root mean square or checksum.
    Letters(LettersFound),
    Vernal(VernalFound),
}

/// What a method cost, in counts that do not depend on the machine.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cost {
    /// The bytes of both sources.
    pub bytes_read: usize,
    /// What was made of them: nodes, tags, or paragraphs.
    pub items: usize,
    /// What must be kept of the newer version to compare it with the next.
    pub kept_bytes: usize,
}

/// What our method found; `compare_pages` says it in full.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VernalFound {
    pub kinds: Vec<Kind>,
    pub left: Vec<Kind>,
    pub degree: Degree,
    pub magnitude: f32,
    pub decided_by: DecidedBy,
    /// Paragraphs, and parts of the page outside them, that differ.
    pub paragraphs: usize,
    pub notes: usize,
}

/// The bytes of a packed signature, and of each paragraph in it.
const SIGNATURE_BYTES: usize = 202;
const PARAGRAPH_MARK_BYTES: usize = 15;

fn vernal(old: &Input<'_>, new: &Input<'_>) -> (bool, Found, Cost) {
    let (read_old, read_new) = (read_closely(old), read_closely(new));
    let change = compare_pages(&read_old, &read_new);
    let (old_paragraphs, new_paragraphs) = (read_old.signature.paragraphs.len(), read_new.signature.paragraphs.len());
    let cost = Cost {
        bytes_read: old.bytes.len() + new.bytes.len(),
        items: old_paragraphs + new_paragraphs,
        kept_bytes: SIGNATURE_BYTES + PARAGRAPH_MARK_BYTES * new_paragraphs,
    };
    (change.is_change(), Found::Vernal(VernalFound::of(&change)), cost)
}

impl VernalFound {
    pub fn of(change: &Change) -> Self {
        VernalFound {
            kinds: change.kinds.iter().collect(),
            left: change.left.iter().collect(),
            degree: change.degree,
            magnitude: change.magnitude,
            decided_by: change.decided_by,
            paragraphs: change.paragraphs.len(),
            notes: change.notes.len(),
        }
    }
}

/// What the four methods of paper 003 say of two versions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PaperVerdicts {
    pub tree: MethodVerdict,
    pub fingerprint: MethodVerdict,
    pub rms: MethodVerdict,
    pub checksum: MethodVerdict,
}

impl PaperVerdicts {
    pub fn all(&self) -> [&MethodVerdict; 4] {
        [&self.tree, &self.fingerprint, &self.rms, &self.checksum]
    }
}

/// Runs the four methods of paper 003.
pub fn paper_verdicts(old: &Input<'_>, new: &Input<'_>) -> PaperVerdicts {
    PaperVerdicts {
        tree: Method::Tree.compare(old, new),
        fingerprint: Method::Fingerprint.compare(old, new),
        rms: Method::Rms.compare(old, new),
        checksum: Method::Checksum.compare(old, new),
    }
}
