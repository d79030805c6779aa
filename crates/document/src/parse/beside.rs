//! The words of a kept body beside a newer version of its page. What both have is lent by the newer one; of the kept body
//! no more is unpacked and read than the stretch with the rest.
//!
//! Where that stretch lies is a guess by the newer version, which has the same paragraphs before and after it. That what
//! was read there is right is no guess: the marks of the kept body have the digest of each paragraph. A guess that fails
//! costs a reading of the whole.

use memchr::{memmem, memrchr};
use vernal_model::{Document, Paragraph, ParagraphMark, Role};

use super::scan::{Markup, scan};
use super::text::TextBuilder;
use super::words::Words;
use crate::PARAGRAPHS_MAX;
use crate::detect::digest_map::DigestMap;
use crate::diff::words::text_of;

/// The stretch may lie so far from where the newer version has it, when attributes and scripts before it have grown.
const AWAY_BYTES_MAX: usize = 2 << 10;

/// By so many of its first letters a paragraph is looked for.
const LOOKED_FOR_BYTES: usize = 16;

/// So much more is unpacked than the stretch needs: what follows it need not have the same length as in the newer version,
/// and the last match of a packed body that is cut short is missing.
const SPARE_BYTES: usize = 512;

/// A kept body, known by its marks, and a newer version of its page.
pub struct Beside<'a> {
    marks: &'a [ParagraphMark],
    newer: &'a Document,
    /// For each mark the paragraph of the newer version that lends it words.
    lenders: Vec<Option<usize>>,
    /// The first paragraph that has to be read, and the last.
    wanted: Option<(usize, usize)>,
    /// Paragraphs that both versions have at their beginning and at their end.
    before: usize,
    after: usize,
}

impl<'a> Beside<'a> {
    pub fn new(marks: &'a [ParagraphMark], newer: &'a Document) -> Self {
        let all = &newer.paragraphs;
        let same = |(mark, one): &(&ParagraphMark, &Paragraph)| mark.digest == one.digest && may_lend(one, mark);
        let before = marks.iter().zip(all).take_while(same).count();
        let left = marks.len().min(all.len()) - before;
        let after = marks.iter().rev().zip(all.iter().rev()).take(left).take_while(same).count();
        // Between them, wherever it is now.
        let between = before..all.len() - after;
        let places: DigestMap<usize> = between.map(|place| (all[place].digest, place)).collect();
        let lender = |(index, mark): (usize, &ParagraphMark)| match index {
            _ if index < before => Some(index),
            _ if index >= marks.len() - after => Some(index + all.len() - marks.len()),
            _ => places.get(&mark.digest).copied().filter(|&place| may_lend(&all[place], mark)),
        };
        let lenders: Vec<Option<usize>> = marks.iter().enumerate().map(lender).collect();
        let first = lenders.iter().position(Option::is_none);
        let wanted = first.zip(lenders.iter().rposition(Option::is_none));
        Beside { marks, newer, lenders, wanted, before, after }
    }

    /// All words, where the newer version lends them all.
    pub fn lent(&self) -> Option<Document> {
        match self.wanted {
            None => Some(self.put_together(0, "", &[])),
            Some(_) => None,
        }
    }

    /// How much of the kept body, which unpacks to `all` bytes, most likely holds what has to be read; `None` if that is
    /// as good as all of it.
    pub fn bytes_wanted(&self, all: usize) -> Option<usize> {
        // Places are in letters of UTF-8; of another character set they say little about bytes.
        if self.newer.charset != "UTF-8" || self.after == 0 {
            return None;
        }
        let end = *self.newer.begins.last()? as usize;
        let next = *self.newer.begins.get(self.newer.paragraphs.len() - self.after)? as usize;
        let wanted = next.max(all.saturating_sub(end.saturating_sub(next))) + SPARE_BYTES;
        (wanted + all / 8 < all).then_some(wanted)
    }

    /// The words, from a source that may be cut short behind what has to be read. `None` if they are not all there.
    pub(crate) fn words(&self, source: &str, markup: Markup) -> Option<Document> {
        let Some((_, last)) = self.wanted else { return self.lent() };
        // The first paragraph that is read is one that is known: it shows whether this is the right place.
        let known = self.before.checked_sub(1).filter(|_| self.marks.len() < PARAGRAPHS_MAX);
        let near = known.and_then(|known| {
            let place = self.place_near(source, known)?;
            self.stretch(source.get(place..)?, markup, Some(known), last)
        });
        near.or_else(|| self.stretch(source, markup, None, last))
    }

    /// Where a paragraph begins in the source that the newer version has at the same place.
    fn place_near(&self, source: &str, paragraph: usize) -> Option<usize> {
        let place = *self.newer.begins.get(paragraph)? as usize;
        let words = text_of(self.newer, paragraph).as_bytes();
        let letters = &words[..words.len().min(LOOKED_FOR_BYTES)];
        let source = source.as_bytes();
        if source.get(place..).is_some_and(|rest| rest.starts_with(letters)) {
            return Some(place);
        }
        let from = place.saturating_sub(AWAY_BYTES_MAX);
        let to = source.len().min(place + AWAY_BYTES_MAX);
        let found = memmem::find(source.get(from..to)?, letters);
        // Letters that are written as references are not found, and may be there all the same.
        Some(found.map_or(place, |ahead| from + ahead))
    }

    /// The words up to those of the last wanted paragraph, where `source` begins with a paragraph that is known, or is whole.
    fn stretch(&self, source: &str, markup: Markup, known: Option<usize>, last: usize) -> Option<Document> {
        let first = known.unwrap_or(0);
        let is_asked = |index: usize| self.lenders[index].is_none() || known == Some(index);
        let unread: Vec<bool> = (first..=last).map(|index| !is_asked(index)).collect();
        // Twice what so many paragraphs of the newer version have on average, so that there is seldom too little room.
        let asked = unread.iter().filter(|unread| !**unread).count();
        let room = self.newer.text.len() / self.newer.paragraphs.len().max(1) * asked * 2;
        let text = TextBuilder::with_capacity(room.min(source.len())).without_letters().without_words_of(unread);
        let mut pass = Words::until(last + 1 - first, text, markup);
        scan(source, markup, &mut pass);
        let (text, paragraphs) = pass.finish();
        let read = paragraphs.get(..last + 1 - first)?;
        let fits = |(index, one): (usize, &Paragraph)| {
            let mark = &self.marks[index];
            // The level of a heading is told by its tag, which may lie before what was read.
            let lacks_level =
                mark.role == Role::Heading && one.heading == 0 && known.is_some_and(|known| known < index);
            !is_asked(index) || one.digest == mark.digest && !lacks_level
        };
        (first..).zip(read).all(fits).then(|| self.put_together(first, &text, read))
    }

    /// Lent words and read ones, of which the first belong to the paragraph `first`.
    fn put_together(&self, first: usize, text: &str, read: &[Paragraph]) -> Document {
        let mut document =
            Document { text: String::with_capacity(self.newer.text.len() + text.len()), ..Document::default() };
        document.paragraphs.reserve_exact(self.marks.len());
        for (place, (mark, lender)) in self.marks.iter().zip(&self.lenders).enumerate() {
            let (words, heading) = match lender {
                Some(lender) => (text_of(self.newer, *lender), self.newer.paragraphs[*lender].heading),
                None => {
                    let one = &read[place - first];
                    (&text[one.start as usize..one.end as usize], one.heading)
                }
            };
            if !document.paragraphs.is_empty() {
                document.text.push('\n');
            }
            let start = document.text.len() as u32;
            document.text.push_str(words);
            let &ParagraphMark { digest, place, role, .. } = mark;
            let heading = if role == Role::Heading { heading } else { 0 };
            document.paragraphs.push(Paragraph {
                start,
                end: document.text.len() as u32,
                role,
                digest,
                place,
                heading,
            });
        }
        document
    }
}

/// Whether a paragraph with the same words may stand for the marked one: of a heading marks do not have the level, but the
/// same place of the same template has the same.
fn may_lend(one: &Paragraph, mark: &ParagraphMark) -> bool {
    mark.role != Role::Heading || one.heading > 0 && (one.role, one.place) == (mark.role, mark.place)
}

/// The start of a body without what a cut may have left of a tag or a letter.
pub(crate) fn whole_tags(start: &[u8]) -> &[u8] {
    &start[..memrchr(b'<', start).unwrap_or(0)]
}
