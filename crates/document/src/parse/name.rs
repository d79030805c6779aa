//! A name as the scan found it: its text, and the text packed into one number for fast comparison.

use super::tag::pack;
use crate::signature::digest;

/// Names of up to so many bytes are packed.
pub const PACKED_BYTES_MAX: usize = 8;

#[derive(Copy, Clone, Debug)]
pub struct Name<'a> {
    /// As written.
    letters: &'a [u8],
    /// The packed bytes in lower case. 0 for names that are too long or begin with NUL.
    packed: u64,
}

impl<'a> Name<'a> {
    pub fn of(text: &'a str) -> Self {
        let packed = if text.starts_with('\0') { 0 } else { pack(text.as_bytes()) };
        Name { letters: text.as_bytes(), packed }
    }

    /// Makes a name. The scan has packed it while searching its end, and cuts at a character boundary.
    #[inline(always)]
    pub fn packed_already(letters: &'a [u8], packed: u64) -> Self {
        Name { letters, packed }
    }

    /// The name as written. The check that it is UTF-8 is made here, because few callers need the text.
    pub fn text(&self) -> &'a str {
        std::str::from_utf8(self.letters).unwrap_or_default()
    }

    #[inline(always)]
    pub fn letters(&self) -> &'a [u8] {
        self.letters
    }

    /// Whether it is this name, ignoring case. Names in the source code are compared as numbers.
    #[inline(always)]
    pub fn is(&self, name: &str) -> bool {
        if name.len() <= PACKED_BYTES_MAX {
            return self.packed == pack(name.as_bytes()) && self.packed != 0;
        }
        self.letters.len() == name.len() && self.letters.eq_ignore_ascii_case(name.as_bytes())
    }

    /// Whether two names are equal.
    pub fn same(&self, other: &Name<'_>) -> bool {
        self.packed == other.packed && (self.packed != 0 || self.letters.eq_ignore_ascii_case(other.letters))
    }

    /// 0 for a name that is longer than the packed ones.
    pub fn packed(&self) -> u64 {
        self.packed
    }

    /// A number for the name, ignoring case.
    #[inline]
    pub fn mark(&self) -> u64 {
        if self.packed != 0 { self.packed } else { self.long_mark() }
    }

    fn long_mark(&self) -> u64 {
        // Almost all names are short enough for lower case without an allocation.
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
