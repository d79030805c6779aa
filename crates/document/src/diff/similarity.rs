//! The similarity of two paragraphs: the words that they share in any order.

use super::steps::Steps;
use super::word_marks::{has_digit, letters_at, mark_of, mark_of_plain, shape_of, word_end};
use super::words::cuts;
use crate::parse::links::limited;

/// So many words of a paragraph are compared.
const BAG_BYTES_MAX: usize = 16 << 10;

/// The weight of a changed number, with 1 for a word: `€9.99` and `€12.99` may be one article with a new price, but any two
/// numbers of a column are not the same.
const SHAPE_WEIGHT: f32 = 0.75;

/// The words of a paragraph, sorted, repeats kept.
#[derive(Debug, Default)]
pub struct WordBag {
    /// The words with ASCII letters in lower case.
    pub words: Vec<u64>,
    /// The words with every run of digits as one zero. `None` where there is no digit.
    shapes: Option<Vec<u64>>,
}

impl WordBag {
    /// Empty, and so similar to nothing, when the steps are used up.
    pub fn of(text: &str, steps: &mut Steps) -> Self {
        let text = limited(text, BAG_BYTES_MAX);
        if !steps.spend(text.len() / 4 + 1) {
            return WordBag::default();
        }
        let mut bag = match text.is_ascii() {
            true => WordBag::of_ascii(text.as_bytes()),
            false => WordBag::of_those(text, is_word),
        };
        if bag.words.is_empty() {
            // A paragraph of punctuation only is compared by its punctuation.
            bag = WordBag::of_those(text, |word| !is_word(word));
        }
        bag.words.sort_unstable();
        if let Some(shapes) = &mut bag.shapes {
            shapes.sort_unstable();
        }
        bag
    }

    fn of_those(text: &str, is_wanted: impl Fn(&str) -> bool) -> WordBag {
        let mut bag = WordBag::with_room_for(text.len());
        for cut in cuts(text).filter(|cut| is_wanted(cut.word)) {
            bag.push(cut.word.as_bytes());
        }
        bag
    }

    /// The words of an ASCII text, found without examining each letter.
    fn of_ascii(text: &[u8]) -> WordBag {
        let mut bag = WordBag::with_room_for(text.len());
        let mut place = 0;
        while place < text.len() {
            let (block, letters) = letters_at(text, place);
            if letters == 0 {
                place += 1;
                continue;
            }
            let start = place;
            place = word_end(text, place, letters);
            // Most words end within the current block and have no digit.
            let plain = if place - start == letters { mark_of_plain(block, letters) } else { None };
            match plain {
                Some(mark) => bag.push_plain(mark),
                None => bag.push(&text[start..place]),
            }
            place += usize::from(text.get(place) == Some(&b' '));
        }
        bag
    }

    fn with_room_for(bytes: usize) -> WordBag {
        WordBag { words: Vec::with_capacity(bytes / BYTES_PER_WORD + 1), shapes: None }
    }

    fn push(&mut self, word: &[u8]) {
        let mark = mark_of(word);
        let shape = if has_digit(word) { shape_of(word) } else { mark };
        if shape != mark && self.shapes.is_none() {
            self.shapes = Some(self.words.clone());
        }
        self.words.push(mark);
        if let Some(shapes) = &mut self.shapes {
            shapes.push(shape);
        }
    }

    /// A word without a digit.
    fn push_plain(&mut self, mark: u64) {
        self.words.push(mark);
        if let Some(shapes) = &mut self.shapes {
            shapes.push(mark);
        }
    }

    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// An upper bound of the similarity, from the lengths alone.
    pub fn likeness_max(&self, other: &WordBag) -> f32 {
        let (short, both) = (self.len().min(other.len()), self.len() + other.len());
        if both == 0 { 0.0 } else { 2.0 * short as f32 / both as f32 }
    }

    /// From 0 (nothing shared) to 1 (the same words). All numbers count as similar.
    pub fn likeness(&self, other: &WordBag, steps: &mut Steps) -> f32 {
        let both = self.len() + other.len();
        if both == 0 || !steps.spend(2 * both) {
            return 0.0;
        }
        let words = likeness_of(&self.words, &other.words);
        if self.shapes.is_none() && other.shapes.is_none() {
            return words;
        }
        words.max(SHAPE_WEIGHT * likeness_of(self.shapes(), other.shapes()))
    }

    fn shapes(&self) -> &[u64] {
        self.shapes.as_ref().unwrap_or(&self.words)
    }
}

/// An estimate of the bytes per word, so that a bag seldom grows.
const BYTES_PER_WORD: usize = 6;

fn is_word(word: &str) -> bool {
    word.starts_with(char::is_alphanumeric)
}

/// The Dice coefficient of two sorted lists, from 0 to 1.
pub fn likeness_of(a: &[u64], b: &[u64]) -> f32 {
    let both = a.len() + b.len();
    if both == 0 { 0.0 } else { 2.0 * shared(a, b) as f32 / both as f32 }
}

/// How many items two sorted lists have in common, repeats counted.
pub fn shared(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, count) = (i + 1, j + 1, count + 1),
        }
    }
    count
}

/// The sorted list `a` without the items of `b`, each removed once.
pub fn without(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut left = Vec::with_capacity(a.len());
    let mut j = 0;
    for &item in a {
        while j < b.len() && b[j] < item {
            j += 1;
        }
        if b.get(j) == Some(&item) {
            j += 1;
        } else {
            left.push(item);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_of_ascii_are_the_words_of_every_text(text in "( |[a-zA-Z]{1,9}|[0-9.,'_:-]{1,5}|[#()/\n]|[a-z]{7,9}[.:][a-z0-9]){0,14}") {
            let (plain, short) = (WordBag::of_those(&text, is_word), WordBag::of_ascii(text.as_bytes()));
            prop_assert_eq!(plain.words, short.words);
            prop_assert_eq!(plain.shapes, short.shapes);
        }

        #[test]
        fn nothing_is_more_alike_than_lengths_allow(a in "([a-c0-9]{1,2} ){0,8}", b in "([a-c0-9]{1,2} ){0,8}") {
            let mut steps = Steps::new(10_000);
            let (a, b) = (WordBag::of(&a, &mut steps), WordBag::of(&b, &mut steps));
            prop_assert!(a.likeness(&b, &mut steps) <= a.likeness_max(&b));
        }
    }

    fn likeness(a: &str, b: &str) -> f32 {
        let mut steps = Steps::new(1_000);
        let (a, b) = (WordBag::of(a, &mut steps), WordBag::of(b, &mut steps));
        a.likeness(&b, &mut steps)
    }

    #[test]
    fn case_and_punctuation_do_not_make_a_difference() {
        assert_eq!(likeness("Hello, World!", "hello world"), 1.0);
    }

    #[test]
    fn a_number_that_changed_is_most_of_a_word() {
        assert_eq!(likeness("€9.99", "€12.99"), 0.75);
        assert!(likeness("Price today 9", "Price today 12") > 0.7);
        assert_eq!(likeness("one two", "three four"), 0.0);
    }

    #[test]
    fn nothing_is_like_anything_when_the_steps_have_ended() {
        let mut steps = Steps::new(0);
        let bag = WordBag::of("words", &mut steps);
        assert_eq!(bag.likeness(&bag, &mut steps), 0.0);
    }

    #[test]
    fn repeats_are_taken_once_each() {
        assert_eq!(shared(&[1, 1, 2], &[1, 2, 2]), 2);
        assert_eq!(without(&[1, 1, 2, 3], &[0, 1, 3, 4]), [1, 2]);
    }
}
