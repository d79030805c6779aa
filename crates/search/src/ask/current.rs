//! Hits on the newest versions of pages. Nothing of their text is in the index: the best are read again from their bodies.

use vernal_model::{Event, Moment, Operation, Page, PageKey, ParagraphKey};
use vernal_repository::Reader;

use super::answer::{Bracket, Hit, RoleAsked};
use super::compiled::Words;
use super::excerpt::excerpt;
use super::matcher::{Part, Region, marks};
use crate::Result;
use crate::follow::kept::{self, ReadVersion, read_version};
use crate::follow::page_unit::language;

/// What a hit shows of the text of a page.
pub struct Shown<'s> {
    pub reader: &'s Reader,
    pub asked: Vec<&'s Words>,
    pub role: Option<RoleAsked>,
}

impl Shown<'_> {
    /// The hit on a version of a page. Without a body it has no text.
    pub fn hit(&self, page: &Page, version: u32, score: f32) -> Result<Hit> {
        let read = read_version(self.reader, page.key, &page.url, version)?;
        let Some(read) = read else { return Ok(bare(page, version, score)) };
        self.hit_of(page, &read, score)
    }

    pub fn hit_of(&self, page: &Page, read: &ReadVersion, score: f32) -> Result<Hit> {
        let version = read.version.number;
        let mut hit = Hit {
            title: read.document.title.clone(),
            language: language(read),
            time: time(read.version.moment),
            ..bare(page, version, score)
        };
        let Some((place, text, found)) = self.best_paragraph(read) else { return Ok(hit) };
        let numbers = kept::numbers(self.reader, page.key, version, read.document.paragraphs.len())?;
        let number = numbers.get(place).copied().unwrap_or(0);
        let shown = excerpt(text, &found);
        (hit.text, hit.marks) = (shown.text, shown.marks);
        hit.role = Some(read.document.paragraphs[place].role.name());
        hit.headings = headings(read, place);
        hit.paragraph = paragraph_id(page.key, number);
        hit.born = born(self.reader, page.key, number, version)?;
        Ok(hit)
    }

    /// The paragraph with most of the texts that are asked for; of equals the first of main text.
    fn best_paragraph<'r>(&self, read: &'r ReadVersion) -> Option<(usize, &'r str, Marks)> {
        const MARKS_COUNTED: usize = 8;
        let mut best: Option<(Rank, (usize, &'r str, Marks))> = None;
        for (place, (one, text)) in read.document.paragraphs.iter().zip(read.texts()).enumerate() {
            let region = Region::of(one.role);
            if region == Region::Title {
                continue;
            }
            let (places, found) = marks(&Part::of(region, text), &self.asked, self.role);
            let rank = (found, region == Region::Main, places.len().min(MARKS_COUNTED));
            let is_better = best.as_ref().is_none_or(|(known, _)| rank > *known);
            let is_worth = found > 0 || (self.asked.is_empty() && region == Region::Main && best.is_none());
            if is_worth && is_better {
                best = Some((rank, (place, text, places)));
            }
        }
        best.map(|(_, found)| found)
    }
}

/// The places of words in a text, as ranges of bytes.
type Marks = Vec<std::ops::Range<usize>>;

/// How well a paragraph fits: texts found, whether it is main text, marks.
type Rank = (usize, bool, usize);

fn bare(page: &Page, version: u32, score: f32) -> Hit {
    Hit {
        url: page.url.to_string(),
        site: page.url.site_text().to_owned(),
        title: String::new(),
        language: String::new(),
        score,
        version,
        time: page.version.filter(|newest| newest.number == version).and_then(|newest| time(newest.moment)),
        paragraph: None,
        role: None,
        headings: Vec::new(),
        text: String::new(),
        marks: Vec::new(),
        born: None,
        gone: None,
        anchors: Vec::new(),
    }
}

/// The headings above a paragraph, the highest first.
fn headings(read: &ReadVersion, place: usize) -> Vec<Box<str>> {
    const HEADINGS_MAX: usize = 6;
    let mut open: Vec<(u8, usize)> = Vec::new();
    for (at, one) in read.document.paragraphs[..place].iter().enumerate().filter(|(_, one)| one.heading > 0) {
        open.retain(|(level, _)| *level < one.heading);
        open.push((one.heading, at));
    }
    let own = read.document.paragraphs[place].heading;
    let texts = read.texts();
    let above = open.into_iter().filter(|(level, _)| own == 0 || *level < own);
    above.take(HEADINGS_MAX).map(|(_, at)| excerpt(texts[at], &[]).text.into()).collect()
}

/// The version that brought the words of a paragraph: the newest event until then that tells of it, or the first version.
pub fn born(reader: &Reader, page: PageKey, number: u32, until: u32) -> Result<Option<Bracket>> {
    if number == 0 {
        return Ok(None);
    }
    let events = reader.page_events(page)?;
    let tells = |event: &&Event| {
        let touches = |one: &vernal_model::ParagraphChange| one.id == number && one.operation != Operation::Moved;
        event.version.is_some_and(|version| version <= until) && event.change.paragraphs.iter().any(touches)
    };
    let all = || events.iter().map(|(_, _, event)| event);
    let first = || all().find(|event| event.version == Some(1));
    Ok(all().rev().find(tells).or_else(first).map(|event| Bracket {
        version: event.version.unwrap_or(1),
        seen_same: event.seen_same.and_then(time),
        seen_different: time(event.seen_different),
    }))
}

pub fn paragraph_id(page: PageKey, number: u32) -> Option<String> {
    (number > 0).then(|| ParagraphKey { page, number }.to_string())
}

/// A Moment as JSON has it; nothing for those that mean never.
pub fn time(moment: Moment) -> Option<String> {
    (moment != Moment::EPOCH && moment != Moment::NEVER).then(|| moment.rfc3339())
}
