//! How alike two paragraphs are: the words they share, whatever their order.

use super::steps::Steps;
use super::words::cuts;
use crate::parse::links::limited;

/// What is counted of a paragraph; two that agree in so much agree.
const BAG_BYTES_MAX: usize = 16 << 10;

/// Numbers that changed count for so much of a word: `€9.99` and `€12.99` are the same thing with another price, and
/// any two of a column of numbers are not.
const SHAPE_WEIGHT: f32 = 0.75;

/// The words of a paragraph, sorted, repeats kept.
#[derive(Debug, Default)]
pub struct Bag {
    /// Letters in lower case, as far as they are ASCII.
    pub words: Vec<u64>,
    /// The same with every run of digits read as one zero; `None` where there is no digit.
    shapes: Option<Vec<u64>>,
}

impl Bag {
    /// Empty when the steps have ended, and so like nothing.
    pub fn of(text: &str, steps: &mut Steps) -> Self {
        let text = limited(text, BAG_BYTES_MAX);
        if !steps.spend(text.len() / 4 + 1) {
            return Bag::default();
        }
        let is_word = |word: &str| word.starts_with(char::is_alphanumeric);
        let mut bag = Bag::of_those(text, is_word);
        if bag.words.is_empty() {
            // A paragraph of nothing but signs is its signs.
            bag = Bag::of_those(text, |word| !is_word(word));
        }
        bag.words.sort_unstable();
        if let Some(shapes) = &mut bag.shapes {
            shapes.sort_unstable();
        }
        bag
    }

    fn of_those(text: &str, is_wanted: impl Fn(&str) -> bool) -> Bag {
        let mut bag = Bag { words: Vec::with_capacity(text.len() / BYTES_PER_WORD), shapes: None };
        for cut in cuts(text).filter(|cut| is_wanted(cut.word)) {
            let (mark, shape) = marks_of(cut.word);
            if shape != mark && bag.shapes.is_none() {
                bag.shapes = Some(bag.words.clone());
            }
            bag.words.push(mark);
            if let Some(shapes) = &mut bag.shapes {
                shapes.push(shape);
            }
        }
        bag
    }

    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// From 0, nothing shared, to 1, the same words; a number is like every number.
    pub fn likeness(&self, other: &Bag, steps: &mut Steps) -> f32 {
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

/// A guess of how much text there is to a word, so that a bag seldom grows.
const BYTES_PER_WORD: usize = 6;

/// The mark of a word, and that of its shape. Words are short: FNV-1a has marked one when a digest made for long texts has
/// not yet begun.
fn marks_of(word: &str) -> (u64, u64) {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x100_0000_01b3;
    let step = |mark: u64, byte: u8| (mark ^ u64::from(byte)).wrapping_mul(PRIME);
    let (mut mark, mut digits) = (START, false);
    for byte in word.bytes() {
        digits |= byte.is_ascii_digit();
        mark = step(mark, byte.to_ascii_lowercase());
    }
    if !digits {
        return (mark, mark);
    }
    let (mut shape, mut last) = (START, 0);
    for byte in word.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte.to_ascii_lowercase() }) {
        if (byte, last) != (b'0', b'0') {
            shape = step(shape, byte);
        }
        last = byte;
    }
    (mark, shape)
}

/// From 0 to 1: how much two sorted lists have in common (Dice).
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

/// What is left of the sorted list `a` when the items of `b` are taken out of it, each once.
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
    use super::*;

    fn likeness(a: &str, b: &str) -> f32 {
        let mut steps = Steps::new(1_000);
        let (a, b) = (Bag::of(a, &mut steps), Bag::of(b, &mut steps));
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
        let bag = Bag::of("words", &mut steps);
        assert_eq!(bag.likeness(&bag, &mut steps), 0.0);
    }

    #[test]
    fn repeats_are_taken_once_each() {
        assert_eq!(shared(&[1, 1, 2], &[1, 2, 2]), 2);
        assert_eq!(without(&[1, 1, 2, 3], &[0, 1, 3, 4]), [1, 2]);
    }
}
