//! Tags that were met before, letter for letter: a page repeats many of its tags, and what was found out about one holds
//! for the next.
//!
//! A small table by the digest of the tag's letters; what is met anew takes the place of what was there. Attributes lie in
//! one list, and when that is full all is forgotten, so that a long page costs no more memory than a short one.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::attribute::Attribute;

/// Places for tags; a power of two.
pub const PLACES: usize = 128;

/// Attributes that are remembered at most, beside those of the tag that is being read.
const ATTRIBUTES_MAX: usize = 512;

/// Longer tags are seldom repeated.
const TAG_BYTES_MAX: usize = 240;

/// Where a tag is remembered.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub place: u8,
    /// Whether it was there already, so that what was noted about this place is true of it.
    pub is_repeat: bool,
}

pub struct Repeats<'a> {
    tags: Vec<Remembered<'a>>,
    pub attributes: Vec<Attribute<'a>>,
    /// What was remembered in an earlier round is forgotten.
    round: u32,
}

#[derive(Copy, Clone, Default)]
struct Remembered<'a> {
    letters: &'a [u8],
    first: u32,
    end: u32,
    round: u32,
    self_closing: bool,
}

impl<'a> Repeats<'a> {
    pub fn new() -> Self {
        Repeats { tags: Vec::new(), attributes: Vec::with_capacity(64), round: 1 }
    }

    /// The place of a tag, from its name to before its first `>`; `None` if it is too long to be remembered.
    pub fn place(letters: &[u8]) -> Option<u8> {
        (letters.len() <= TAG_BYTES_MAX).then(|| (xxh3_64(letters) as usize % PLACES) as u8)
    }

    /// The attributes of the very same tag, and whether it closed itself.
    pub fn find(&self, place: u8, letters: &[u8]) -> Option<(Range<usize>, bool)> {
        let tag = self.tags.get(usize::from(place))?;
        let is_same = tag.round == self.round && tag.letters == letters;
        is_same.then_some((tag.first as usize..tag.end as usize, tag.self_closing))
    }

    /// Forgets everything if there is no room for one more tag.
    pub fn make_room(&mut self) {
        if self.attributes.len() > ATTRIBUTES_MAX {
            self.attributes.clear();
            self.round += 1;
        }
    }

    /// Remembers a tag whose attributes begin at `first` and end the list.
    pub fn keep(&mut self, place: u8, letters: &'a [u8], first: usize, self_closing: bool) {
        if self.tags.is_empty() {
            self.tags.resize(PLACES, Remembered::default());
        }
        let (first, end) = (first as u32, self.attributes.len() as u32);
        self.tags[usize::from(place)] = Remembered { letters, first, end, round: self.round, self_closing };
    }
}
