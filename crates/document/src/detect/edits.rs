//! The words of a change: what each paragraph said before and says now, and which removed one became which added one.

use std::collections::HashMap;

use vernal_model::{Change, Document, Kind, Operation, Paragraph, ParagraphChange};
use xxhash_rust::xxh3::xxh3_64;

use super::alignment::{Alignment, align};
use crate::parse::links::limited;

/// The text of one side of one paragraph change; an event is no place for a book.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Added paragraphs tried for each removed one in the same place.
const TRIED_MAX: usize = 8;

/// Words of a paragraph that are counted when two are held against each other.
const WORDS_MAX: usize = 2_000;

/// Fills in the text of the paragraph changes. A removed and an added paragraph in the same place that share at least
/// half of their words become one that was edited.
pub fn compare_documents(old: &Document, new: &Document, change: &mut Change) {
    if !change.kinds.contains(Kind::Content) || change.paragraphs.is_empty() {
        return;
    }
    let alignment = align(&digests(old), &digests(new));
    let edited = pair_edits(old, new, &alignment);
    let mut before_of: HashMap<usize, usize> = HashMap::with_capacity(edited.len());
    let mut gone: Vec<usize> = alignment.removed.clone();
    for &(from, to) in &edited {
        before_of.insert(to, from);
    }
    let became: std::collections::HashSet<usize> = edited.iter().map(|pair| pair.0).collect();
    gone.retain(|place| !became.contains(place));

    let removed =
        gone.iter().map(|&place| one(Operation::Removed, &old.paragraphs[place], place, Some(text(old, place)), None));
    let added = alignment.added.iter().map(|&place| {
        let paragraph = &new.paragraphs[place];
        match before_of.get(&place) {
            Some(&from) => one(Operation::Edited, paragraph, place, Some(text(old, from)), Some(text(new, place))),
            None => one(Operation::Added, paragraph, place, None, Some(text(new, place))),
        }
    });
    let moved = alignment.moved.iter().map(|&(from, place)| {
        one(Operation::Moved, &new.paragraphs[place], place, Some(text(old, from)), Some(text(new, place)))
    });
    let mut arrived: Vec<ParagraphChange> = added.chain(moved).collect();
    arrived.sort_by_key(|change| change.position);
    change.paragraphs = removed.chain(arrived).collect();
}

fn one(
    operation: Operation,
    paragraph: &Paragraph,
    place: usize,
    before: Option<&str>,
    after: Option<&str>,
) -> ParagraphChange {
    let kept = |text: &str| Box::from(limited(text, TEXT_BYTES_MAX));
    ParagraphChange {
        operation,
        id: 0,
        from: None,
        others: Vec::new(),
        headings: Vec::new(),
        digest: paragraph.digest,
        role: paragraph.role,
        position: place as u32,
        before: before.map(kept),
        after: after.map(kept),
    }
}

fn digests(document: &Document) -> Vec<u64> {
    document.paragraphs.iter().map(|paragraph| paragraph.digest).collect()
}

fn text(document: &Document, place: usize) -> &str {
    let paragraph = &document.paragraphs[place];
    document.text.get(paragraph.start as usize..paragraph.end as usize).unwrap_or_default()
}

/// Pairs of old and new place, in order.
fn pair_edits(old: &Document, new: &Document, alignment: &Alignment) -> Vec<(usize, usize)> {
    let old_gaps = gaps(alignment.stayed.iter().map(Option::is_some));
    let mut stayed_new = vec![false; new.paragraphs.len()];
    for &place in alignment.stayed.iter().flatten() {
        stayed_new[place] = true;
    }
    let new_gaps = gaps(stayed_new.into_iter());
    let mut pairs = Vec::new();
    let mut next = 0;
    for &from in &alignment.removed {
        while next < alignment.added.len() && new_gaps[alignment.added[next]] < old_gaps[from] {
            next += 1;
        }
        let words = sorted_words(text(old, from));
        let candidates = alignment.added[next..].iter().take(TRIED_MAX).enumerate();
        let mut same_place = candidates.take_while(|(_, to)| new_gaps[**to] == old_gaps[from]);
        if let Some((ahead, &to)) = same_place.find(|(_, to)| share_half(&words, &sorted_words(text(new, **to)))) {
            pairs.push((from, to));
            next += ahead + 1;
        }
    }
    pairs
}

/// For each paragraph, how many before it stayed: equal numbers are the same place.
fn gaps(stayed: impl Iterator<Item = bool>) -> Vec<usize> {
    stayed
        .scan(0, |count, stays| {
            let place = *count;
            *count += usize::from(stays);
            Some(place)
        })
        .collect()
}

fn sorted_words(text: &str) -> Vec<u64> {
    let mut words: Vec<u64> = text.split(' ').take(WORDS_MAX).map(|word| xxh3_64(word.as_bytes())).collect();
    words.sort_unstable();
    words
}

/// Whether at least half of the words of the longer one are also in the other, repeats counted.
fn share_half(a: &[u64], b: &[u64]) -> bool {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, shared) = (i + 1, j + 1, shared + 1),
        }
    }
    shared * 2 >= a.len().max(b.len())
}
