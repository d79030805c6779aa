//! The paragraphs of two versions without an equal on the other side. They are matched as parts of a split or merge, by
//! similarity, or not at all.

use vernal_model::{Document, Operation, Role};

use super::matching::Pairing;
use super::postings::{Postings, WordFrequency};
use super::similarity::{WordBag, likeness_of};
use super::splits::{largest_first, splits};
use super::steps::Steps;
use super::words::text_of;
use crate::detect::alignment::{Alignment, longest_increasing};

/// The least similarity for a paragraph to be an edit of another one in the same gap.
const LIKENESS_IN_GAP: f32 = 0.5;

/// The least similarity where they are the only two of their role left in their gap.
const LIKENESS_ALONE: f32 = 0.25;

/// The least similarity in different gaps, for all words and for rare words; or for all words alone, where hardly anything
/// differs. Shorter paragraphs must be equal to count as moved.
const LIKENESS_AFAR: f32 = 0.6;
const LIKENESS_AFAR_RARE: f32 = 0.5;
const LIKENESS_AFAR_ALONE: f32 = 0.9;
const WORDS_AFAR_MIN: usize = 4;

/// A word in more paragraphs is no evidence that one of them has moved.
const PARAGRAPHS_WITH_RARE_WORD_MAX: usize = 2;

/// The distance up to which neighbours in the same gap are candidates.
const NEIGHBOURS: usize = 2;

/// The unmatched paragraphs of both sides.
pub struct Unmatched<'a> {
    old: Side<'a>,
    new: Side<'a>,
    /// In how many old paragraphs each word is, counted at the first use.
    spread: Option<WordFrequency>,
}

pub struct Side<'a> {
    pub document: &'a Document,
    /// Indices of the unmatched paragraphs, in order. The other lists have the same order.
    pub places: Vec<usize>,
    pub bags: Vec<WordBag>,
    pub free: Vec<bool>,
    pub gaps: Vec<usize>,
    /// The start of the gap of each in `places`.
    pub begins: Vec<usize>,
}

impl<'a> Unmatched<'a> {
    pub fn new(
        old: &'a Document,
        removed: &[usize],
        new: &'a Document,
        added: &[usize],
        alignment: &Alignment,
        steps: &mut Steps,
    ) -> Self {
        // The paragraphs that stayed are in order on both sides, and so are the gaps between them.
        let (mut before, mut after) =
            (Vec::with_capacity(old.paragraphs.len()), Vec::with_capacity(old.paragraphs.len()));
        for (from, to) in alignment.stayed.iter().enumerate().filter_map(|(from, to)| Some((from, (*to)?))) {
            before.push(from);
            after.push(to);
        }
        Unmatched {
            old: Side::new(old, removed, &before, steps),
            new: Side::new(new, added, &after, steps),
            spread: None,
        }
    }

    pub fn find_splits(&mut self, steps: &mut Steps, links: &mut Vec<Pairing>) {
        for (whole, parts) in splits(&mut self.old, &mut self.new, steps) {
            let (to, others) = largest_first(&self.new, &parts);
            let from = Some(self.old.places[whole]);
            links.push(Pairing { others, ..Pairing::plain(Operation::Split, from, Some(to)) });
        }
    }

    pub fn find_merges(&mut self, steps: &mut Steps, links: &mut Vec<Pairing>) {
        for (whole, parts) in splits(&mut self.new, &mut self.old, steps) {
            let (from, others) = largest_first(&self.old, &parts);
            let to = Some(self.new.places[whole]);
            links.push(Pairing { others, ..Pairing::plain(Operation::Merged, Some(from), to) });
        }
    }

    /// Adds pairs that kept their order to `edited` and returns the others.
    pub fn find_edits(&mut self, steps: &mut Steps, edited: &mut Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        struct Pair {
            likeness: f32,
            same_gap: bool,
            distance: usize,
            old: usize,
            new: usize,
        }
        let index = Postings::of(&self.new, steps);
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

    /// The similarity of two paragraphs, if it is enough for them to be the same.
    fn likeness(&mut self, old: usize, new: usize, same_gap: bool, steps: &mut Steps) -> Option<f32> {
        let role = |side: &Side<'_>, index: usize| side.document.paragraphs[side.places[index]].role;
        let (old_role, new_role) = (role(&self.old, old), role(&self.new, new));
        if old_role == Role::Title || new_role == Role::Title {
            // A page has one title, so a new title is the old one edited.
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
        let (one, other) = (&self.old.bags[old], &self.new.bags[new]);
        let (a, b) = (&one.words, &other.words);
        if a.len().min(b.len()) < WORDS_AFAR_MIN || !steps.spend(2 * (a.len() + b.len())) {
            return None;
        }
        if one.likeness_max(other) < LIKENESS_AFAR {
            return None;
        }
        let likeness = likeness_of(a, b);
        if !(LIKENESS_AFAR..LIKENESS_AFAR_ALONE).contains(&likeness) {
            return (likeness >= LIKENESS_AFAR_ALONE).then_some(likeness);
        }
        let spread = self.spread.get_or_insert_with(|| WordFrequency::of(self.old.document, steps));
        let is_rare = |word: &&u64| spread.is_within(**word, PARAGRAPHS_WITH_RARE_WORD_MAX);
        let rare = |words: &[u64]| words.iter().filter(is_rare).copied().collect::<Vec<u64>>();
        (likeness_of(&rare(a), &rare(b)) >= LIKENESS_AFAR_RARE).then_some(likeness)
    }

    pub fn tell_what_is_left(&self, links: &mut Vec<Pairing>) {
        let free = |side: &Side<'_>| -> Vec<usize> {
            side.places.iter().zip(&side.free).filter(|(_, free)| **free).map(|(place, _)| *place).collect()
        };
        links.extend(free(&self.old).into_iter().map(|from| Pairing::plain(Operation::Removed, Some(from), None)));
        links.extend(free(&self.new).into_iter().map(|to| Pairing::plain(Operation::Added, None, Some(to))));
    }
}

impl<'a> Side<'a> {
    /// `stayed` are the indices of this side that stayed, in order.
    fn new(document: &'a Document, places: &[usize], stayed: &[usize], steps: &mut Steps) -> Self {
        let gaps: Vec<usize> = places.iter().map(|&place| stayed.partition_point(|&stays| stays < place)).collect();
        let mut begins = Vec::with_capacity(gaps.len());
        for (index, gap) in gaps.iter().enumerate() {
            let goes_on = index > 0 && gaps[index - 1] == *gap;
            begins.push(if goes_on { begins[index - 1] } else { index });
        }
        Side {
            document,
            places: places.to_vec(),
            bags: places.iter().map(|&place| WordBag::of(text_of(document, place), steps)).collect(),
            free: vec![true; places.len()],
            gaps,
            begins,
        }
    }

    /// Whether it is the only unmatched paragraph of its gap.
    fn is_alone(&self, index: usize) -> bool {
        self.begins[index] == index && self.begins.get(index + 1) != Some(&index)
    }

    /// The unmatched paragraphs of a gap about as far from its beginning as `offset`.
    pub fn neighbours(&self, gap: usize, offset: usize) -> std::ops::Range<usize> {
        let begin = self.gaps.partition_point(|&before| before < gap);
        let end = begin + self.gaps[begin..].partition_point(|&same| same == gap);
        let first = (begin + offset.saturating_sub(NEIGHBOURS)).min(end);
        first..(begin + offset + NEIGHBOURS + 1).min(end)
    }
}
