//! Paragraphs that have nothing to do with any on the other side, found cheaply, so that no edit is looked for in them: in
//! a page of prose that was written anew that search would cost more than everything else about its visit.
//!
//! Two paragraphs of prose of which one is an edit of the other share runs of three words. Short paragraphs
//! (rows of a table, items of a list) need not, and are never sorted out.

use vernal_model::Document;
use xxhash_rust::xxh3::xxh3_64;

use super::words::text_of;

/// With fewer on either side there is nothing to save.
const PARAGRAPHS_MIN: usize = 6;

/// A paragraph with fewer words is no prose.
const WORDS_MIN: usize = 16;

/// An edit shares at least one run in so many with the other side; some runs are in every text.
const RUNS_PER_SHARED_MAX: usize = 10;

/// The places that may have a partner on the other side, and those that have none.
pub struct Sorted {
    pub related: Vec<usize>,
    pub alone: Vec<usize>,
}

/// Sorts what went and what came.
pub fn sort_out(old: &Document, removed: &[usize], new: &Document, added: &[usize]) -> (Sorted, Sorted) {
    let all = |places: &[usize]| Sorted { related: places.to_vec(), alone: Vec::new() };
    if removed.len() < PARAGRAPHS_MIN || added.len() < PARAGRAPHS_MIN {
        return (all(removed), all(added));
    }
    let (went, came) = (Runs::of(old, removed), Runs::of(new, added));
    (went.sorted(removed, &came), came.sorted(added, &went))
}

/// The runs of three words of some paragraphs.
struct Runs {
    /// Sorted.
    all: Vec<u64>,
    /// Those of each paragraph; nothing for one that is no prose.
    of_each: Vec<Option<Vec<u64>>>,
}

impl Runs {
    fn of(document: &Document, places: &[usize]) -> Self {
        let of_each: Vec<Vec<u64>> = places.iter().map(|&place| runs(text_of(document, place))).collect();
        let mut all: Vec<u64> = of_each.iter().flatten().copied().collect();
        all.sort_unstable();
        let prose = |runs: Vec<u64>| (runs.len() + 2 >= WORDS_MIN).then_some(runs);
        Runs { all, of_each: of_each.into_iter().map(prose).collect() }
    }

    fn sorted(&self, places: &[usize], other: &Runs) -> Sorted {
        let is_related = |runs: &Option<Vec<u64>>| {
            runs.as_ref().is_none_or(|runs| {
                let shared = runs.iter().filter(|run| other.all.binary_search(run).is_ok()).count();
                shared > 1 && shared * RUNS_PER_SHARED_MAX >= runs.len()
            })
        };
        let (related, alone): (Vec<_>, Vec<_>) =
            places.iter().zip(&self.of_each).partition(|(_, runs)| is_related(runs));
        let places = |pairs: Vec<(&usize, &Option<Vec<u64>>)>| pairs.into_iter().map(|(&place, _)| place).collect();
        Sorted { related: places(related), alone: places(alone) }
    }
}

fn runs(text: &str) -> Vec<u64> {
    let (mut before, mut last) = (0u64, 0u64);
    let mut runs = Vec::new();
    for (index, word) in text.split(' ').enumerate() {
        let word = xxh3_64(word.as_bytes());
        if index >= 2 {
            runs.push(before.rotate_left(42) ^ last.rotate_left(21) ^ word);
        }
        (before, last) = (last, word);
    }
    runs
}
