//! The event as clients see it: fields are only added, never renamed.

use schemars::JsonSchema;
use serde::Serialize;
use vernal_model::{Event, EventKind, Operation};
use vernal_repository::{Cursor, EventId};
use vernal_watch::{Excerpt, Tally};

use super::answer::ApiError;
use super::change::{self, ChangeJson, Paragraph, PartJson};
use super::event_filter::EventFilter;
use super::folds::{FoldedPage, Row};
use super::marks::MarkJson;
use super::replica::{self, ReplicaJson};
use super::shared::{Seeds, Shared, time};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub struct EventAnswer {
    pub id: String,
    pub cursor: String,
    pub event: EventKind,
    pub url: String,
    pub site: String,
    pub tags: Vec<String>,
    pub title: String,
    pub language: String,
    pub content_type: String,
    pub version: Option<u32>,
    pub previous: Option<u32>,
    pub seen_same: Option<String>,
    pub seen_different: Option<String>,
    #[serde(flatten)]
    pub change: ChangeJson,
    pub paragraphs: Vec<Paragraph>,
    pub detail: String,
    /// What happened to how many of the paragraphs.
    pub tally: Tally,
    /// The words that tell the most; null where there are none, or none were asked for.
    pub excerpt: Option<ExcerptJson>,
    /// What somebody said of the event.
    pub mark: Option<MarkJson>,
    /// Of an event of a site: what its updates have in common, the page count of now, and the first pages.
    pub fold: Option<String>,
    pub pages: Option<u32>,
    pub sample: Vec<FoldedPage>,
    /// Of an event of a page: the folds of the site that tell some or all of it.
    pub part_of: Vec<String>,
    /// The first name of the page, if it was a second name then.
    pub same_as: Option<String>,
    /// The steps for whoever keeps copies of pages, if they were asked for.
    pub replica: Option<ReplicaJson>,
    /// Why words or steps are not here that could not be read; null where all were.
    pub unread: Option<String>,
}

impl EventAnswer {
    pub fn of(
        shared: &Shared,
        seeds: &Seeds,
        filter: &EventFilter,
        (cursor, id): (Cursor, EventId),
        (row, same_as): (Row, Option<String>),
    ) -> EventAnswer {
        let Row { mut event, part_of, fold, mut unread } = row;
        let replica = if filter.pages { replica::of(shared, &event) } else { None };
        unread = unread.or_else(|| replica.as_ref()?.unread.clone());
        let told = std::mem::take(&mut event.change.paragraphs);
        let paragraphs = told.into_iter().map(|one| {
            let parts = parts(shared, &event, &one).unwrap_or_else(|error| {
                unread = unread.take().or_else(|| error.unread());
                Vec::new()
            });
            Paragraph { parts, ..change::paragraph(Some(event.page), one) }
        });
        let paragraphs: Vec<Paragraph> = paragraphs.collect();
        let mut change = ChangeJson::of(event.change);
        change.decided_by = change.decided_by.filter(|_| event.kind != EventKind::New);
        let (fold, pages, sample) = match fold {
            Some(fold) => (Some(fold.id), Some(fold.pages), fold.sample),
            None => (None, None, Vec::new()),
        };
        let id = format!("e{id}");
        EventAnswer {
            mark: shared.mark_of(&id),
            tally: Tally::of(paragraphs.iter().map(|one| one.op)),
            excerpt: ExcerptJson::of(&paragraphs),
            id,
            cursor: cursor.to_string(),
            event: event.kind,
            site: event.url.site_text().to_owned(),
            tags: seeds.tags(&event.url, 0),
            url: event.url.to_string(),
            title: event.title.into(),
            language: event.language.into(),
            content_type: event.content_type.into(),
            version: event.version,
            previous: event.previous,
            seen_same: event.seen_same.and_then(time),
            seen_different: time(event.seen_different),
            change,
            paragraphs,
            detail: event.detail.into(),
            fold,
            pages,
            sample,
            part_of,
            same_as,
            replica,
            unread,
        }
    }
}

/// Words of one paragraph, with a few around those that differ.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventExcerpt")]
pub struct ExcerptJson {
    pub paragraph: Option<String>,
    pub before: String,
    pub after: String,
}

impl ExcerptJson {
    fn of(paragraphs: &[Paragraph]) -> Option<ExcerptJson> {
        let has_words =
            |one: &&Paragraph| [&one.before, &one.after].into_iter().flatten().any(|text| !text.trim().is_empty());
        let is_frame = |one: &Paragraph| matches!(one.role, "navigation" | "footer");
        let readable = paragraphs.iter().filter(has_words);
        let first = readable.min_by_key(|one| (one.op == Operation::Moved, is_frame(one)))?;
        let Excerpt { before, after } = Excerpt::of(first.before.as_deref(), first.after.as_deref());
        Some(ExcerptJson { paragraph: first.id.clone(), before, after })
    }
}

/// The parts of a split, the sources of a merge, and the items of a reordered list, with their ids.
fn parts(shared: &Shared, event: &Event, told: &vernal_model::ParagraphChange) -> Result<Vec<PartJson>, ApiError> {
    if told.others.is_empty() {
        return Ok(Vec::new());
    }
    let (version, own, joined) = match told.operation {
        Operation::Merged => (event.previous, told.from, &told.before),
        Operation::Split => (event.version, Some(told.position), &told.after),
        _ => (event.version, Some(told.position), &None),
    };
    let mut places: Vec<u32> = own.into_iter().chain(told.others.iter().copied()).collect();
    places.sort_unstable();
    let numbers = version.map(|version| replica::known_numbers(shared, event.page, version));
    let numbers = numbers.transpose()?.unwrap_or_default();
    // No paragraph of a split or a merge contains a line feed.
    let mut texts = joined.as_deref().unwrap_or_default().split('\n');
    let part = |place: u32| PartJson {
        id: numbers.get(place as usize).and_then(|number| change::paragraph_id(Some(event.page), *number)),
        position: place,
        text: joined.as_ref().and_then(|_| texts.next()).map(Box::from),
    };
    Ok(places.into_iter().map(part).collect())
}
