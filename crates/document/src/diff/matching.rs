//! Matches the paragraphs of the old version with those of the new one.
//!
//! Equal digests come first: those in order stayed, the others moved, so that a moved paragraph never counts as removed and
//! added. Of the rest, a paragraph whose words became several neighbours was split, and the reverse is a merge. Then the
//! remaining paragraphs are paired, most similar first. In the same gap between paragraphs that stayed, they must share half
//! of their words. Otherwise they must share more, and also rare words, because the newest entry of a news list is not its
//! oldest entry moved up. Pairs in order were edited, pairs out of order moved. All others were added or removed.
//!
//! Candidates are paragraphs with rare words in common, and neighbours. So the work grows with the number of words and not with
//! the square of the number of paragraphs.

use std::collections::HashMap;

use vernal_model::{Document, Operation, Role};

use super::steps::Steps;
use super::unmatched::Unmatched;
use super::unrelated::sort_out;
use super::words::text_of;
use crate::detect::alignment::align_within;

/// The result. Every paragraph of both versions occurs in it exactly once.
#[derive(Debug, Default, PartialEq)]
pub struct Matching {
    /// Old and new index of the paragraphs that stayed, in order on both sides.
    pub stayed: Vec<(usize, usize)>,
    /// All other paragraphs, in reading order. A removed one is listed where it would be.
    pub links: Vec<Pairing>,
}

/// What happened to one paragraph, or to one with its parts or sources.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairing {
    pub operation: Operation,
    /// The old index; for a merge that of the largest source.
    pub from: Option<usize>,
    /// The new index; for a split that of the largest part.
    pub to: Option<usize>,
    /// The other parts (new indices) or sources (old indices), in order.
    pub others: Vec<usize>,
    /// Other items of the same list that changed places: old and new index, in new order.
    pub reordered: Vec<(usize, usize)>,
}

pub fn match_paragraphs(old: &Document, new: &Document, steps: &mut Steps) -> Matching {
    let digests = |document: &Document| document.paragraphs.iter().map(|one| one.digest).collect::<Vec<u64>>();
    let alignment = align_within(&digests(old), &digests(new), steps);
    let mut matching = Matching { stayed: Vec::with_capacity(old.paragraphs.len()), links: Vec::new() };
    let (mut edited, mut moved) = (Vec::new(), Vec::new());
    for (from, to) in alignment.stayed.iter().enumerate().filter_map(|(from, to)| Some((from, (*to)?))) {
        // Different words hardly ever have equal digests by chance, but a page can be made so.
        let same = text_of(old, from) == text_of(new, to);
        if same { &mut matching.stayed } else { &mut edited }.push((from, to));
    }
    moved.extend(&alignment.moved);
    let (went, came) = sort_out(old, &alignment.removed, new, &alignment.added);
    let plain = |operation, from, to| Pairing::plain(operation, from, to);
    matching.links.extend(went.alone.iter().map(|&from| plain(Operation::Removed, Some(from), None)));
    matching.links.extend(came.alone.iter().map(|&to| plain(Operation::Added, None, Some(to))));
    if !went.related.is_empty() && !came.related.is_empty() {
        let mut rest = Unmatched::new(old, &went.related, new, &came.related, &alignment, steps);
        rest.find_splits(steps, &mut matching.links);
        rest.find_merges(steps, &mut matching.links);
        for (from, to) in rest.find_edits(steps, &mut edited) {
            moved.push((from, to));
        }
        rest.tell_what_is_left(&mut matching.links);
    } else {
        matching.links.extend(went.related.iter().map(|&from| plain(Operation::Removed, Some(from), None)));
        matching.links.extend(came.related.iter().map(|&to| plain(Operation::Added, None, Some(to))));
    }
    let in_place = [&matching.stayed[..], &edited].concat();
    matching.links.extend(edited.iter().map(|&(from, to)| Pairing::plain(Operation::Edited, Some(from), Some(to))));
    matching.links.extend(fold_lists(old, new, moved));
    put_in_reading_order(&mut matching.links, in_place, old.paragraphs.len());
    matching
}

impl Pairing {
    pub fn plain(operation: Operation, from: Option<usize>, to: Option<usize>) -> Self {
        Pairing { operation, from, to, others: Vec::new(), reordered: Vec::new() }
    }
}

/// One pairing for each moved paragraph. Moves from one run of list items into one run are merged into one pairing.
fn fold_lists(old: &Document, new: &Document, mut moved: Vec<(usize, usize)>) -> Vec<Pairing> {
    if moved.is_empty() {
        return Vec::new();
    }
    moved.sort_unstable_by_key(|&(_, to)| to);
    let (old_runs, new_runs) = (list_runs(old), list_runs(new));
    let mut first_of: HashMap<(usize, usize), usize> = HashMap::new();
    let mut links: Vec<Pairing> = Vec::with_capacity(moved.len());
    for (from, to) in moved {
        let same_words = text_of(old, from) == text_of(new, to);
        if let (Some(a), Some(b), true) = (old_runs[from], new_runs[to], same_words) {
            let known = *first_of.entry((a, b)).or_insert(links.len());
            if known < links.len() {
                links[known].reordered.push((from, to));
                continue;
            }
        }
        links.push(Pairing::plain(Operation::Moved, Some(from), Some(to)));
    }
    links
}

/// For each paragraph the run of menu entries or list items that contains it.
fn list_runs(document: &Document) -> Vec<Option<usize>> {
    let mut run = 0;
    let mut last = None;
    let runs = document.paragraphs.iter().map(|paragraph| {
        let role = matches!(paragraph.role, Role::Navigation | Role::ListItem).then_some(paragraph.role);
        run += usize::from(role != last);
        last = role;
        role.map(|_| run)
    });
    runs.collect()
}

/// The order by new index. A removed paragraph comes directly after the last paragraph above it that stayed.
fn put_in_reading_order(links: &mut [Pairing], mut in_place: Vec<(usize, usize)>, old_count: usize) {
    if links.len() < 2 {
        return;
    }
    in_place.sort_unstable();
    let mut anchors = vec![0; old_count];
    let mut pairs = in_place.iter().peekable();
    let mut anchor = 0;
    for (place, slot) in anchors.iter_mut().enumerate() {
        while let Some((_, to)) = pairs.next_if(|(from, _)| *from <= place) {
            anchor = to + 1;
        }
        *slot = anchor;
    }
    links.sort_by_key(|link| match (link.from, link.to) {
        (_, Some(to)) => (to, 1, 0),
        (Some(from), None) => (anchors[from], 0, from),
        (None, None) => (usize::MAX, 1, 0),
    });
}
