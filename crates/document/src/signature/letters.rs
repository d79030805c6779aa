//! Computes the sums for the two checksums of paper 003 in one pass over the letters of a text, without white space.

use super::checksum::K;

/// The length of a chunk whose sums fit into 32 bits: 255 · 255 · 4,096 does.
const STRETCH_BYTES: usize = 4_096;

/// What each byte adds: its code in the high half, and the square of its lower case in the low half.
const ADDS: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        if !letter.is_ascii_whitespace() {
            let lower = letter.to_ascii_lowercase() as u64;
            table[byte] = ((letter as u64) << 32) | (lower * lower);
        }
        byte += 1;
    }
    table
};

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct LetterSums {
    /// The sum of the letter codes.
    plain: u64,
    /// The sum of the squares of the letters in lower case.
    squares: u64,
    /// The number of different letters, in lower case.
    distinct: u32,
}

impl LetterSums {
    pub fn of(text: &str) -> Self {
        let mut sums = LetterSums::default();
        let mut seen = [0u8; 256];
        for stretch in text.as_bytes().chunks(STRETCH_BYTES) {
            let mut both = 0u64;
            let mut add = |byte: u8| {
                both += ADDS[usize::from(byte)];
                seen[usize::from(byte)] = 1;
            };
            let (swar, rest) = stretch.as_chunks::<8>();
            for eight in swar {
                for &byte in eight {
                    add(byte);
                }
            }
            for &byte in rest {
                add(byte);
            }
            sums.plain += both >> 32;
            sums.squares += both & u64::from(u32::MAX);
        }
        for white in [b' ', b'\n', b'\t', b'\r', b'\x0c'] {
            seen[usize::from(white)] = 0;
        }
        // A letter in both cases counts once.
        let (capitals, small) = (&seen[usize::from(b'A')..][..26], &seen[usize::from(b'a')..][..26]);
        let twice: u8 = capitals.iter().zip(small).map(|(capital, small)| capital & small).sum();
        // Eight flags at a time: their sum fits into a byte.
        let (swar, _) = seen.as_chunks::<8>();
        let columns = swar.iter().fold(0u64, |sum, flags| sum + u64::from_le_bytes(*flags));
        sums.distinct = (columns.wrapping_mul(0x0101_0101_0101_0101) >> 56) as u32 - u32::from(twice);
        sums
    }

    /// The number of different letters; the paper counts them beside its sums.
    pub fn distinct(&self) -> u32 {
        self.distinct
    }

    /// See `rms::rms`.
    pub fn rms(&self) -> f64 {
        if self.distinct == 0 { 0.0 } else { (self.squares as f64 / f64::from(self.distinct)).sqrt() }
    }

    /// See `checksum::checksum`.
    pub fn checksum(&self, points: f64) -> f64 {
        points * K * self.plain as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_are_those_of_a_plain_count(text in "[A-Za-z0-9 \t\n\u{b}é\u{0}-\u{ff}]{0,200}", times in 1usize..60) {
            let text = text.repeat(times);
            let letters = || text.bytes().filter(|byte| !byte.is_ascii_whitespace());
            let lower: Vec<u64> = letters().map(|byte| u64::from(byte.to_ascii_lowercase())).collect();
            let distinct = lower.iter().collect::<std::collections::BTreeSet<_>>().len();
            let expected = LetterSums {
                plain: letters().map(u64::from).sum(),
                squares: lower.iter().map(|letter| letter * letter).sum(),
                distinct: distinct as u32,
            };
            prop_assert_eq!(LetterSums::of(&text), expected);
        }
    }
}
