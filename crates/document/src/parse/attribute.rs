//! One attribute of a tag as the scan found it, and the kinds of characters in its value.

use std::borrow::Cow;

use super::name::Name;
use super::references::{Within, decoded};

#[derive(Copy, Clone, Debug)]
pub struct Attribute<'a> {
    pub name: Name<'a>,
    /// As written, without quotes.
    pub raw: &'a str,
    /// The kinds of characters in the value.
    pub(super) signs: CharacterClasses,
}

/// The kinds of characters in a value, collected while its end was searched. Most values need no further examination.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct CharacterClasses(u8);

/// Bytes per step; vector registers of all our machines have at least this width.
const ROW_BYTES: usize = 16;

impl CharacterClasses {
    /// A character reference, or NUL.
    const CODED: u8 = 1;
    /// A digit.
    const DIGIT: u8 = 2;
    /// `?`
    const QUERY: u8 = 4;
    /// `_`
    const UNDERSCORE: u8 = 8;
    const CAPITAL: u8 = 16;

    const TABLE: [u8; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            table[byte] = Self::of_byte(byte as u8);
            byte += 1;
        }
        table
    };

    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let Some(last) = bytes.last_chunk::<ROW_BYTES>() else {
            return CharacterClasses(bytes.iter().fold(0, |signs, &byte| signs | Self::TABLE[usize::from(byte)]));
        };
        // Rows of bytes are processed together. The last row overlaps the one before it, which does no harm.
        let mut signs = last.map(Self::of_byte);
        for row in bytes.as_chunks::<ROW_BYTES>().0 {
            for (signs, &byte) in signs.iter_mut().zip(row) {
                *signs |= Self::of_byte(byte);
            }
        }
        CharacterClasses(signs.into_iter().fold(0, |all, signs| all | signs))
    }

    /// Without branches, so that the compiler can vectorise it.
    #[inline(always)]
    const fn of_byte(byte: u8) -> u8 {
        let coded = (byte == b'&' || byte == 0) as u8 * Self::CODED;
        let digit = (byte.wrapping_sub(b'0') < 10) as u8 * Self::DIGIT;
        let query = (byte == b'?') as u8 * Self::QUERY;
        let underscore = (byte == b'_') as u8 * Self::UNDERSCORE;
        let capital = (byte.wrapping_sub(b'A') < 26) as u8 * Self::CAPITAL;
        coded | digit | query | underscore | capital
    }

    fn is_coded(self) -> bool {
        self.0 & Self::CODED != 0
    }

    pub fn has_digit(self) -> bool {
        self.0 & Self::DIGIT != 0
    }

    pub fn has_underscore(self) -> bool {
        self.0 & Self::UNDERSCORE != 0
    }

    /// Whether the value may contain a random name.
    pub fn may_name_at_random(self) -> bool {
        self.0 & (Self::DIGIT | Self::UNDERSCORE | Self::CAPITAL) != 0
    }

    /// Whether the value may contain a token or an address with a query.
    pub fn may_be_drawn(self) -> bool {
        self.0 & (Self::DIGIT | Self::UNDERSCORE | Self::QUERY) != 0
    }
}

impl<'a> Attribute<'a> {
    #[cfg(test)]
    pub fn of(name: &'a str, raw: &'a str) -> Self {
        Attribute { name: Name::of(name), raw, signs: CharacterClasses::of(raw) }
    }

    #[inline(always)]
    pub fn is(&self, name: &str) -> bool {
        self.name.is(name)
    }

    /// The kinds of characters in the decoded value.
    pub fn signs(&self, value: &str) -> CharacterClasses {
        if self.signs.is_coded() { CharacterClasses::of(value) } else { self.signs }
    }

    #[inline]
    pub fn value(&self) -> Cow<'a, str> {
        if self.signs.is_coded() { self.decoded() } else { Cow::Borrowed(self.raw) }
    }

    fn decoded(&self) -> Cow<'a, str> {
        if self.raw.contains('\0') {
            return Cow::Owned(decoded(&self.raw.replace('\0', "\u{fffd}"), Within::Attribute));
        }
        Cow::Owned(decoded(self.raw, Within::Attribute))
    }
}
