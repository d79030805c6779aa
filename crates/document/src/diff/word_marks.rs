//! The words of an ASCII text and their marks, eight bytes at a time.

use crate::parse::swar::{HIGH, between, lower_case};
use crate::signature::folded_product;

const SPACES: u64 = u64::from_ne_bytes([b' '; 8]);

/// The eight bytes at this offset, with spaces after the end of the text.
fn block_at(text: &[u8], place: usize) -> u64 {
    match text[place..].first_chunk::<8>() {
        Some(block) => u64::from_le_bytes(*block),
        None => text[place..].iter().rev().fold(SPACES, |block, &byte| block << 8 | u64::from(byte)),
    }
}

/// The eight bytes at this offset, and the number of letters and digits that they begin with.
pub fn letters_at(text: &[u8], place: usize) -> (u64, usize) {
    let block = block_at(text, place);
    let letters = between(lower_case(block), b'a', b'z');
    let others = !(letters | between(block, b'0', b'9')) & HIGH;
    (block, (others.trailing_zeros() / 8) as usize)
}

/// The end of the word that begins here with so many letters, by the rule of `cuts`: points and the like join the parts around
/// them.
pub fn word_end(text: &[u8], start: usize, letters: usize) -> usize {
    let (mut place, mut letters) = (start + letters, letters);
    loop {
        if letters < 8 {
            let joins = matches!(text.get(place), Some(b'.' | b',' | b'\'' | b'-' | b'_' | b':'));
            if !joins || !text.get(place + 1).is_some_and(u8::is_ascii_alphanumeric) {
                return place;
            }
            place += 1;
        }
        if place >= text.len() {
            return place;
        }
        letters = letters_at(text, place).1;
        place += letters;
    }
}

/// The mark of a word, ignoring the case of ASCII letters. It processes eight bytes at a time: words are short, and a general
/// hash function has a high fixed cost.
pub fn mark_of(word: &[u8]) -> u64 {
    let (blocks, rest) = word.as_chunks::<8>();
    let mark = blocks.iter().fold(0, |mark, block| mixed(mark, lower_case(u64::from_le_bytes(*block))));
    if rest.is_empty() { mark } else { mixed(mark, last_block(block_at(rest, 0), rest.len())) }
}

/// The mark of a word that ends within the block that it begins. `None` if it has a digit or reaches the end of the block.
pub fn mark_of_plain(block: u64, letters: usize) -> Option<u64> {
    let is_plain = (1..8).contains(&letters) && between(block, b'0', b'9') << (64 - letters * 8) == 0;
    is_plain.then(|| mixed(0, last_block(block, letters)))
}

/// The letters at the start of a block in lower case, and their number.
fn last_block(block: u64, letters: usize) -> u64 {
    lower_case(block) & ((1 << (letters * 8)) - 1) | (letters as u64) << 56
}

pub fn has_digit(word: &[u8]) -> bool {
    let (blocks, rest) = word.as_chunks::<8>();
    let digits = |block: u64| between(block, b'0', b'9') != 0;
    blocks.iter().any(|block| digits(u64::from_le_bytes(*block))) || digits(block_at(rest, 0))
}

/// The mark of a word with every run of digits read as one zero.
pub fn shape_of(word: &[u8]) -> u64 {
    let mut shape = Vec::with_capacity(word.len());
    for &byte in word {
        let byte = if byte.is_ascii_digit() { b'0' } else { byte };
        if byte != b'0' || shape.last() != Some(&b'0') {
            shape.push(byte);
        }
    }
    mark_of(&shape)
}

fn mixed(mark: u64, item: u64) -> u64 {
    folded_product(mark ^ 0xa076_1d64_78bd_642f, item ^ 0xe703_7ed1_a0b4_28db)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn marks_are_equal_for_equal_words_and_for_no_others(a in "[abAB0é.]{1,20}", b in "[abAB0é.]{1,20}") {
            let is_same = a.eq_ignore_ascii_case(&b);
            prop_assert_eq!(mark_of(a.as_bytes()) == mark_of(b.as_bytes()), is_same, "{} {}", a, b);
            prop_assert_eq!(mark_of(a.as_bytes()), mark_of(a.to_ascii_lowercase().as_bytes()));
        }
    }
}
