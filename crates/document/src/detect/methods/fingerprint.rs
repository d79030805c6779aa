//! The document fingerprint (paper 003, 4.1.1.2): two strings of letters for each version, and where they part.

use schemars::JsonSchema;
use serde::Serialize;

use super::method::{Cost, Found};
use super::tree::Sides;
use crate::Input;
use crate::parse::links::limited;
use crate::read::{letters_of, markup_of};
use crate::signature::fingerprint::{TagLetters, written_letters, written_tag};

/// Letters of a fingerprint that are shown; the rest is only counted.
pub const LETTERS_SHOWN_MAX: usize = 2_000;

/// Letters shown before and after the place where two fingerprints part.
const LETTERS_BEFORE: usize = 8;
const LETTERS_AFTER: usize = 16;

const NAME_BYTES_MAX: usize = 40;

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FingerprintFound {
    /// The first letters of the opening tags, and the last ones.
    pub first: Sides<String>,
    pub last: Sides<String>,
    /// How many letters each string has.
    pub letters: Sides<usize>,
    pub parts_at: Option<Parting>,
}

/// Where two fingerprints part.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Parting {
    /// The number of the opening tag, from 0.
    pub position: usize,
    /// The tags there; null behind the end of one version.
    pub tag: Sides<Option<String>>,
    /// The first letters around it.
    pub around: Sides<String>,
}

pub(super) fn compared(old: &Input<'_>, new: &Input<'_>) -> (bool, Found, Cost) {
    let (old_letters, new_letters) = (letters(old), letters(new));
    let lengths = Sides { old: old_letters.first.chars().count(), new: new_letters.first.chars().count() };
    let parts_at = parting(&old_letters, &new_letters).map(|position| Parting {
        position,
        tag: Sides { old: tag(old, position), new: tag(new, position) },
        around: Sides { old: around(&old_letters.first, position), new: around(&new_letters.first, position) },
    });
    let cost = Cost {
        bytes_read: old.bytes.len() + new.bytes.len(),
        items: lengths.old + lengths.new,
        kept_bytes: new_letters.first.len() + new_letters.last.len(),
    };
    let changed = parts_at.is_some();
    let found = FingerprintFound {
        first: Sides { old: shown(&old_letters.first), new: shown(&new_letters.first) },
        last: Sides { old: shown(&old_letters.last), new: shown(&new_letters.last) },
        letters: lengths,
        parts_at,
    };
    (changed, Found::Fingerprint(found), cost)
}

/// A body without markup has no tags.
fn letters(input: &Input<'_>) -> TagLetters {
    markup_of(input).map_or_else(TagLetters::default, |markup| written_letters(&letters_of(input), markup))
}

fn tag(input: &Input<'_>, position: usize) -> Option<String> {
    let name = written_tag(&letters_of(input), markup_of(input)?, position)?;
    Some(limited(&name, NAME_BYTES_MAX).to_owned())
}

/// The first place where either string differs: the second one makes sure where tags begin with the same letter.
fn parting(old: &TagLetters, new: &TagLetters) -> Option<usize> {
    if old == new {
        return None;
    }
    let equal = |old: &str, new: &str| old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count();
    Some(equal(&old.first, &new.first).min(equal(&old.last, &new.last)))
}

fn around(letters: &str, position: usize) -> String {
    letters.chars().skip(position.saturating_sub(LETTERS_BEFORE)).take(LETTERS_BEFORE + LETTERS_AFTER).collect()
}

fn shown(letters: &str) -> String {
    letters.chars().take(LETTERS_SHOWN_MAX).collect()
}
