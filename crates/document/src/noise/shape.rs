//! The words of a paragraph with wildcards where it varies.
//!
//! ```text
//! Views: # today        `#` inside of a word: a number; what stands around it is fixed, so `€#` is no `$#`
//! Updated # @ ago       `@`: a word of time (a month, a weekday, minutes, yesterday)
//! Request ~             `~`: a token, letters and digits mixed
//! Newest member: *      `*`: any one word
//! Seen ** here          `**`: none to six words
//! =31:9f86d081884c7d65  so many fixed words, by their digest: only the first and last of a long run are spelled out
//! \#1                   a letter that is meant as it is
//! ```
//!
//! A shape holds the fixed words to the letter: a real edit beside a counter does not match it.

use memchr::{memchr_iter, memmem};
use xxhash_rust::xxh3::xxh3_64;

use super::piece::Piece;

/// Words of a paragraph that may be held against a shape; longer ones have none.
pub(super) const WORDS_MAX: usize = 2_000;
/// What `**` may stand for.
pub(super) const RUN_WORDS_MAX: usize = 6;
/// Free words, beyond which nothing but the place is left of a paragraph. `**` counts as two.
const FREE_WORDS_MAX: usize = 3;
/// A guess of how much text there is to a word, so that a list of words seldom grows.
const BYTES_PER_WORD: usize = 6;
/// Wildcards of a shape.
pub(super) const WILDCARDS_MAX: usize = 24;

/// A paragraph's words, fixed and free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape(pub(super) Vec<Piece>);

impl Shape {
    /// Reads the written form; every text is some shape.
    pub fn parse(text: &str) -> Shape {
        Shape(text.split_whitespace().take(WORDS_MAX).map(Piece::parse).collect())
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
        // Most paragraphs of a page begin otherwise, and every one of them is asked.
        if let Some(Piece::Word(first)) = self.0.first()
            && text.split_whitespace().next() != Some(&**first)
        {
            return false;
        }
        let words = words(text);
        words.len() <= WORDS_MAX && self.masks(&words).is_some()
    }

    /// Whether no word is fixed, so that only the place tells which paragraph is meant.
    pub fn is_bare(&self) -> bool {
        !self.0.iter().any(|piece| matches!(piece, Piece::Word(_) | Piece::Fixed(..)))
    }

    pub(super) fn is_token_only(&self) -> bool {
        self.wildcards().all(|piece| *piece == Piece::Token)
    }

    pub(super) fn has_numbers(&self) -> bool {
        self.wildcards().any(|piece| matches!(piece, Piece::Numbered(_) | Piece::Time))
    }

    /// Whether enough is fixed for the shape to say which paragraph is meant and what of it varies.
    pub(super) fn is_telling(&self) -> bool {
        let free: usize = self.0.iter().map(Piece::freedom).sum();
        let wildcards = self.wildcards().count();
        let bare_and_free = self.is_bare() && free > 0;
        (1..=WILDCARDS_MAX).contains(&wildcards) && free <= FREE_WORDS_MAX && !bare_and_free
    }

    fn wildcards(&self) -> impl Iterator<Item = &Piece> {
        self.0.iter().filter(|piece| !matches!(piece, Piece::Word(_) | Piece::Fixed(..)))
    }

    /// For each word the wildcard that covers it, if the words match.
    pub(super) fn masks(&self, words: &[&str]) -> Option<Vec<Option<Piece>>> {
        let mut masks = vec![None; words.len()];
        self.mask_from(0, words, 0, &mut masks).then_some(masks)
    }

    fn mask_from(&self, mut at: usize, words: &[&str], mut place: usize, masks: &mut [Option<Piece>]) -> bool {
        while let Some(piece) = self.0.get(at) {
            match piece {
                Piece::Run => {
                    // Shortest first; each run is tried at most seven times, and there is at most one per shape.
                    return (0..=RUN_WORDS_MAX.min(words.len() - place)).any(|taken| {
                        masks[place..].fill(None);
                        masks[place..place + taken].fill(Some(Piece::Run));
                        self.mask_from(at + 1, words, place + taken, masks)
                    });
                }
                Piece::Fixed(count, digest) => {
                    let Some(run) = words.get(place..place + count) else { return false };
                    if digest_of(run) != *digest {
                        return false;
                    }
                    place += count;
                }
                piece => {
                    let Some(word) = words.get(place).filter(|word| piece.covers(word)) else { return false };
                    let _ = word;
                    masks[place] = (!matches!(piece, Piece::Word(_))).then(|| piece.clone());
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

/// How many words a text has, where that can be told by its spaces.
pub(super) fn word_count(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_folded = is_plain(text) && !text.is_empty() && bytes[0] != b' ' && !bytes.ends_with(b" ");
    (is_folded && memmem::find(bytes, b"  ").is_none()).then(|| memchr_iter(b' ', bytes).count() + 1)
}

/// Whether a text is of ASCII, with no white space but spaces: what most had was folded when they were read.
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
