//! Finds the version that each paragraph and each of its words came from. Noise is no edit: words that differ only by
//! suppressed noise keep the history of the words before them.

use serde::Serialize;
use vernal_model::{Document, Moment, Operation, Role};

use super::difference::{role_by_name, word_edits};
use super::explain::{after, before};
use super::matching::{Pairing, match_paragraphs};
use super::steps::{STEPS_MAX, Steps};
use super::words::{BOUNDARY, text_of};
use super::{WordEdit, WordOperation};
use crate::noise::{Shape, builtin};

/// A version and the Moment of its visit.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenVersion {
    pub version: u32,
    pub moment: Moment,
}

/// A paragraph of the last version, with its history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlamedParagraph {
    /// Its index in the last version, from 0.
    pub position: u32,
    #[serde(serialize_with = "role_by_name")]
    pub role: Role,
    /// The version that added it.
    pub born: SeenVersion,
    /// The version that last changed its words, or the one that added it.
    pub edited: SeenVersion,
    /// How many versions changed its words.
    pub edits: u32,
    /// Its text in pieces, each with the version that added these words. Together they are the whole text.
    pub words: Vec<BlamedWords>,
}

impl BlamedParagraph {
    pub fn text(&self) -> String {
        self.words.iter().map(|words| &*words.text).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlamedWords {
    #[serde(flatten)]
    pub seen: SeenVersion,
    pub text: Box<str>,
}

/// Processes the versions of a page from the oldest to the newest and holds one of them at a time.
#[derive(Debug, Default)]
pub struct Blame {
    last: Document,
    paragraphs: Vec<BlamedParagraph>,
    shapes: Vec<Shape>,
}

impl Blame {
    pub fn new() -> Self {
        Blame::default()
    }

    /// A blame that also knows the learned noise of the page, as shapes (see `noise::shapes_on`).
    pub fn with_shapes(shapes: Vec<Shape>) -> Self {
        Blame { shapes, ..Blame::default() }
    }

    /// Adds the next version.
    pub fn version(&mut self, number: u32, moment: Moment, document: &Document) {
        let seen = SeenVersion { version: number, moment };
        let matching = match_paragraphs(&self.last, document, &mut Steps::new(STEPS_MAX));
        let mut steps = Steps::new(STEPS_MAX);
        let mut old: Vec<Option<BlamedParagraph>> =
            std::mem::take(&mut self.paragraphs).into_iter().map(Some).collect();
        let mut new: Vec<Option<BlamedParagraph>> = vec![None; document.paragraphs.len()];
        let moves = matching.links.iter().flat_map(|link| link.reordered.iter().copied());
        for (from, to) in matching.stayed.iter().copied().chain(moves) {
            new[to] = old[from].take();
        }
        for link in &matching.links {
            self.follow(link, document, seen, &mut old, &mut new, &mut steps);
        }
        let all = new.into_iter().enumerate().map(|(place, past)| BlamedParagraph {
            position: place as u32,
            role: document.paragraphs[place].role,
            ..past.unwrap_or_else(|| born(seen, text_of(document, place)))
        });
        self.paragraphs = all.collect();
        // The history has no links and other parts.
        self.last =
            Document { text: document.text.clone(), paragraphs: document.paragraphs.clone(), ..Document::default() };
    }

    /// The paragraphs of the last version.
    pub fn finish(self) -> Vec<BlamedParagraph> {
        self.paragraphs
    }

    /// Passes the history of the old paragraphs of a pairing to the new ones.
    fn follow(
        &self,
        link: &Pairing,
        document: &Document,
        seen: SeenVersion,
        old: &mut [Option<BlamedParagraph>],
        new: &mut [Option<BlamedParagraph>],
        steps: &mut Steps,
    ) {
        let (Some(from), Some(to)) = (link.from, link.to) else { return };
        let (Some(before), Some(after)) = (before(&self.last, link), after(document, link)) else { return };
        let others = |wanted: Operation| if link.operation == wanted { &link.others[..] } else { &[] };
        let sources = in_order(from, others(Operation::Merged));
        let parts = in_order(to, others(Operation::Split));
        let pasts: Vec<BlamedParagraph> = sources.iter().filter_map(|&place| old[place].clone()).collect();
        let Some(past) = old[from].take() else { return };
        if before == after {
            new[to] = Some(past);
            return;
        }
        let edits = word_edits(&before, &after, steps)
            .unwrap_or_else(|| vec![WordEdit { op: WordOperation::Added, text: Box::from(&*after) }]);
        if link.operation == Operation::Edited && self.is_noise(&before, &after) {
            let words = blamed_lines(&pasts, &edits, past.edited).into_iter().next().unwrap_or_default();
            new[to] = Some(BlamedParagraph { words, ..past });
            return;
        }
        let lines = blamed_lines(&pasts, &edits, seen);
        for (place, words) in parts.into_iter().zip(lines) {
            let (born, edits) = if place == to { (past.born, past.edits + 1) } else { (seen, 0) };
            new[place] = Some(BlamedParagraph { born, edited: seen, edits, words, ..past.clone() });
        }
    }

    fn is_noise(&self, before: &str, after: &str) -> bool {
        let (quiet_before, quiet_after) = (builtin::words(before), builtin::words(after));
        let is_builtin = quiet_before.detector.or(quiet_after.detector).is_some();
        is_builtin && quiet_before.text == quiet_after.text
            || self.shapes.iter().any(|shape| shape.matches(before) && shape.matches(after))
    }
}

/// The blame of versions that are all in memory, oldest first.
pub fn blame<'a>(versions: impl IntoIterator<Item = (u32, Moment, &'a Document)>) -> Vec<BlamedParagraph> {
    let mut blame = Blame::new();
    for (number, moment, document) in versions {
        blame.version(number, moment, document);
    }
    blame.finish()
}

fn born(seen: SeenVersion, text: &str) -> BlamedParagraph {
    let words = vec![BlamedWords { seen, text: Box::from(text) }];
    BlamedParagraph { position: 0, role: Role::Main, born: seen, edited: seen, edits: 0, words }
}

fn in_order(place: usize, others: &[usize]) -> Vec<usize> {
    let mut all = others.to_vec();
    all.push(place);
    all.sort_unstable();
    all
}

/// The origin of the words of the new text, paragraph by paragraph. Words that stayed keep their history; added words belong to
/// this version.
fn blamed_lines(pasts: &[BlamedParagraph], edits: &[WordEdit], seen: SeenVersion) -> Vec<Vec<BlamedWords>> {
    // The pieces of the old text are enough; an entry per character would be long.
    let boundary = BlamedWords { seen, text: Box::from("\n") };
    let mut pieces = pasts
        .iter()
        .enumerate()
        .flat_map(|(place, past)| (place > 0).then(|| boundary.clone()).into_iter().chain(past.words.iter().cloned()));
    let mut piece: Option<(SeenVersion, Box<str>, usize)> = None;
    let mut lines: Vec<Vec<BlamedWords>> = vec![Vec::new()];
    for edit in edits {
        if edit.op == WordOperation::Added {
            add(&mut lines, seen, &edit.text);
            continue;
        }
        let mut rest: &str = &edit.text;
        while !rest.is_empty() {
            if piece.as_ref().is_none_or(|(_, text, at)| *at >= text.len()) {
                piece = pieces.next().map(|next| (next.seen, next.text, 0));
            }
            let Some((whose, text, at)) = &mut piece else {
                break;
            };
            let left = &text[*at..];
            // A space that is only in the edit belongs to the word after it.
            let virtual_space = usize::from(rest.starts_with(' ') && !left.starts_with(' '));
            let length = common_length(&rest[virtual_space..], left);
            if length == 0 && virtual_space == 0 {
                break;
            }
            let taken = &rest[..virtual_space + length];
            if edit.op == WordOperation::Same {
                add(&mut lines, *whose, taken);
            }
            *at += length;
            rest = &rest[virtual_space + length..];
        }
        if edit.op == WordOperation::Same {
            add(&mut lines, seen, rest);
        }
    }
    lines
}

/// How many bytes two texts have in common at their beginning, up to a whole letter.
fn common_length(a: &str, b: &str) -> usize {
    let pairs = a.chars().zip(b.chars());
    pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

/// Adds words to the last line. A boundary begins the next line, and no line begins with a space.
fn add(lines: &mut Vec<Vec<BlamedWords>>, seen: SeenVersion, text: &str) {
    for (count, part) in text.split(BOUNDARY).enumerate() {
        if count > 0 {
            lines.push(Vec::new());
        }
        let Some(line) = lines.last_mut() else { return };
        let part = if line.is_empty() { part.strip_prefix(' ').unwrap_or(part) } else { part };
        match line.last_mut() {
            _ if part.is_empty() => {}
            Some(last) if last.seen == seen => last.text = format!("{}{part}", last.text).into(),
            _ => line.push(BlamedWords { seen, text: Box::from(part) }),
        }
    }
}
