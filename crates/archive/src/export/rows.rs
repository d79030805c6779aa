//! The paragraphs of a held version as rows: their words, where they stand, and since when.
//!
//! A row is a function of the state alone, so that the difference of two states can be told exactly. The digest of a paragraph is
//! that of the words it had when it was last told as edited: noise gives it other words and no other digest.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use serde::{Deserialize, Serialize};
use vernal_document::diff;
use vernal_model::{Directives, Document, Event, EventKind, Moment, NumberRun, Operation, PageKey, ParagraphKey, Role};
use vernal_repository::Reader;
use xxhash_rust::xxh3::xxh3_64;

use super::Result;
use super::asked::PageFilter;
use super::body::Body;
use super::held::Held;

/// What all rows of a page have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageFields {
    pub url: String,
    pub page: String,
    pub language: String,
    pub title: String,
    pub site: String,
    pub tags: Vec<String>,
    pub rights: Rights,
}

/// What the page says of its use.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rights {
    pub noindex: bool,
    pub nofollow: bool,
    pub noarchive: bool,
}

/// One paragraph of a page in a state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParagraphRow {
    pub id: String,
    pub digest: String,
    #[serde(flatten)]
    pub fields: Arc<PageFields>,
    /// The version that gave it its words.
    pub version: u32,
    pub position: u32,
    pub role: &'static str,
    pub headings: Vec<Box<str>>,
    pub text: String,
    /// When the version was visited that first had the paragraph, and the one that gave it its words.
    pub born: String,
    pub edited: String,
    /// It stands in the frame of the page: menu, header, footer, or beside the content.
    pub template: bool,
    /// The paragraph that it was a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split_from: Option<String>,
    #[serde(skip)]
    pub number: u32,
    #[serde(skip)]
    pub born_at: Moment,
    #[serde(skip)]
    pub edited_at: Moment,
}

/// A held page, read.
pub struct ReadPage {
    pub held: Held,
    pub body: Body,
    pub document: Document,
    pub fields: Arc<PageFields>,
    pub rows: Vec<ParagraphRow>,
}

impl From<Directives> for Rights {
    fn from(directives: Directives) -> Rights {
        let Directives { noindex, nofollow, noarchive } = directives;
        Rights { noindex, nofollow, noarchive }
    }
}

/// Why a held page gives no rows.
pub enum Unread {
    /// No body is kept, or none that can be read.
    NoBody,
    /// It asks not to be indexed.
    Noindex,
    /// A sitemap or a feed, or something without text.
    NoText,
}

/// Reads a held page.
pub fn read_page(reader: &Reader, filter: &PageFilter, held: Held) -> Result<std::result::Result<ReadPage, Unread>> {
    let Some(body) = Body::of(reader, &held.url, held.version)? else { return Ok(Err(Unread::NoBody)) };
    let document = body.document();
    if document.directives.noindex && !filter.with_noindex {
        return Ok(Err(Unread::Noindex));
    }
    if document.listing.is_some() || document.paragraphs.is_empty() {
        return Ok(Err(Unread::NoText));
    }
    let fields = Arc::new(PageFields {
        url: held.url.to_string(),
        page: held.page.to_string(),
        language: document.language.clone(),
        title: document.title.clone(),
        site: held.url.site_text().to_owned(),
        tags: filter.tags_of(&held.url),
        rights: document.directives.into(),
    });
    let rows = rows(reader, &held, &document, &fields)?;
    Ok(Ok(ReadPage { held, body, document, fields, rows }))
}

/// The numbers of the paragraphs of a version, where they were kept.
pub fn numbers(reader: &Reader, page: PageKey, version: u32, count: usize) -> Result<Option<Vec<u32>>> {
    let found = match reader.version_row(page, version)? {
        Some(row) => NumberRun::numbers(&row.numbers, count + 1),
        None if version == 1 => (1..=count as u32).collect(),
        None => return Ok(None),
    };
    Ok(if found.len() == count { Some(found) } else { None })
}

/// As many numbers of a version as are known; nothing of a first version, whose length only its body tells.
pub fn known_numbers(reader: &Reader, page: PageKey, version: u32) -> Result<Vec<u32>> {
    let row = reader.version_row(page, version)?;
    Ok(row.map_or_else(Vec::new, |row| NumberRun::numbers(&row.numbers, vernal_document::PARAGRAPHS_MAX)))
}

fn rows(reader: &Reader, held: &Held, document: &Document, fields: &Arc<PageFields>) -> Result<Vec<ParagraphRow>> {
    let count = document.paragraphs.len();
    // Of versions from before numbers were kept, the places are the names: better than nothing.
    let numbers = numbers(reader, held.page, held.version.number, count)?;
    let numbers = numbers.unwrap_or_else(|| (1..=count as u32).collect());
    let mut past = Past::of(reader, held)?;
    let trails = diff::heading_trails(document);
    let texts = diff::texts(document);
    let all = document.paragraphs.iter().zip(texts).zip(trails).zip(numbers).enumerate();
    let mut rows = Vec::with_capacity(count);
    for (position, (((paragraph, text), headings), number)) in all {
        let life = past.life(number, paragraph.digest);
        let name = |number: u32| ParagraphKey { page: held.page, number }.to_string();
        rows.push(ParagraphRow {
            id: name(number),
            digest: format!("{:016x}", life.digest),
            fields: Arc::clone(fields),
            version: life.version,
            position: position as u32,
            role: paragraph.role.name(),
            headings,
            text: text.to_owned(),
            born: life.born.rfc3339(),
            edited: life.edited.rfc3339(),
            template: matches!(paragraph.role, Role::Navigation | Role::Footer),
            split_from: life.split_from.map(name),
            number,
            born_at: life.born,
            edited_at: life.edited,
        });
    }
    Ok(rows)
}

/// What the events of a page tell of the lives of its paragraphs.
struct Past {
    /// By version, from the first: its Moment, and the greatest paragraph number that was given until then.
    versions: Vec<(u32, Moment, u32)>,
    edits: HashMap<u32, Edit>,
    /// The digests of the paragraphs of the first version.
    first: Vec<u64>,
}

/// What was last told of a paragraph.
#[derive(Copy, Clone)]
struct Edit {
    version: u32,
    moment: Moment,
    digest: Option<u64>,
    split_from: Option<u32>,
}

struct Life {
    digest: u64,
    version: u32,
    born: Moment,
    edited: Moment,
    split_from: Option<u32>,
}

impl Past {
    fn of(reader: &Reader, held: &Held) -> Result<Past> {
        let number = held.version.number;
        let mut past = Past { versions: Vec::new(), edits: HashMap::new(), first: Vec::new() };
        if number == 1 {
            past.versions.push((1, held.version.moment, u32::MAX));
            return Ok(past);
        }
        let all: Vec<_> = reader.versions(held.page)?.into_iter().filter(|version| version.number <= number).collect();
        if let Some(first) = all.iter().find(|version| version.number == 1)
            && let Some(body) = Body::of(reader, &held.url, *first)?
        {
            past.first = body.document().paragraphs.iter().map(|paragraph| paragraph.digest).collect();
        }
        let mut greatest = past.first.len() as u32;
        for version in &all {
            greatest = known_numbers(reader, held.page, version.number)?.into_iter().fold(greatest, u32::max);
            past.versions.push((version.number, version.moment, greatest));
        }
        let of_versions = |event: &&Event| {
            event.kind == EventKind::Changed || event.kind == EventKind::Unblocked || event.kind == EventKind::Back
        };
        for event in held.events.iter().filter(of_versions) {
            past.note(reader, event)?;
        }
        Ok(past)
    }

    fn note(&mut self, reader: &Reader, event: &Event) -> Result<()> {
        let Some(version) = event.version.filter(|version| Some(*version) != event.previous) else { return Ok(()) };
        let moment = event.seen_different;
        for one in &event.change.paragraphs {
            let edit = |digest: Option<u64>, split_from: Option<u32>| Edit { version, moment, digest, split_from };
            match one.operation {
                Operation::Removed | Operation::Moved => {}
                Operation::Added | Operation::Edited | Operation::Merged => {
                    self.put(one.id, edit(Some(one.digest), None));
                }
                Operation::Split => {
                    let numbers = known_numbers(reader, event.page, version)?;
                    let mut places: Vec<u32> = one.others.iter().copied().chain([one.position]).collect();
                    places.sort_unstable();
                    let parts =
                        one.after.as_deref().unwrap_or_default().split('\n').map(Some).chain(std::iter::repeat(None));
                    for (place, part) in places.into_iter().zip(parts) {
                        let Some(&number) = numbers.get(place as usize) else { continue };
                        let digest = part.filter(|_| one.after.is_some()).map(|part| xxh3_64(part.as_bytes()));
                        let from = if number == one.id { None } else { Some(one.id) };
                        self.put(number, edit(digest, from));
                    }
                }
            }
        }
        Ok(())
    }

    /// A part of a split stays one, whatever happens to it later.
    fn put(&mut self, number: u32, edit: Edit) {
        let before = self.edits.get(&number).and_then(|known| known.split_from);
        self.edits.insert(number, Edit { split_from: edit.split_from.or(before), ..edit });
    }

    /// `digest`: that of the present words, for want of a better one.
    fn life(&mut self, number: u32, digest: u64) -> Life {
        let is_born = |(_, _, greatest): &&(u32, Moment, u32)| number <= *greatest;
        let (version, born, _) = self.versions.iter().find(is_born).copied().unwrap_or((1, Moment::EPOCH, 0));
        match self.edits.get(&number) {
            Some(edit) => Life {
                digest: edit.digest.unwrap_or(digest),
                version: edit.version,
                born,
                edited: edit.moment,
                split_from: edit.split_from,
            },
            None => {
                let first = self.first.get((number as usize).wrapping_sub(1)).copied();
                Life { digest: first.unwrap_or(digest), version, born, edited: born, split_from: None }
            }
        }
    }
}
