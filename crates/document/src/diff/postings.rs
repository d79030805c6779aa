//! An index from words to paragraphs. It uses sorted lists instead of maps, because it is built quickly, used a few times and
//! dropped, and because no page can cause collisions in it.

use vernal_model::Document;

use super::similarity::WordBag;
use super::steps::Steps;
use super::unmatched::Side;
use super::words::text_of;

/// Words in more paragraphs than this are not indexed.
const POSTINGS_MAX: usize = 8;

/// So many candidates are compared closely.
const CANDIDATES_MAX: usize = 8;

/// With so few paragraphs all are compared closely, which is cheaper than sorting their words.
const FEW: usize = 3;

/// The paragraphs of one side by their rare words.
pub struct Postings {
    /// Word and paragraph, sorted, each pair once; empty where there are few paragraphs.
    pairs: Vec<(u64, u32)>,
}

impl Postings {
    pub fn of(side: &Side<'_>, steps: &mut Steps) -> Self {
        if side.places.len() <= FEW {
            return Postings { pairs: Vec::new() };
        }
        let mut pairs = Vec::with_capacity(side.bags.iter().map(WordBag::len).sum());
        for (index, bag) in side.bags.iter().enumerate().filter(|(index, _)| side.free[*index]) {
            if !steps.spend(bag.len() + 1) {
                break;
            }
            pairs.extend(bag.words.chunk_by(|a, b| a == b).map(|same| (same[0], index as u32)));
        }
        pairs.sort_unstable();
        Postings { pairs }
    }

    /// The candidates of the indexed side for the paragraph `index` of `from`, in order.
    pub fn candidates(&self, from: &Side<'_>, index: usize, side: &Side<'_>, steps: &mut Steps) -> Vec<usize> {
        let bag = &from.bags[index];
        if !steps.spend(bag.len() + 1) {
            return Vec::new();
        }
        if side.places.len() <= FEW {
            return (0..side.places.len()).filter(|&candidate| side.free[candidate]).collect();
        }
        let mut hits = self.hits(&bag.words);
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

    /// The paragraphs of each of these sorted words, once for each occurrence.
    fn hits(&self, words: &[u64]) -> Vec<usize> {
        let mut hits = Vec::new();
        let mut rest = &self.pairs[..];
        for same in words.chunk_by(|a, b| a == b) {
            rest = &rest[rest.partition_point(|&(word, _)| word < same[0])..];
            let count = rest.iter().take(POSTINGS_MAX + 1).take_while(|&&(word, _)| word == same[0]).count();
            if count <= POSTINGS_MAX {
                for _ in same {
                    hits.extend(rest[..count].iter().map(|&(_, index)| index as usize));
                }
            }
        }
        hits
    }
}

/// The number of paragraphs with each word.
pub struct WordFrequency {
    /// Once for each paragraph that has it, sorted.
    words: Vec<u64>,
}

impl WordFrequency {
    pub fn of(document: &Document, steps: &mut Steps) -> Self {
        let mut all = Vec::new();
        for place in 0..document.paragraphs.len() {
            let words = WordBag::of(text_of(document, place), steps).words;
            all.extend(words.chunk_by(|a, b| a == b).map(|same| same[0]));
        }
        all.sort_unstable();
        WordFrequency { words: all }
    }

    /// Whether at most so many paragraphs have the word.
    pub fn is_within(&self, word: u64, paragraphs_max: usize) -> bool {
        let first = self.words.partition_point(|&before| before < word);
        self.words.get(first + paragraphs_max) != Some(&word)
    }
}
