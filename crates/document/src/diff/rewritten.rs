//! Whether what went and what came is another text altogether, so that no paragraph of one is an edit of the other. To
//! look for edits in a page of prose that was written anew would cost more than everything else about its visit.
//!
//! Two texts that have anything to do with each other share runs of three words. A sample of these runs is compared:
//! those whose hash ends in two zero bits.

use vernal_model::Document;
use xxhash_rust::xxh3::xxh3_64;

use super::words::text_of;

/// Fewer paragraphs or runs decide nothing.
const PARAGRAPHS_MIN: usize = 12;
const RUNS_MIN: usize = 50;

/// Rows of a table and items of a list are short, and a number in the middle of one leaves no run of three words.
const WORDS_PER_PARAGRAPH_MIN: usize = 12;

/// Texts that share at least one run in so many are related.
const RUNS_PER_SHARED_MAX: usize = 50;

pub fn is_rewritten(old: &Document, removed: &[usize], new: &Document, added: &[usize]) -> bool {
    if removed.len() < PARAGRAPHS_MIN || added.len() < PARAGRAPHS_MIN {
        return false;
    }
    let (Some(went), Some(came)) = (runs(old, removed), runs(new, added)) else { return false };
    let shared = came.iter().filter(|run| went.binary_search(run).is_ok()).count();
    shared * RUNS_PER_SHARED_MAX < came.len().min(went.len())
}

/// The sampled runs of three words, sorted; `None` where the text is no prose, or too short to tell.
fn runs(document: &Document, places: &[usize]) -> Option<Vec<u64>> {
    let (mut runs, mut count) = (Vec::new(), 0);
    for &place in places {
        let (mut before, mut last) = (0u64, 0u64);
        for (index, word) in text_of(document, place).split(' ').enumerate() {
            let word = xxh3_64(word.as_bytes());
            let run = before.rotate_left(42) ^ last.rotate_left(21) ^ word;
            if index >= 2 && run & 3 == 0 {
                runs.push(run);
            }
            (before, last) = (last, word);
            count += 1;
        }
    }
    runs.sort_unstable();
    (runs.len() >= RUNS_MIN && count >= places.len() * WORDS_PER_PARAGRAPH_MIN).then_some(runs)
}
