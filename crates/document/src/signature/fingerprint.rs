//! The fingerprint of the tags (paper 003, 4.1.2): the first and the last letters of the opening tags, in order.

use crate::parse::scan::{Markup, OpenTag, Sink, scan};
use crate::parse::tag::Tag;

/// The two strings of the paper.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagLetters {
    pub first: String,
    pub last: String,
}

/// Further tags have no letters, so that two versions are compared within a bound.
pub const TAGS_MAX: usize = 200_000;

pub fn tag_letters<'a>(names: impl IntoIterator<Item = &'a str>) -> TagLetters {
    let mut letters = TagLetters::default();
    names.into_iter().for_each(|name| letters.push(name));
    letters
}

/// The letters of all opening tags of a source.
pub fn written_letters(source: &str, markup: Markup) -> TagLetters {
    let mut tags = Tags { letters: TagLetters::default(), count: 0, wanted: None, found: None };
    scan(source, markup, &mut tags);
    tags.letters
}

/// The name of the opening tag with this number, from 0.
pub fn written_tag(source: &str, markup: Markup, number: usize) -> Option<String> {
    let mut tags = Tags { letters: TagLetters::default(), count: 0, wanted: Some(number), found: None };
    scan(source, markup, &mut tags);
    tags.found
}

impl TagLetters {
    fn push(&mut self, name: &str) {
        self.first.extend(name.chars().next().map(|letter| letter.to_ascii_lowercase()));
        self.last.extend(name.chars().next_back().map(|letter| letter.to_ascii_lowercase()));
    }
}

struct Tags {
    letters: TagLetters,
    count: usize,
    /// Only this tag is wanted.
    wanted: Option<usize>,
    found: Option<String>,
}

impl Sink for Tags {
    fn open(&mut self, tag: &OpenTag<'_, '_>) {
        match self.wanted {
            Some(wanted) if wanted == self.count => self.found = Some(tag.name.text().to_ascii_lowercase()),
            Some(_) => {}
            None => self.letters.push(tag.name.text()),
        }
        self.count += 1;
    }

    fn close(&mut self, _tag: Tag) {}

    fn text(&mut self, _text: &str, _coded: bool) {}

    fn raw(&mut self, _tag: Tag, _text: &str) {}

    fn is_done(&self) -> bool {
        self.found.is_some() || self.count >= TAGS_MAX
    }
}
