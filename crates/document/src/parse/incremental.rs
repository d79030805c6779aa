//! Reads the words of a kept body incrementally, with the help of a newer version of its page. Paragraphs of both versions are
//! copied from the newer one. Only the part of the kept body with the other paragraphs is unpacked and read.
//!
//! The place of that part is estimated from the newer version, which has the same paragraphs before and after it. The result is
//! verified: the marks of the kept body have the digest of each paragraph. When the estimate is wrong, the whole body is read.

use memchr::{memmem, memrchr};
use vernal_model::{Document, Paragraph, ParagraphMark, Role};

use super::scan::{Markup, scan};
use super::text::TextBuilder;
use super::words::Words;
use crate::PARAGRAPHS_MAX;
use crate::detect::digest_map::DigestMap;
use crate::diff::words::text_of;

/// The greatest distance from the estimated place, because attributes and scripts before it may have changed.
const DISTANCE_BYTES_MAX: usize = 2 << 10;

/// A paragraph is searched by so many of its first bytes.
const SEARCHED_BYTES: usize = 16;

/// Source between two paragraphs to read is skipped if it has at least so many bytes in the newer version.
const SKIPPED_BYTES_MIN: u32 = 1 << 10;

/// So many more bytes are unpacked than estimated: the part after it may have another length than in the newer version, and the
/// last match of a truncated compressed body is missing.
const SPARE_BYTES: usize = 512;

/// Reads a kept body, known by its marks, with the help of a newer version of its page.
pub struct IncrementalReader<'a> {
    marks: &'a [ParagraphMark],
    newer: &'a Document,
    /// For each mark the paragraph of the newer version with the same words.
    sources: Vec<Option<usize>>,
    /// The first and the last paragraph to read.
    wanted: Option<(usize, usize)>,
    /// Equal paragraphs at the beginning and at the end of both versions.
    before: usize,
    after: usize,
}

/// Consecutive paragraphs that were read from the kept body.
struct Stretch {
    first: usize,
    text: String,
    /// The text of these paragraphs, without reused ones.
    paragraphs: Vec<Paragraph>,
}

impl<'a> IncrementalReader<'a> {
    pub fn new(marks: &'a [ParagraphMark], newer: &'a Document) -> Self {
        let all = &newer.paragraphs;
        let same = |(mark, one): &(&ParagraphMark, &Paragraph)| mark.digest == one.digest && is_reusable(one, mark);
        let before = marks.iter().zip(all).take_while(same).count();
        let left = marks.len().min(all.len()) - before;
        let after = marks.iter().rev().zip(all.iter().rev()).take(left).take_while(same).count();
        // Between them, at any index.
        let between = before..all.len() - after;
        let places: DigestMap<usize> = between.map(|place| (all[place].digest, place)).collect();
        let source_of = |(index, mark): (usize, &ParagraphMark)| match index {
            _ if index < before => Some(index),
            _ if index >= marks.len() - after => Some(index + all.len() - marks.len()),
            _ => places.get(&mark.digest).copied().filter(|&place| is_reusable(&all[place], mark)),
        };
        let sources: Vec<Option<usize>> = marks.iter().enumerate().map(source_of).collect();
        let first = sources.iter().position(Option::is_none);
        let wanted = first.zip(sources.iter().rposition(Option::is_none));
        IncrementalReader { marks, newer, sources, wanted, before, after }
    }

    /// The whole document, where the newer version has all words.
    pub fn reused_document(&self) -> Option<Document> {
        match self.wanted {
            None => Some(self.assembled(&[])),
            Some(_) => None,
        }
    }

    /// How many bytes of the kept body, which unpacks to `all` bytes, probably contain everything to read. `None` if that is
    /// nearly all of it.
    pub fn bytes_wanted(&self, all: usize) -> Option<usize> {
        // Places are offsets in UTF-8. For other character sets they do not match bytes of the body.
        if self.newer.charset != "UTF-8" || self.after == 0 {
            return None;
        }
        let end = *self.newer.begins.last()? as usize;
        let next = *self.newer.begins.get(self.newer.paragraphs.len() - self.after)? as usize;
        let wanted = next.max(all.saturating_sub(end.saturating_sub(next))) + SPARE_BYTES;
        (wanted + all / 32 < all).then_some(wanted)
    }

    /// The document, from a source that may be truncated after the paragraphs to read. `None` if some are missing.
    pub(crate) fn words(&self, source: &str, markup: Markup) -> Option<Document> {
        let Some((_, last)) = self.wanted else { return self.reused_document() };
        let runs = self.runs();
        let near = self.stretches(source, markup, &runs);
        // Where an estimate was wrong, everything in between is read.
        let near = near.or_else(|| match &runs[..] {
            [(known, _), _, ..] => self.stretches(source, markup, &[(*known, last)]),
            _ => None,
        });
        let stretches = near.or_else(|| Some(vec![self.stretch(source, markup, None, last)?]))?;
        Some(self.assembled(&stretches))
    }

    /// The paragraphs to read as runs. Each run has the known paragraph before it, which verifies the place, and its last
    /// paragraph. Empty where no paragraph before it is known.
    fn runs(&self) -> Vec<(usize, usize)> {
        let known = self.before.checked_sub(1).filter(|_| self.marks.len() < PARAGRAPHS_MAX);
        let (Some(known), Some((first, last))) = (known, self.wanted) else { return Vec::new() };
        let mut runs = vec![(known, first)];
        for place in (first + 1..=last).filter(|&place| self.sources[place].is_none()) {
            let Some(run) = runs.last_mut() else { break };
            match self.is_worth_skipping(*run, place) {
                true => runs.push((place - 1, place)),
                false => run.1 = place,
            }
        }
        runs
    }

    /// Whether the source between a run and this paragraph is long enough in the newer version to be skipped.
    fn is_worth_skipping(&self, (known, last): (usize, usize), place: usize) -> bool {
        let begin = |place: usize| Some((self.sources[place]?, *self.newer.begins.get(self.sources[place]?)?));
        let (Some(before), Some(from), Some(to)) = (begin(known), begin(last + 1), begin(place - 1)) else {
            return false;
        };
        before < from && from.1.checked_add(SKIPPED_BYTES_MIN).is_some_and(|least| from.0 < to.0 && least <= to.1)
    }

    /// Reads the runs, each at its estimated place.
    fn stretches(&self, source: &str, markup: Markup, runs: &[(usize, usize)]) -> Option<Vec<Stretch>> {
        let mut stretches: Vec<Stretch> = Vec::with_capacity(runs.len());
        // How much later a paragraph begins than in the newer version.
        let mut shift = 0;
        for &(known, last) in runs {
            if let Some(stretch) = stretches.last() {
                shift += self.growth(stretch, known)?;
            }
            let newer = i64::from(*self.newer.begins.get(self.sources[known]?)?);
            let place = self.find_near(source, known, usize::try_from(newer + shift).ok()?)?;
            shift = place as i64 - newer;
            stretches.push(self.stretch(source.get(place..)?, markup, Some(known), last)?);
        }
        (!stretches.is_empty()).then_some(stretches)
    }

    /// How much longer the words from a stretch up to a known paragraph are than in the newer version.
    fn growth(&self, stretch: &Stretch, known: usize) -> Option<i64> {
        let read: usize = (stretch.first..)
            .zip(&stretch.paragraphs)
            .filter(|(place, _)| self.sources[*place].is_none())
            .map(|(_, one)| length_of(one))
            .sum();
        let lent: usize = (stretch.first..known)
            .filter_map(|place| Some(length_of(&self.newer.paragraphs[self.sources[place]?])))
            .sum();
        let between = self.newer.paragraphs.get(self.sources[stretch.first]?..self.sources[known]?)?;
        Some((read + lent) as i64 - between.iter().map(length_of).sum::<usize>() as i64)
    }

    /// The start of a paragraph in the source near this offset.
    fn find_near(&self, source: &str, paragraph: usize, place: usize) -> Option<usize> {
        let words = text_of(self.newer, self.sources[paragraph]?).as_bytes();
        let letters = &words[..words.len().min(SEARCHED_BYTES)];
        let source = source.as_bytes();
        if source.get(place..).is_some_and(|rest| rest.starts_with(letters)) {
            return Some(place);
        }
        let from = place.saturating_sub(DISTANCE_BYTES_MAX);
        let to = source.len().min(place + DISTANCE_BYTES_MAX);
        let found = memmem::find_iter(source.get(from..to)?, letters).map(|ahead| from + ahead);
        // Text with character references is not found, but may be here all the same.
        Some(found.min_by_key(|found| found.abs_diff(place)).unwrap_or(place))
    }

    /// Reads the paragraphs up to `last`. `source` begins with a known paragraph or is the whole source. `None` if the paragraphs
    /// do not match the marks.
    fn stretch(&self, source: &str, markup: Markup, known: Option<usize>, last: usize) -> Option<Stretch> {
        let first = known.unwrap_or(0);
        let is_asked = |index: usize| self.sources[index].is_none() || known == Some(index);
        let unread: Vec<bool> = (first..=last).map(|index| !is_asked(index)).collect();
        // Twice the average length of so many paragraphs of the newer version, so that the buffer seldom grows.
        let asked = unread.iter().filter(|unread| !**unread).count();
        let room = self.newer.text.len() / self.newer.paragraphs.len().max(1) * asked * 2;
        let text = TextBuilder::with_capacity(room.min(source.len())).without_letters().without_words_of(unread);
        let mut pass = Words::until(last + 1 - first, text, markup);
        scan(source, markup, &mut pass);
        let (text, mut paragraphs) = pass.finish();
        paragraphs.truncate(last + 1 - first);
        let fits = |(index, one): (usize, &Paragraph)| {
            let mark = &self.marks[index];
            // The tag with the level of a heading may come before the part that was read.
            let lacks_level =
                mark.role == Role::Heading && one.heading == 0 && known.is_some_and(|known| known < index);
            !is_asked(index) || one.digest == mark.digest && !lacks_level
        };
        let is_right = paragraphs.len() == last + 1 - first && (first..).zip(&paragraphs).all(fits);
        is_right.then_some(Stretch { first, text, paragraphs })
    }

    /// Puts reused and read paragraphs together.
    fn assembled(&self, stretches: &[Stretch]) -> Document {
        let read: usize = stretches.iter().map(|stretch| stretch.text.len()).sum();
        let mut document =
            Document { text: String::with_capacity(self.newer.text.len() + read), ..Document::default() };
        document.paragraphs.reserve_exact(self.marks.len());
        let mut place = 0;
        while place < self.marks.len() {
            if !document.paragraphs.is_empty() {
                document.text.push('\n');
            }
            let lent = self.reused_run(place);
            if lent.is_empty() {
                let Some(stretch) = stretches.iter().rfind(|stretch| stretch.first <= place) else { break };
                let one = &stretch.paragraphs[place - stretch.first];
                document.text.push_str(&stretch.text[one.start as usize..one.end as usize]);
                document.paragraphs.push(paragraph_of(&self.marks[place], one, document.text.len() - length_of(one)));
                place += 1;
                continue;
            }
            let start = document.text.len();
            let from = lent[0].start as usize;
            document.text.push_str(&self.newer.text[from..lent[lent.len() - 1].end as usize]);
            for one in lent {
                let at = start + one.start as usize - from;
                document.paragraphs.push(paragraph_of(&self.marks[place], one, at));
                place += 1;
            }
        }
        document
    }

    /// The paragraphs from this index on that are consecutive in the newer version too.
    fn reused_run(&self, place: usize) -> &'a [Paragraph] {
        let Some(first) = self.sources[place] else { return &[] };
        let lent = &self.newer.paragraphs[first..];
        let follows = |ahead: &usize| {
            let is_next = self.sources.get(place + ahead) == Some(&Some(first + ahead));
            let end = lent[ahead - 1].end;
            is_next && lent[*ahead].start == end + 1 && self.newer.text.as_bytes().get(end as usize) == Some(&b'\n')
        };
        &lent[..1 + (1..lent.len()).take_while(follows).count()]
    }
}

/// The paragraph of a mark with the words of `one`, beginning at `start`.
fn paragraph_of(mark: &ParagraphMark, one: &Paragraph, start: usize) -> Paragraph {
    let &ParagraphMark { digest, place, role, .. } = mark;
    let heading = if role == Role::Heading { one.heading } else { 0 };
    Paragraph { start: start as u32, end: (start + length_of(one)) as u32, role, digest, place, heading }
}

/// The length of its words.
fn length_of(one: &Paragraph) -> usize {
    (one.end - one.start) as usize
}

/// Whether a paragraph with the same words can be used for the mark. Marks do not have the level of a heading, but headings at
/// the same template place have the same level.
fn is_reusable(one: &Paragraph, mark: &ParagraphMark) -> bool {
    mark.role != Role::Heading || one.heading > 0 && (one.role, one.place) == (mark.role, mark.place)
}

/// The start of a body without a tag or character that truncation has cut.
pub(crate) fn whole_tags(start: &[u8]) -> &[u8] {
    &start[..memrchr(b'<', start).unwrap_or(0)]
}
