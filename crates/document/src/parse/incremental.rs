//! The words of a kept body beside a newer version of its page. What both have is lent by the newer one; of the kept body
//! no more is unpacked than the stretch with the rest, and of that no more read than lies near it.
//!
//! Where that lies is a guess by the newer version, which has the same paragraphs before and after it. That what
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

/// What lies between two paragraphs that have to be read is passed over if it is no less than this in the newer version.
const LEAP_BYTES_MIN: u32 = 1 << 10;

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

/// Paragraphs of the kept body that were read, from one on.
struct Piece {
    first: usize,
    text: String,
    /// Without the words that are lent.
    paragraphs: Vec<Paragraph>,
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
            None => Some(self.put_together(&[])),
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
        (wanted + all / 32 < all).then_some(wanted)
    }

    /// The words, from a source that may be cut short behind what has to be read. `None` if they are not all there.
    pub(crate) fn words(&self, source: &str, markup: Markup) -> Option<Document> {
        let Some((_, last)) = self.wanted else { return self.lent() };
        let runs = self.runs();
        let near = self.pieces(source, markup, &runs);
        // Where a leap missed its place, all that lies between is read.
        let near = near.or_else(|| match &runs[..] {
            [(known, _), _, ..] => self.pieces(source, markup, &[(*known, last)]),
            _ => None,
        });
        let pieces = near.or_else(|| Some(vec![self.piece(source, markup, None, last)?]))?;
        Some(self.put_together(&pieces))
    }

    /// What has to be read, as runs with little between their paragraphs: each by the known paragraph before it, which shows
    /// whether this is the right place, and by its last one. None where nothing before it is known.
    fn runs(&self) -> Vec<(usize, usize)> {
        let known = self.before.checked_sub(1).filter(|_| self.marks.len() < PARAGRAPHS_MAX);
        let (Some(known), Some((first, last))) = (known, self.wanted) else { return Vec::new() };
        let mut runs = vec![(known, first)];
        for place in (first + 1..=last).filter(|&place| self.lenders[place].is_none()) {
            let Some(run) = runs.last_mut() else { break };
            match self.is_worth_a_leap(*run, place) {
                true => runs.push((place - 1, place)),
                false => run.1 = place,
            }
        }
        runs
    }

    /// Whether so much lies between a run and this place, in the newer version, that it is better passed over.
    fn is_worth_a_leap(&self, (known, last): (usize, usize), place: usize) -> bool {
        let begin = |place: usize| Some((self.lenders[place]?, *self.newer.begins.get(self.lenders[place]?)?));
        let (Some(before), Some(from), Some(to)) = (begin(known), begin(last + 1), begin(place - 1)) else {
            return false;
        };
        before < from && from.1.checked_add(LEAP_BYTES_MIN).is_some_and(|least| from.0 < to.0 && least <= to.1)
    }

    /// The runs, each read where it most likely lies.
    fn pieces(&self, source: &str, markup: Markup, runs: &[(usize, usize)]) -> Option<Vec<Piece>> {
        let mut pieces: Vec<Piece> = Vec::with_capacity(runs.len());
        // By how much a paragraph lies further ahead than in the newer version.
        let mut shift = 0;
        for &(known, last) in runs {
            if let Some(piece) = pieces.last() {
                shift += self.grown(piece, known)?;
            }
            let newer = i64::from(*self.newer.begins.get(self.lenders[known]?)?);
            let place = self.place_near(source, known, usize::try_from(newer + shift).ok()?)?;
            shift = place as i64 - newer;
            pieces.push(self.piece(source.get(place..)?, markup, Some(known), last)?);
        }
        (!pieces.is_empty()).then_some(pieces)
    }

    /// By how much the words from a piece up to a known paragraph are longer than in the newer version.
    fn grown(&self, piece: &Piece, known: usize) -> Option<i64> {
        let read: usize = (piece.first..)
            .zip(&piece.paragraphs)
            .filter(|(place, _)| self.lenders[*place].is_none())
            .map(|(_, one)| words_of(one))
            .sum();
        let lent: usize =
            (piece.first..known).filter_map(|place| Some(words_of(&self.newer.paragraphs[self.lenders[place]?]))).sum();
        let between = self.newer.paragraphs.get(self.lenders[piece.first]?..self.lenders[known]?)?;
        Some((read + lent) as i64 - between.iter().map(words_of).sum::<usize>() as i64)
    }

    /// Where a paragraph begins in the source that most likely lies here.
    fn place_near(&self, source: &str, paragraph: usize, place: usize) -> Option<usize> {
        let words = text_of(self.newer, self.lenders[paragraph]?).as_bytes();
        let letters = &words[..words.len().min(LOOKED_FOR_BYTES)];
        let source = source.as_bytes();
        if source.get(place..).is_some_and(|rest| rest.starts_with(letters)) {
            return Some(place);
        }
        let from = place.saturating_sub(AWAY_BYTES_MAX);
        let to = source.len().min(place + AWAY_BYTES_MAX);
        let found = memmem::find_iter(source.get(from..to)?, letters).map(|ahead| from + ahead);
        // Letters that are written as references are not found, and may be there all the same.
        Some(found.min_by_key(|found| found.abs_diff(place)).unwrap_or(place))
    }

    /// The paragraphs up to the last one asked for, where `source` begins with one that is known, or is whole; `None` if
    /// they are not those of the marks.
    fn piece(&self, source: &str, markup: Markup, known: Option<usize>, last: usize) -> Option<Piece> {
        let first = known.unwrap_or(0);
        let is_asked = |index: usize| self.lenders[index].is_none() || known == Some(index);
        let unread: Vec<bool> = (first..=last).map(|index| !is_asked(index)).collect();
        // Twice what so many paragraphs of the newer version have on average, so that there is seldom too little room.
        let asked = unread.iter().filter(|unread| !**unread).count();
        let room = self.newer.text.len() / self.newer.paragraphs.len().max(1) * asked * 2;
        let text = TextBuilder::with_capacity(room.min(source.len())).without_letters().without_words_of(unread);
        let mut pass = Words::until(last + 1 - first, text, markup);
        scan(source, markup, &mut pass);
        let (text, mut paragraphs) = pass.finish();
        paragraphs.truncate(last + 1 - first);
        let fits = |(index, one): (usize, &Paragraph)| {
            let mark = &self.marks[index];
            // The level of a heading is told by its tag, which may lie before what was read.
            let lacks_level =
                mark.role == Role::Heading && one.heading == 0 && known.is_some_and(|known| known < index);
            !is_asked(index) || one.digest == mark.digest && !lacks_level
        };
        let is_right = paragraphs.len() == last + 1 - first && (first..).zip(&paragraphs).all(fits);
        is_right.then_some(Piece { first, text, paragraphs })
    }

    /// Lent words and read ones.
    fn put_together(&self, pieces: &[Piece]) -> Document {
        let read: usize = pieces.iter().map(|piece| piece.text.len()).sum();
        let mut document =
            Document { text: String::with_capacity(self.newer.text.len() + read), ..Document::default() };
        document.paragraphs.reserve_exact(self.marks.len());
        let mut place = 0;
        while place < self.marks.len() {
            if !document.paragraphs.is_empty() {
                document.text.push('\n');
            }
            let lent = self.lent_together(place);
            if lent.is_empty() {
                let Some(piece) = pieces.iter().rfind(|piece| piece.first <= place) else { break };
                let one = &piece.paragraphs[place - piece.first];
                document.text.push_str(&piece.text[one.start as usize..one.end as usize]);
                document.paragraphs.push(told(&self.marks[place], one, document.text.len() - words_of(one)));
                place += 1;
                continue;
            }
            let start = document.text.len();
            let from = lent[0].start as usize;
            document.text.push_str(&self.newer.text[from..lent[lent.len() - 1].end as usize]);
            for one in lent {
                let at = start + one.start as usize - from;
                document.paragraphs.push(told(&self.marks[place], one, at));
                place += 1;
            }
        }
        document
    }

    /// The paragraphs from this place on that lie one behind the other in the newer version too.
    fn lent_together(&self, place: usize) -> &'a [Paragraph] {
        let Some(first) = self.lenders[place] else { return &[] };
        let lent = &self.newer.paragraphs[first..];
        let follows = |ahead: &usize| {
            let is_next = self.lenders.get(place + ahead) == Some(&Some(first + ahead));
            let end = lent[ahead - 1].end;
            is_next && lent[*ahead].start == end + 1 && self.newer.text.as_bytes().get(end as usize) == Some(&b'\n')
        };
        &lent[..1 + (1..lent.len()).take_while(follows).count()]
    }
}

/// The marked paragraph, whose words `one` has and begin here.
fn told(mark: &ParagraphMark, one: &Paragraph, start: usize) -> Paragraph {
    let &ParagraphMark { digest, place, role, .. } = mark;
    let heading = if role == Role::Heading { one.heading } else { 0 };
    Paragraph { start: start as u32, end: (start + words_of(one)) as u32, role, digest, place, heading }
}

/// How long its words are.
fn words_of(one: &Paragraph) -> usize {
    (one.end - one.start) as usize
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
