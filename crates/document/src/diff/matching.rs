//! Which paragraph of the old version became which of the new one.
//!
//! Equal digests first: those in order stayed, the others moved, so that a moved paragraph is never one that went and
//! one that came. Of the rest, one paragraph whose words became several neighbours was split, the reverse is a merge.
//! Then the most alike are paired, the most alike first: in the same gap between paragraphs that stayed they need to
//! share half of their words; beyond it more, and words that are not found all over the page, because the newest entry of
//! a list of news is not its oldest one come back. In order they were edited, out of order moved. What is left came or
//! went.
//!
//! Candidates come from the words that few paragraphs have, and from the neighbourhood, so the work grows with the
//! number of words and not with the square of the paragraphs.

use std::collections::HashMap;

use vernal_model::{Document, Operation, Role};

use super::rewritten::sort_out;
use super::similarity::{Bag, likeness_of, shared, without};
use super::steps::Steps;
use super::words::{BOUNDARY, text_of};
use crate::detect::alignment::{align_within, gaps, longest_increasing};

/// How alike two paragraphs of the same gap must be for one to be an edit of the other.
const LIKENESS_IN_GAP: f32 = 0.5;

/// The same where they are the only two of their role that are left in their gap.
const LIKENESS_ALONE: f32 = 0.25;

/// The same where they lie in different gaps, for all of their words and for those that few paragraphs have; or for all
/// of them alone, where hardly anything differs. Shorter ones must be equal to have moved.
const LIKENESS_AFAR: f32 = 0.6;
const LIKENESS_AFAR_RARE: f32 = 0.5;
const LIKENESS_AFAR_ALONE: f32 = 0.9;
const WORDS_AFAR_MIN: usize = 4;

/// A word that more paragraphs have is no evidence that one of them has moved.
const PARAGRAPHS_WITH_RARE_WORD_MAX: usize = 2;

/// The share of a part's words that the whole must have, and of the whole's words that the parts must have.
const SHARE_OF_WHOLE: f32 = 0.8;
const WORDS_OF_WHOLE_MIN: usize = 4;
const PARTS_MAX: usize = 64;

/// Words in more paragraphs than this lead to none of them.
const POSTINGS_MAX: usize = 8;

/// Candidates that are looked at closely, and how far in the same gap neighbours are candidates.
const CANDIDATES_MAX: usize = 8;
const NEIGHBOURS: usize = 2;

/// Every paragraph of both versions occurs in it exactly once.
#[derive(Debug, Default, PartialEq)]
pub struct Matching {
    /// Old and new place, in order on both sides.
    pub stayed: Vec<(usize, usize)>,
    /// Everything else, in reading order: what went stands where it would be.
    pub links: Vec<Link>,
}

/// What became of one paragraph, or of one with its parts or sources.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub operation: Operation,
    /// The old place; of a merge, that of the largest source.
    pub from: Option<usize>,
    /// The new place; of a split, that of the largest part.
    pub to: Option<usize>,
    /// The other parts (new places) or sources (old places), in order.
    pub others: Vec<usize>,
    /// Other items of the same list that changed places: old and new, in new order.
    pub reordered: Vec<(usize, usize)>,
}

pub fn match_paragraphs(old: &Document, new: &Document, steps: &mut Steps) -> Matching {
    let digests = |document: &Document| document.paragraphs.iter().map(|one| one.digest).collect::<Vec<u64>>();
    let alignment = align_within(&digests(old), &digests(new), steps);
    let mut matching = Matching::default();
    let (mut edited, mut moved) = (Vec::new(), Vec::new());
    for (from, to) in alignment.stayed.iter().enumerate().filter_map(|(from, to)| Some((from, (*to)?))) {
        // Equal digests of other words are hardly met by chance, but can be made.
        let same = text_of(old, from) == text_of(new, to);
        if same { &mut matching.stayed } else { &mut edited }.push((from, to));
    }
    moved.extend(&alignment.moved);
    let (went, came) = sort_out(old, &alignment.removed, new, &alignment.added);
    let plain = |operation, from, to| Link::plain(operation, from, to);
    matching.links.extend(went.alone.iter().map(|&from| plain(Operation::Removed, Some(from), None)));
    matching.links.extend(came.alone.iter().map(|&to| plain(Operation::Added, None, Some(to))));
    if !went.related.is_empty() && !came.related.is_empty() {
        let mut rest = Rest::new(old, &went.related, new, &came.related, &alignment, steps);
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
    let in_place: Vec<(usize, usize)> = matching.stayed.iter().chain(&edited).copied().collect();
    matching.links.extend(edited.iter().map(|&(from, to)| Link::plain(Operation::Edited, Some(from), Some(to))));
    matching.links.extend(fold_lists(old, new, moved));
    put_in_reading_order(&mut matching.links, in_place, old.paragraphs.len());
    matching
}

impl Link {
    fn plain(operation: Operation, from: Option<usize>, to: Option<usize>) -> Self {
        Link { operation, from, to, others: Vec::new(), reordered: Vec::new() }
    }
}

/// What has no equal on the other side, until it is matched.
struct Rest<'a> {
    old: Side<'a>,
    new: Side<'a>,
    /// In how many old paragraphs each word is; counted when it is first asked for.
    spread: Option<HashMap<u64, usize>>,
}

struct Side<'a> {
    document: &'a Document,
    /// Places of unmatched paragraphs, in order, and all about them by the same index.
    places: Vec<usize>,
    bags: Vec<Bag>,
    free: Vec<bool>,
    gaps: Vec<usize>,
    /// Where the gap of each begins in `places`.
    begins: Vec<usize>,
}

impl<'a> Rest<'a> {
    fn new(
        old: &'a Document,
        removed: &[usize],
        new: &'a Document,
        added: &[usize],
        alignment: &crate::detect::alignment::Alignment,
        steps: &mut Steps,
    ) -> Self {
        let mut stays = vec![false; new.paragraphs.len()];
        alignment.stayed.iter().flatten().for_each(|&place| stays[place] = true);
        let old_gaps = gaps(alignment.stayed.iter().map(Option::is_some));
        let new_gaps = gaps(stays.into_iter());
        Rest {
            old: Side::new(old, removed, &old_gaps, steps),
            new: Side::new(new, added, &new_gaps, steps),
            spread: None,
        }
    }

    fn find_splits(&mut self, steps: &mut Steps, links: &mut Vec<Link>) {
        for (whole, parts) in wholes(&mut self.old, &mut self.new, steps) {
            let (to, others) = largest_first(&self.new, &parts);
            let from = Some(self.old.places[whole]);
            links.push(Link { others, ..Link::plain(Operation::Split, from, Some(to)) });
        }
    }

    fn find_merges(&mut self, steps: &mut Steps, links: &mut Vec<Link>) {
        for (whole, parts) in wholes(&mut self.new, &mut self.old, steps) {
            let (from, others) = largest_first(&self.old, &parts);
            let to = Some(self.new.places[whole]);
            links.push(Link { others, ..Link::plain(Operation::Merged, Some(from), to) });
        }
    }

    /// Adds to `edited` what kept its place among what stayed, and gives back what did not.
    fn find_edits(&mut self, steps: &mut Steps, edited: &mut Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        struct Pair {
            likeness: f32,
            same_gap: bool,
            distance: usize,
            old: usize,
            new: usize,
        }
        let index = Index::of(&self.new, steps);
        let mut pairs = Vec::new();
        for old in 0..self.old.places.len() {
            if !self.old.free[old] {
                continue;
            }
            for new in index.candidates(&self.old, old, &self.new, steps) {
                let same_gap = self.old.gaps[old] == self.new.gaps[new];
                if let Some(likeness) = self.likeness(old, new, same_gap, steps) {
                    let distance = (old - self.old.begins[old]).abs_diff(new - self.new.begins[new]);
                    pairs.push(Pair { likeness, same_gap, distance, old, new });
                }
            }
        }
        pairs.sort_by(|a, b| {
            let order = b.likeness.total_cmp(&a.likeness).then(b.same_gap.cmp(&a.same_gap));
            order.then((a.distance, a.old, a.new).cmp(&(b.distance, b.old, b.new)))
        });
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for pair in pairs {
            if self.old.free[pair.old] && self.new.free[pair.new] {
                (self.old.free[pair.old], self.new.free[pair.new]) = (false, false);
                let places = (self.old.places[pair.old], self.new.places[pair.new]);
                if pair.same_gap { &mut near } else { &mut far }.push(places);
            }
        }
        near.sort_unstable();
        let ordered = longest_increasing(&near);
        far.extend(near.iter().filter(|pair| ordered.binary_search(pair).is_err()));
        edited.extend(ordered);
        far
    }

    /// How alike two are, if that is enough for them to be the same paragraph.
    fn likeness(&mut self, old: usize, new: usize, same_gap: bool, steps: &mut Steps) -> Option<f32> {
        let role = |side: &Side<'_>, index: usize| side.document.paragraphs[side.places[index]].role;
        let (old_role, new_role) = (role(&self.old, old), role(&self.new, new));
        if old_role == Role::Title || new_role == Role::Title {
            // A page has one title, and a new one is that title edited.
            return (old_role == new_role).then_some(1.0);
        }
        if !same_gap {
            return self.likeness_afar(old, new, steps);
        }
        let likeness = self.old.bags[old].likeness(&self.new.bags[new], steps);
        let alone = old_role == new_role && self.old.is_alone(old) && self.new.is_alone(new);
        (likeness >= if alone { LIKENESS_ALONE } else { LIKENESS_IN_GAP }).then_some(likeness)
    }

    fn likeness_afar(&mut self, old: usize, new: usize, steps: &mut Steps) -> Option<f32> {
        let (a, b) = (&self.old.bags[old].words, &self.new.bags[new].words);
        if a.len().min(b.len()) < WORDS_AFAR_MIN || !steps.spend(2 * (a.len() + b.len())) {
            return None;
        }
        let likeness = likeness_of(a, b);
        if !(LIKENESS_AFAR..LIKENESS_AFAR_ALONE).contains(&likeness) {
            return (likeness >= LIKENESS_AFAR_ALONE).then_some(likeness);
        }
        let spread = self.spread.get_or_insert_with(|| spread(self.old.document, steps));
        let is_rare = |word: &&u64| spread.get(*word).is_none_or(|&count| count <= PARAGRAPHS_WITH_RARE_WORD_MAX);
        let rare = |words: &[u64]| words.iter().filter(is_rare).copied().collect::<Vec<u64>>();
        (likeness_of(&rare(a), &rare(b)) >= LIKENESS_AFAR_RARE).then_some(likeness)
    }

    fn tell_what_is_left(&self, links: &mut Vec<Link>) {
        let free = |side: &Side<'_>| -> Vec<usize> {
            side.places.iter().zip(&side.free).filter(|(_, free)| **free).map(|(place, _)| *place).collect()
        };
        links.extend(free(&self.old).into_iter().map(|from| Link::plain(Operation::Removed, Some(from), None)));
        links.extend(free(&self.new).into_iter().map(|to| Link::plain(Operation::Added, None, Some(to))));
    }
}

impl<'a> Side<'a> {
    fn new(document: &'a Document, places: &[usize], all_gaps: &[usize], steps: &mut Steps) -> Self {
        let gaps: Vec<usize> = places.iter().map(|&place| all_gaps[place]).collect();
        let mut begins = Vec::with_capacity(gaps.len());
        for (index, gap) in gaps.iter().enumerate() {
            let goes_on = index > 0 && gaps[index - 1] == *gap;
            begins.push(if goes_on { begins[index - 1] } else { index });
        }
        Side {
            document,
            places: places.to_vec(),
            bags: places.iter().map(|&place| Bag::of(text_of(document, place), steps)).collect(),
            free: vec![true; places.len()],
            gaps,
            begins,
        }
    }

    /// Whether no other unmatched paragraph lies in its gap.
    fn is_alone(&self, index: usize) -> bool {
        self.begins[index] == index && self.begins.get(index + 1) != Some(&index)
    }

    /// The unmatched paragraphs of a gap about as far from its beginning as `offset`.
    fn neighbours(&self, gap: usize, offset: usize) -> std::ops::Range<usize> {
        let begin = self.gaps.partition_point(|&before| before < gap);
        let end = begin + self.gaps[begin..].partition_point(|&same| same == gap);
        let first = (begin + offset.saturating_sub(NEIGHBOURS)).min(end);
        first..(begin + offset + NEIGHBOURS + 1).min(end)
    }
}

/// The paragraphs of one side by the words that few of them have.
struct Index {
    postings: HashMap<u64, Vec<usize>>,
}

impl Index {
    fn of(side: &Side<'_>, steps: &mut Steps) -> Self {
        let mut postings: HashMap<u64, Vec<usize>> = HashMap::new();
        for (index, bag) in side.bags.iter().enumerate().filter(|(index, _)| side.free[*index]) {
            if !steps.spend(bag.len() + 1) {
                break;
            }
            for &word in &bag.words {
                let list = postings.entry(word).or_default();
                // One more than the limit marks a common word.
                if list.len() <= POSTINGS_MAX && list.last() != Some(&index) {
                    list.push(index);
                }
            }
        }
        postings.retain(|_, list| list.len() <= POSTINGS_MAX);
        Index { postings }
    }

    /// Those of the indexed side that may have become, or have been, the paragraph `index` of `from`, in order.
    fn candidates(&self, from: &Side<'_>, index: usize, side: &Side<'_>, steps: &mut Steps) -> Vec<usize> {
        let bag = &from.bags[index];
        if !steps.spend(bag.len() + 1) {
            return Vec::new();
        }
        let mut hits: Vec<usize> =
            bag.words.iter().filter_map(|word| self.postings.get(word)).flatten().copied().collect();
        if !steps.spend(hits.len()) {
            return Vec::new();
        }
        hits.sort_unstable();
        let mut counted: Vec<(usize, usize)> = hits.chunk_by(|a, b| a == b).map(|same| (same.len(), same[0])).collect();
        counted.sort_unstable_by_key(|&(count, place)| (std::cmp::Reverse(count), place));
        let likely = counted.into_iter().map(|(_, place)| place).take(CANDIDATES_MAX);
        let mut found: Vec<usize> =
            likely.chain(side.neighbours(from.gaps[index], index - from.begins[index])).collect();
        found.retain(|&candidate| side.free[candidate]);
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// In how many paragraphs each word is.
fn spread(document: &Document, steps: &mut Steps) -> HashMap<u64, usize> {
    let mut counts = HashMap::new();
    for place in 0..document.paragraphs.len() {
        let mut words = Bag::of(text_of(document, place), steps).words;
        words.dedup();
        words.into_iter().for_each(|word| *counts.entry(word).or_insert(0) += 1);
    }
    counts
}

/// Each paragraph of one side whose words lie, nearly all of them, in two or more neighbours of the other side, with
/// those. What is found is no longer free.
fn wholes(side: &mut Side<'_>, other: &mut Side<'_>, steps: &mut Steps) -> Vec<(usize, Vec<usize>)> {
    let mut found = Vec::new();
    if other.places.len() < 2 {
        return found;
    }
    let index = Index::of(other, steps);
    for whole in 0..side.places.len() {
        let bag = &side.bags[whole];
        if !side.free[whole] || bag.len() < WORDS_OF_WHOLE_MIN || has_boundary(side, whole) {
            continue;
        }
        for seed in index.candidates(side, whole, other, steps) {
            let Some(parts) = parts_around(seed, bag, other, steps) else { continue };
            side.free[whole] = false;
            parts.iter().for_each(|&part| other.free[part] = false);
            found.push((whole, parts));
            break;
        }
    }
    found
}

/// The neighbours around `seed` that together have the words of the whole.
fn parts_around(seed: usize, whole: &Bag, other: &Side<'_>, steps: &mut Steps) -> Option<Vec<usize>> {
    let mut left = whole.words.clone();
    let mut words = 0;
    let mut takes = |index: usize| -> bool {
        let part = &other.bags[index];
        if !other.free[index]
            || part.len() == 0
            || has_boundary(other, index)
            || !steps.spend(2 * (left.len() + part.len()))
        {
            return false;
        }
        let count = shared(&left, &part.words);
        let is_part = count as f32 >= SHARE_OF_WHOLE * part.len() as f32;
        if is_part {
            left = without(&left, &part.words);
            words += part.len();
        }
        is_part
    };
    if !takes(seed) {
        return None;
    }
    let (mut first, mut last) = (seed, seed);
    let touch = |a: usize, b: usize| other.places[a] + 1 == other.places[b];
    while last - first < PARTS_MAX && last + 1 < other.places.len() && touch(last, last + 1) && takes(last + 1) {
        last += 1;
    }
    while last - first < PARTS_MAX && first > 0 && touch(first - 1, first) && takes(first - 1) {
        first -= 1;
    }
    let covered = whole.len() - left.len();
    (last > first && covered as f32 >= SHARE_OF_WHOLE * whole.len().max(words) as f32).then(|| (first..=last).collect())
}

/// Our own parser makes no such paragraph; joined with others it could not be told apart again.
fn has_boundary(side: &Side<'_>, index: usize) -> bool {
    text_of(side.document, side.places[index]).contains(BOUNDARY)
}

/// The place of the largest part (the first of equals), and the places of the others.
fn largest_first(side: &Side<'_>, parts: &[usize]) -> (usize, Vec<usize>) {
    let size = |index: &usize| text_of(side.document, side.places[*index]).len();
    let largest = parts.iter().copied().rev().max_by_key(size).unwrap_or_default();
    let others = parts.iter().filter(|&&part| part != largest).map(|&part| side.places[part]).collect();
    (side.places[largest], others)
}

/// One link for each moved paragraph; but moves out of one run of list items into one are told as one.
fn fold_lists(old: &Document, new: &Document, mut moved: Vec<(usize, usize)>) -> Vec<Link> {
    moved.sort_unstable_by_key(|&(_, to)| to);
    let (old_runs, new_runs) = (list_runs(old), list_runs(new));
    let mut first_of: HashMap<(usize, usize), usize> = HashMap::new();
    let mut links: Vec<Link> = Vec::with_capacity(moved.len());
    for (from, to) in moved {
        let same_words = text_of(old, from) == text_of(new, to);
        if let (Some(a), Some(b), true) = (old_runs[from], new_runs[to], same_words) {
            let known = *first_of.entry((a, b)).or_insert(links.len());
            if known < links.len() {
                links[known].reordered.push((from, to));
                continue;
            }
        }
        links.push(Link::plain(Operation::Moved, Some(from), Some(to)));
    }
    links
}

/// For each paragraph the run of menu entries or list items that it lies in.
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

/// By new place; what went comes before what follows the last paragraph above it that is still in its place.
fn put_in_reading_order(links: &mut [Link], mut in_place: Vec<(usize, usize)>, old_count: usize) {
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
