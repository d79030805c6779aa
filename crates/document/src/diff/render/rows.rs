//! The order in which changed and unchanged paragraphs are shown.

use vernal_model::{Document, Operation};

use super::View;
use crate::diff::{Diff, ParagraphDiff, WordEdit, WordOperation};

/// Unchanged words kept on both sides of a change inside a long paragraph, in bytes.
const AROUND_BYTES: usize = 80;

#[derive(Clone, Debug, PartialEq)]
pub enum Row<'a> {
    Changed(&'a ParagraphDiff),
    /// An unchanged paragraph, by its new place.
    Same(usize),
    /// So many unchanged paragraphs that are not shown.
    Skipped(usize),
}

pub fn rows<'a>(diff: &'a Diff, new: &Document, view: &View<'_>) -> Vec<Row<'a>> {
    let (old_touched, new_touched) = touched(diff);
    let same: Vec<usize> =
        (0..new.paragraphs.len()).filter(|&place| new_touched.binary_search(&(place as u32)).is_err()).collect();
    let mut rows = Vec::new();
    let mut shown = 0;
    for (count, paragraph) in diff.paragraphs.iter().enumerate() {
        let touched = if paragraph.op == Operation::Removed { &old_touched } else { &new_touched };
        let before = touched.partition_point(|&place| place < paragraph.position);
        let until = (paragraph.position as usize - before).clamp(shown, same.len());
        push_same(&mut rows, &same[shown..until], if count == 0 { 0 } else { view.context }, view.context, view.full);
        rows.push(Row::Changed(paragraph));
        shown = until;
    }
    let after = if diff.paragraphs.is_empty() { 0 } else { view.context };
    push_same(&mut rows, &same[shown..], after, 0, view.full);
    rows
}

/// The changed places of both versions, in order.
pub fn touched(diff: &Diff) -> (Vec<u32>, Vec<u32>) {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for paragraph in &diff.paragraphs {
        if paragraph.op == Operation::Removed { &mut old } else { &mut new }.push(paragraph.position);
        old.extend(paragraph.from);
        if paragraph.op == Operation::Merged { &mut old } else { &mut new }.extend(&paragraph.others);
        old.extend(paragraph.reordered.iter().map(|pair| pair.0));
        new.extend(paragraph.reordered.iter().map(|pair| pair.1));
    }
    old.sort_unstable();
    new.sort_unstable();
    (old, new)
}

/// Unchanged paragraphs: the first `head` and the last `tail` of them, or all.
fn push_same(rows: &mut Vec<Row<'_>>, places: &[usize], head: usize, tail: usize, full: bool) {
    // Eviction out a single paragraph would save no line.
    if full || places.len() <= head + tail + 1 {
        rows.extend(places.iter().map(|&place| Row::Same(place)));
        return;
    }
    rows.extend(places[..head].iter().map(|&place| Row::Same(place)));
    rows.push(Row::Skipped(places.len() - head - tail));
    rows.extend(places[places.len() - tail..].iter().map(|&place| Row::Same(place)));
}

/// The words of an edit with long unchanged runs shortened to their beginning and end.
pub fn shortened<'a>(words: &'a [WordEdit], view: &View<'_>) -> Vec<(WordOperation, &'a str, Option<&'a str>)> {
    let one = |(place, word): (usize, &'a WordEdit)| {
        let text: &str = &word.text;
        let (is_first, is_last) = (place == 0, place + 1 == words.len());
        let kept = AROUND_BYTES * 2;
        if view.full || word.op != WordOperation::Same || text.len() <= kept * 2 {
            return (word.op, text, None);
        }
        let head = if is_first { 0 } else { AROUND_BYTES };
        let tail = if is_last { 0 } else { AROUND_BYTES };
        let head = text[..text.floor_char_boundary(head)].rfind(' ').unwrap_or(text.floor_char_boundary(head));
        let from = text.ceil_char_boundary(text.len() - tail);
        let from = text[from..].find(' ').map_or(from, |space| from + space);
        (word.op, &text[..head], Some(&text[from..]))
    };
    words.iter().enumerate().map(one).collect()
}

/// The remark on a moved, split or merged paragraph. Places are counted from one.
pub fn remark(paragraph: &ParagraphDiff) -> String {
    let from = paragraph.from.unwrap_or_default() + 1;
    let to = paragraph.position + 1;
    match paragraph.op {
        Operation::Moved if !paragraph.reordered.is_empty() => {
            format!("moved from {from} to {to}, with {} more of its list", paragraph.reordered.len())
        }
        Operation::Moved => format!("moved from {from} to {to}"),
        Operation::Split => format!("split into {}", paragraph.others.len() + 1),
        Operation::Merged => format!("merged of {}", paragraph.others.len() + 1),
        Operation::Added => "added".into(),
        Operation::Removed => "removed".into(),
        Operation::Edited => "edited".into(),
    }
}
