//! A name as the scan found it: its letters, and the same packed into one number, so that it is met without a search.

use super::tag::pack;
use crate::signature::digest;

/// Names of up to so many letters are packed.
pub const PACKED_BYTES_MAX: usize = 8;

#[derive(Copy, Clone, Debug)]
pub struct Name<'a> {
    /// As written.
    letters: &'a [u8],
    /// The letters in lower case; 0 for what does not fit, and for what begins with NUL.
    packed: u64,
}

impl<'a> Name<'a> {
    pub fn of(text: &'a str) -> Self {
        let packed = if text.starts_with('\0') { 0 } else { pack(text.as_bytes()) };
        Name { letters: text.as_bytes(), packed }
    }

    /// For the scan, which packs while it looks for the end of the name, and cuts where a text may be cut.
    #[inline(always)]
    pub fn packed_already(letters: &'a [u8], packed: u64) -> Self {
        Name { letters, packed }
    }

    /// As written. Few ask for it, so that only they pay for the proof that it is text.
    pub fn text(&self) -> &'a str {
        std::str::from_utf8(self.letters).unwrap_or_default()
    }

    #[inline(always)]
    pub fn letters(&self) -> &'a [u8] {
        self.letters
    }

    /// Whether it is this name, in any case. Names in the source code are met as numbers.
    #[inline(always)]
    pub fn is(&self, name: &str) -> bool {
        if name.len() <= PACKED_BYTES_MAX {
            return self.packed == pack(name.as_bytes()) && self.packed != 0;
        }
        self.letters.len() == name.len() && self.letters.eq_ignore_ascii_case(name.as_bytes())
    }

    /// Whether two found names are one.
    pub fn same(&self, other: &Name<'_>) -> bool {
        self.packed == other.packed && (self.packed != 0 || self.letters.eq_ignore_ascii_case(other.letters))
    }

    /// 0 for a name that is longer than the packed ones.
    pub fn packed(&self) -> u64 {
        self.packed
    }

    /// A number for the name, whose case means nothing.
    #[inline]
    pub fn mark(&self) -> u64 {
        if self.packed != 0 { self.packed } else { self.long_mark() }
    }

    fn long_mark(&self) -> u64 {
        // Almost all names are short enough to be made small without an allocation.
        let mut small = [0u8; 64];
        match (pack(self.letters), small.get_mut(..self.letters.len())) {
            (0, Some(small)) => {
                small.copy_from_slice(self.letters);
                small.make_ascii_lowercase();
                digest(small)
            }
            (0, None) => digest(&self.letters.to_ascii_lowercase()),
            (packed, _) => packed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_met_in_any_case_and_only_whole() {
        for name in ["a", "HREF", "data-src", "aria-Label", "placeholder"] {
            assert!(Name::of(name).is(&name.to_ascii_lowercase()), "{name}");
            assert!(!Name::of(&format!("{name}x")).is(&name.to_ascii_lowercase()), "{name}");
            assert!(!Name::of(&format!("\0{name}")).is(&name.to_ascii_lowercase()), "{name}");
            assert!(Name::of(name).same(&Name::of(&name.to_ascii_uppercase())), "{name}");
            assert_eq!(Name::of(name).mark(), Name::of(&name.to_ascii_uppercase()).mark(), "{name}");
        }
        assert!(!Name::of("\0id").same(&Name::of("id")));
        assert!(!Name::of("").is("id"));
    }

    #[test]
    fn long_names_have_marks_of_their_own() {
        let (long, longer) = ("x".repeat(64), "x".repeat(65));
        assert_ne!(Name::of(&long).mark(), Name::of(&longer).mark());
        assert_eq!(Name::of(&longer).mark(), Name::of(&longer.to_uppercase()).mark());
    }
}
