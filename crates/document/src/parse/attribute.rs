//! One attribute of a tag as the scan found it, and what its letters say before anyone reads it.

use std::borrow::Cow;

use super::name::Name;

#[derive(Copy, Clone, Debug)]
pub struct Attribute<'a> {
    pub name: Name<'a>,
    /// As written, without quotes.
    pub raw: &'a str,
    /// What letters it has.
    pub(super) signs: Signs,
}

/// What letters a value has, seen while its end was looked for: most values need no second look.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Signs(pub(super) u8);

impl Signs {
    /// A character reference, or NUL.
    const CODED: u8 = 1;
    /// A digit.
    const DIGIT: u8 = 2;
    /// `?`
    const QUERY: u8 = 4;
    /// `_`
    const UNDERSCORE: u8 = 8;
    const CAPITAL: u8 = 16;

    pub(super) const TABLE: [u8; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            table[byte] = match byte as u8 {
                b'&' | 0 => Self::CODED,
                b'0'..=b'9' => Self::DIGIT,
                b'?' => Self::QUERY,
                b'_' => Self::UNDERSCORE,
                b'A'..=b'Z' => Self::CAPITAL,
                _ => 0,
            };
            byte += 1;
        }
        table
    };

    pub fn of(text: &str) -> Self {
        Signs(text.bytes().fold(0, |signs, byte| signs | Self::TABLE[usize::from(byte)]))
    }

    fn is_coded(self) -> bool {
        self.0 & Self::CODED != 0
    }

    /// Whether a random name among others is possible.
    pub fn may_name_at_random(self) -> bool {
        self.0 & (Self::DIGIT | Self::UNDERSCORE | Self::CAPITAL) != 0
    }

    /// Whether something drawn, or an address with a query, is possible.
    pub fn may_be_drawn(self) -> bool {
        self.0 & (Self::DIGIT | Self::UNDERSCORE | Self::QUERY) != 0
    }
}

impl<'a> Attribute<'a> {
    #[cfg(test)]
    pub fn of(name: &'a str, raw: &'a str) -> Self {
        Attribute { name: Name::of(name), raw, signs: Signs::of(raw) }
    }

    #[inline(always)]
    pub fn is(&self, name: &str) -> bool {
        self.name.is(name)
    }

    /// What letters the decoded value has.
    pub fn signs(&self, value: &str) -> Signs {
        if self.signs.is_coded() { Signs::of(value) } else { self.signs }
    }

    #[inline]
    pub fn value(&self) -> Cow<'a, str> {
        if self.signs.is_coded() { self.decoded() } else { Cow::Borrowed(self.raw) }
    }

    fn decoded(&self) -> Cow<'a, str> {
        if self.raw.contains('\0') {
            return Cow::Owned(htmlize::unescape_attribute(self.raw.replace('\0', "\u{fffd}")).into_owned());
        }
        htmlize::unescape_attribute(self.raw)
    }
}
