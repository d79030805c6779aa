//! Finds paragraphs that are unrelated to all paragraphs of the other side, at low cost. No edit is searched for them: on a
//! completely rewritten page of prose that search would be the largest cost of the visit.
//!
//! If a paragraph of prose is an edit of another one, they share runs of three words. Short paragraphs (table rows, list items)
//! may not, and are never excluded.

use vernal_model::Document;

use super::words::text_of;

/// With fewer paragraphs on either side, nothing is excluded.
const PARAGRAPHS_MIN: usize = 6;

/// A paragraph with fewer words does not count as prose.
const WORDS_MIN: usize = 16;

/// An edit shares at least one in so many runs with the other side. Fewer shared runs may be common phrases.
const RUNS_PER_SHARED_MAX: usize = 10;

/// The indices of paragraphs that may have a partner on the other side, and of those that have none.
pub struct Partners {
    pub related: Vec<usize>,
    pub alone: Vec<usize>,
}

/// Sorts the removed and the added paragraphs.
pub fn sort_out(old: &Document, removed: &[usize], new: &Document, added: &[usize]) -> (Partners, Partners) {
    let all = |places: &[usize]| Partners { related: places.to_vec(), alone: Vec::new() };
    if removed.len() < PARAGRAPHS_MIN || added.len() < PARAGRAPHS_MIN {
        return (all(removed), all(added));
    }
    let (went, came) = (Runs::of(old, removed), Runs::of(new, added));
    // A run of both sides passes both filters.
    let from_went = went.passing(&Filter::of(&came.marks));
    let from_came = came.passing(&Filter::of(&went.marks));
    (went.sorted(removed, &from_went, &from_came), came.sorted(added, &from_came, &from_went))
}

/// The runs of three words of some paragraphs, in order.
struct Runs {
    marks: Vec<u64>,
    /// The end of the runs of each paragraph.
    ends: Vec<usize>,
}

/// The runs of one side that pass the filter of the other side.
struct FilteredRuns {
    /// The runs, in order and grouped by paragraph.
    marks: Vec<u64>,
    /// The end of the runs of each paragraph.
    ends: Vec<usize>,
    sorted: Vec<u64>,
}

impl Runs {
    fn of(document: &Document, places: &[usize]) -> Self {
        let bytes: usize = places.iter().map(|&place| text_of(document, place).len()).sum();
        let mut marks = Vec::with_capacity(bytes / BYTES_PER_WORD);
        let mut ends = Vec::with_capacity(places.len());
        for &place in places {
            push_runs(text_of(document, place).as_bytes(), &mut marks);
            ends.push(marks.len());
        }
        Runs { marks, ends }
    }

    fn passing(&self, filter: &Filter) -> FilteredRuns {
        let mut passing =
            FilteredRuns { marks: Vec::new(), ends: Vec::with_capacity(self.ends.len()), sorted: Vec::new() };
        let mut start = 0;
        for &end in &self.ends {
            passing.marks.extend(self.marks[start..end].iter().filter(|mark| filter.passes(**mark)));
            passing.ends.push(passing.marks.len());
            start = end;
        }
        passing.sorted = passing.marks.clone();
        passing.sorted.sort_unstable();
        passing
    }

    /// `here` are the filtered runs of this side, and `there` those of the other side.
    fn sorted(&self, places: &[usize], here: &FilteredRuns, there: &FilteredRuns) -> Partners {
        let mut sorted = Partners { related: Vec::new(), alone: Vec::new() };
        let (mut start, mut passed) = (0, 0);
        for ((&place, &end), &passed_end) in places.iter().zip(&self.ends).zip(&here.ends) {
            let runs = end - start;
            let is_prose = runs + 2 >= WORDS_MIN;
            let is_shared = |run: &&u64| there.sorted.binary_search(run).is_ok();
            let shared = || here.marks[passed..passed_end].iter().filter(is_shared).count();
            let is_related = !is_prose || {
                let count = shared();
                count > 1 && count * RUNS_PER_SHARED_MAX >= runs
            };
            if is_related { &mut sorted.related } else { &mut sorted.alone }.push(place);
            (start, passed) = (end, passed_end);
        }
        sorted
    }
}

/// An estimate of the bytes per word, so that the list of runs seldom grows.
const BYTES_PER_WORD: usize = 5;

/// A Bloom filter: it quickly excludes most numbers that are not in the set.
struct Filter {
    bits: Vec<u64>,
    shift: u32,
}

impl Filter {
    const BITS_PER_MARK: usize = 16;

    fn of(marks: &[u64]) -> Self {
        let bits = (marks.len() * Self::BITS_PER_MARK).next_power_of_two().max(64);
        let mut filter = Filter { bits: vec![0; bits / 64], shift: 64 - bits.ilog2() };
        for &mark in marks {
            let at = mark >> filter.shift;
            filter.bits[(at / 64) as usize] |= 1 << (at % 64);
        }
        filter
    }

    fn passes(&self, mark: u64) -> bool {
        let at = mark >> self.shift;
        self.bits[(at / 64) as usize] >> (at % 64) & 1 != 0
    }
}

fn push_runs(text: &[u8], runs: &mut Vec<u64>) {
    // The first two words end no run.
    let (mut first, mut second, mut from) = (None, None, 0);
    loop {
        let (word, end) = word_at(text, from);
        if let (Some(first), Some(second)) = (first, second) {
            runs.push(mixed(u64::rotate_left(first, 32) ^ second, word));
        }
        (first, second) = (second, Some(word));
        if end >= text.len() {
            return;
        }
        from = end + 1;
    }
}

/// The mark of the word that begins here, and its end, which is a space or the end of the text. It processes eight bytes at a
/// time: words are short, and a general hash function has a high fixed cost.
fn word_at(text: &[u8], start: usize) -> (u64, usize) {
    const SPACES: u64 = 0x2020_2020_2020_2020;
    const LOW: u64 = 0x0101_0101_0101_0101;
    let (mut mark, mut place) = (0, start);
    loop {
        let block = match text.get(place..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(block) => u64::from_le_bytes(*block),
            // The end of the text counts as a space.
            None => text[place..].iter().rev().fold(SPACES, |block, &byte| block << 8 | u64::from(byte)),
        };
        let other = block ^ SPACES;
        let spaces = other.wrapping_sub(LOW) & !other & LOW << 7;
        if spaces != 0 {
            // The lowest bit is the first space. The bytes after it belong to the next word.
            let bits = spaces.trailing_zeros() / 8 * 8;
            let letters = block & ((1 << bits) - 1);
            return (mixed(mark, letters | u64::from(bits) << 56), place + (bits / 8) as usize);
        }
        mark = mixed(mark, block);
        place += 8;
    }
}

/// Both halves of the product, combined by exclusive or.
fn mixed(mark: u64, item: u64) -> u64 {
    let product = u128::from(mark ^ 0xa076_1d64_78bd_642f) * u128::from(item ^ 0xe703_7ed1_a0b4_28db);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_end_at_spaces_and_have_equal_marks_when_they_are_equal(text in "( |[a-z]{1,3}|[a-zé]{6,12}|[a-z]{8}|[a-z]{16}){0,12}") {
            let (mut from, mut found) = (0, Vec::new());
            loop {
                let (mark, end) = word_at(text.as_bytes(), from);
                found.push((&text[from..end], mark));
                if end == text.len() {
                    break;
                }
                from = end + 1;
            }
            prop_assert_eq!(found.iter().map(|word| word.0).collect::<Vec<_>>(), text.split(' ').collect::<Vec<_>>());
            for (a, b) in found.iter().flat_map(|a| found.iter().map(move |b| (a, b))) {
                prop_assert_eq!(a.0 == b.0, a.1 == b.1, "{} {}", a.0, b.0);
            }
        }

        #[test]
        fn a_filter_passes_all_that_it_was_made_of(marks in prop::collection::vec(any::<u64>(), 0..200)) {
            let filter = Filter::of(&marks);
            prop_assert!(marks.iter().all(|&mark| filter.passes(mark)));
        }
    }
}
