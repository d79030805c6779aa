//! Describes a change by its paragraphs, with their words, for the change feed.

use std::borrow::Cow;
use std::cell::LazyCell;

use vernal_model::{Change, Document, Kind, Operation, ParagraphChange};

use super::headings::Headings;
use super::matching::{Pairing, match_paragraphs};
use super::steps::{STEPS_MAX, Steps};
use super::words::text_of;
use crate::parse::links::limited;

/// The text limit of one side of a paragraph change, to keep events small.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// The text limit of all paragraph changes of one event. Beyond it, operations have no words.
const TEXT_BYTES_TOTAL_MAX: usize = 1 << 20;

/// Fills in what happened to the paragraphs, in reading order. With equal words nothing happened, because boundaries between
/// paragraphs are structure. A change that is all noise lists no paragraphs either.
///
/// A split or a merge has the words of all its parts or sources in `after` or `before`, joined by line feeds. A move
/// within a list names in `others` the new places of the items that changed places with it.
pub fn explain(old: &Document, new: &Document, change: &mut Change) {
    change.paragraphs.clear();
    if change.left.contains(Kind::Content) && !same_words(old, new) {
        change.paragraphs = operations(old, new);
    }
}

/// What happened to the paragraphs, including changed boundaries.
pub fn operations(old: &Document, new: &Document) -> Vec<ParagraphChange> {
    let matching = match_paragraphs(old, new, &mut Steps::new(STEPS_MAX));
    if matching.links.is_empty() {
        return Vec::new();
    }
    // Headings of the old version are needed for removed paragraphs only.
    let old_headings = LazyCell::new(|| Headings::of(old));
    let new_headings = LazyCell::new(|| Headings::of(new));
    let mut bytes_left = TEXT_BYTES_TOTAL_MAX;
    let links = matching.links.iter();
    let trail = |link: &Pairing| match (link.to, link.from) {
        (Some(to), _) => new_headings.trail(new, to),
        (None, from) => old_headings.trail(old, from.unwrap_or_default()),
    };
    links.map(|link| one(old, new, link, trail(link), &mut bytes_left)).collect()
}

fn one(
    old: &Document,
    new: &Document,
    link: &Pairing,
    headings: Vec<Box<str>>,
    bytes_left: &mut usize,
) -> ParagraphChange {
    let (document, place) = match (link.to, link.from) {
        (Some(to), _) => (new, to),
        (None, from) => (old, from.unwrap_or_default()),
    };
    let mut kept = |text: Cow<'_, str>| -> Option<Box<str>> {
        let text = limited(&text, TEXT_BYTES_MAX);
        *bytes_left = bytes_left.checked_sub(text.len())?;
        Some(Box::from(text))
    };
    ParagraphChange {
        operation: link.operation,
        id: 0,
        digest: document.paragraphs[place].digest,
        role: document.paragraphs[place].role,
        position: place as u32,
        from: link.to.and(link.from).map(|from| from as u32),
        others: link
            .others
            .iter()
            .copied()
            .chain(link.reordered.iter().map(|pair| pair.1))
            .map(|at| at as u32)
            .collect(),
        headings,
        before: before(old, link).and_then(&mut kept),
        after: after(new, link).and_then(&mut kept),
    }
}

/// The old words of a pairing. The sources of a merge are joined by line feeds.
pub fn before<'a>(old: &'a Document, link: &Pairing) -> Option<Cow<'a, str>> {
    let others = if link.operation == Operation::Merged { &link.others[..] } else { &[] };
    Some(joined(old, link.from?, others))
}

/// The new words of a pairing. The parts of a split are joined by line feeds.
pub fn after<'a>(new: &'a Document, link: &Pairing) -> Option<Cow<'a, str>> {
    let others = if link.operation == Operation::Split { &link.others[..] } else { &[] };
    Some(joined(new, link.to?, others))
}

fn joined<'a>(document: &'a Document, place: usize, others: &[usize]) -> Cow<'a, str> {
    if others.is_empty() {
        return Cow::Borrowed(text_of(document, place));
    }
    let mut places = others.to_vec();
    places.push(place);
    places.sort_unstable();
    let texts: Vec<&str> = places.iter().map(|&place| text_of(document, place)).collect();
    Cow::Owned(texts.join("\n"))
}

/// Whether a reader reads the same words in the same order, wherever paragraphs end.
fn same_words(old: &Document, new: &Document) -> bool {
    let folded = |byte: u8| if byte == b'\n' { b' ' } else { byte };
    let mut both = old.text.bytes().zip(new.text.bytes());
    old.text.len() == new.text.len() && both.all(|(a, b)| folded(a) == folded(b))
}
