//! The words of a paragraph with wildcards where it varies.
//!
//! ```text
//! Views: # today        `#` inside a word: a number; the text around it is fixed, so `€#` is no `$#`
//! Updated # @ ago       `@`: a word of time (a month, a weekday, minutes, yesterday)
//! Request ~             `~`: a token, letters and digits mixed
//! Newest member: *      `*`: any one word
//! Seen ** here          `**`: none to six words
//! =31:9f86d081884c7d65  so many fixed words, by their digest: only the first and last of a long run are spelled out
//! \#1                   a letter that is meant as it is
//! ```
//!
//! The fixed words of a shape must match exactly: a real edit next to a counter does not match.

use memchr::{memchr_iter, memmem};
use xxhash_rust::xxh3::xxh3_64;

use super::shape_word::ShapeWord;

/// Paragraphs with more words have no shape.
pub(super) const WORDS_MAX: usize = 2_000;
/// The number of words that `**` may match.
pub(super) const RUN_WORDS_MAX: usize = 6;
/// With more free words, a paragraph is identified by its place alone. `**` counts as two.
const FREE_WORDS_MAX: usize = 3;
/// An estimate of the bytes per word, so that a list of words seldom grows.
const BYTES_PER_WORD: usize = 6;
/// The limit of wildcards in a shape.
pub(super) const WILDCARDS_MAX: usize = 24;

/// The words of a paragraph, fixed and free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape(pub(super) Vec<ShapeWord>);

impl Shape {
    /// Parses the written form. Every text is a shape.
    pub fn parse(text: &str) -> Shape {
        Shape(text.split_whitespace().take(WORDS_MAX).map(ShapeWord::parse).collect())
    }

    pub fn text(&self) -> Box<str> {
        let mut text = String::new();
        for piece in &self.0 {
            if !text.is_empty() {
                text.push(' ');
            }
            piece.write(&mut text);
        }
        text.into()
    }

    pub fn matches(&self, text: &str) -> bool {
        // Every paragraph of a page is tested, and most of them differ at the beginning.
        if let Some(ShapeWord::Word(first)) = self.0.first()
            && text.split_whitespace().next() != Some(&**first)
        {
            return false;
        }
        let words = words(text);
        words.len() <= WORDS_MAX && self.masks(&words).is_some()
    }

    /// Whether no word is fixed, so that only the place identifies the paragraph.
    pub fn is_bare(&self) -> bool {
        !self.0.iter().any(|piece| matches!(piece, ShapeWord::Word(_) | ShapeWord::Fixed(..)))
    }

    pub(super) fn has_numbers(&self) -> bool {
        self.wildcards().any(|piece| matches!(piece, ShapeWord::Numbered(_) | ShapeWord::Time))
    }

    /// Whether enough words are fixed to identify the paragraph and the varying part.
    pub(super) fn is_telling(&self) -> bool {
        let free: usize = self.0.iter().map(ShapeWord::freedom).sum();
        let wildcards = self.wildcards().count();
        let bare_and_free = self.is_bare() && free > 0;
        (1..=WILDCARDS_MAX).contains(&wildcards) && free <= FREE_WORDS_MAX && !bare_and_free
    }

    fn wildcards(&self) -> impl Iterator<Item = &ShapeWord> {
        self.0.iter().filter(|piece| !matches!(piece, ShapeWord::Word(_) | ShapeWord::Fixed(..)))
    }

    /// For each word the wildcard that covers it, if the words match.
    pub(super) fn masks(&self, words: &[&str]) -> Option<Vec<Option<ShapeWord>>> {
        let mut masks = vec![None; words.len()];
        self.mask_from(0, words, 0, &mut masks).then_some(masks)
    }

    fn mask_from(&self, mut at: usize, words: &[&str], mut place: usize, masks: &mut [Option<ShapeWord>]) -> bool {
        while let Some(piece) = self.0.get(at) {
            match piece {
                ShapeWord::Run => {
                    // Shortest first; each run is tried at most seven times, and there is at most one per shape.
                    return (0..=RUN_WORDS_MAX.min(words.len() - place)).any(|taken| {
                        masks[place..].fill(None);
                        masks[place..place + taken].fill(Some(ShapeWord::Run));
                        self.mask_from(at + 1, words, place + taken, masks)
                    });
                }
                ShapeWord::Fixed(count, digest) => {
                    let Some(run) = words.get(place..place + count) else { return false };
                    if digest_of(run) != *digest {
                        return false;
                    }
                    place += count;
                }
                piece => {
                    let Some(word) = words.get(place).filter(|word| piece.covers(word)) else { return false };
                    let _ = word;
                    masks[place] = (!matches!(piece, ShapeWord::Word(_))).then(|| piece.clone());
                    place += 1;
                }
            }
            at += 1;
        }
        place == words.len()
    }
}

pub(super) fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::with_capacity(text.len().min(WORDS_MAX * BYTES_PER_WORD) / BYTES_PER_WORD + 1);
    if !is_plain(text) {
        match text.is_ascii() {
            true => words.extend(text.split_ascii_whitespace().take(WORDS_MAX + 1)),
            false => words.extend(text.split_whitespace().take(WORDS_MAX + 1)),
        }
        return words;
    }
    let mut start = 0;
    let mut push = |end: usize| {
        if start < end && words.len() <= WORDS_MAX {
            words.push(&text[start..end]);
        }
        start = end + 1;
    };
    for (place, _) in text.bytes().enumerate().filter(|(_, byte)| *byte == b' ') {
        push(place);
    }
    push(text.len());
    words
}

/// The number of words of a text, where counting its spaces is enough.
pub(super) fn word_count(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_folded = is_plain(text) && !text.is_empty() && bytes[0] != b' ' && !bytes.ends_with(b" ");
    (is_folded && memmem::find(bytes, b"  ").is_none()).then(|| memchr_iter(b' ', bytes).count() + 1)
}

/// Whether a text is ASCII with spaces as its only white space. Most texts are, because white space was folded when they were
/// read.
pub(super) fn is_plain(text: &str) -> bool {
    text.bytes().fold(true, |plain, byte| plain & (byte.wrapping_sub(b' ') < 0x60))
}

pub(super) fn digest_of(words: &[&str]) -> u64 {
    xxh3_64(words.join(" ").as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_lie_between_white_space(text in "( |[a-z#.]{1,9}|[\t\n\u{1f}\u{7f}\u{a0}\u{85}é]){0,12}") {
            prop_assert_eq!(words(&text), text.split_whitespace().collect::<Vec<_>>());
            prop_assert!(word_count(&text).is_none_or(|count| count == words(&text).len()));
        }
    }

    #[test]
    fn words_beyond_the_limit_are_not_cut() {
        assert_eq!(words(&"a ".repeat(3 * WORDS_MAX)).len(), WORDS_MAX + 1);
        assert_eq!(words(&"é ".repeat(3 * WORDS_MAX)).len(), WORDS_MAX + 1);
    }
}
