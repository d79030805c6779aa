//! Finds splits and merges: one paragraph whose words are those of several neighbours on the other side.

use super::postings::Postings;
use super::similarity::{WordBag, shared, without};
use super::steps::Steps;
use super::unmatched::Side;
use super::words::{BOUNDARY, text_of};

/// The share of the words of a part that the whole must have, and of the words of the whole that the parts must have.
const SHARE_OF_WHOLE: f32 = 0.8;
const WORDS_OF_WHOLE_MIN: usize = 4;
const PARTS_MAX: usize = 64;

/// Each paragraph of one side whose words are nearly all in two or more neighbours of the other side, with those. Matched
/// paragraphs are no longer free.
pub fn splits(side: &mut Side<'_>, other: &mut Side<'_>, steps: &mut Steps) -> Vec<(usize, Vec<usize>)> {
    let mut found = Vec::new();
    // Parts are neighbours.
    if !other.places.windows(2).any(|pair| pair[0] + 1 == pair[1]) {
        return found;
    }
    let index = Postings::of(other, steps);
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
fn parts_around(seed: usize, whole: &WordBag, other: &Side<'_>, steps: &mut Steps) -> Option<Vec<usize>> {
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

/// A paragraph that cannot be part of a split or merge. Our parser makes none, and joined with others it could not be separated.
fn has_boundary(side: &Side<'_>, index: usize) -> bool {
    text_of(side.document, side.places[index]).contains(BOUNDARY)
}

/// The index of the largest part (the first of equals), and the indices of the others.
pub fn largest_first(side: &Side<'_>, parts: &[usize]) -> (usize, Vec<usize>) {
    let size = |index: &usize| text_of(side.document, side.places[*index]).len();
    let largest = parts.iter().copied().rev().max_by_key(size).unwrap_or_default();
    let others = parts.iter().filter(|&&part| part != largest).map(|&part| side.places[part]).collect();
    (side.places[largest], others)
}
