//! The change feed as the alerts read it: the rows of the listing, with the words of whole pages only where they are asked for.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use vernal_document::diff;
use vernal_model::{Event, EventKind, Moment, Url};
use vernal_repository::{Cursor, EventId};
use vernal_search::{Asked, Sort, Within};
use vernal_watch::{Batch, Error, Feed, FeedEvent, Over, Paragraph, Result, Told};

use super::answer::ApiError;
use super::body;
use super::event_filter::EventFilter;
use super::event_json::EventAnswer;
use super::event_text;
use super::folds::{Folds, Row};
use super::names;
use super::shared::{Seeds, Shared};

/// Hits of a saved search that are watched: pages beyond them are not.
const HITS_MAX: usize = 1_000;
/// Searches whose hits are kept in memory.
const SEARCHES_KEPT_MAX: usize = 64;

pub struct WatchFeed {
    shared: Arc<Shared>,
    /// Hits of searches, and the place of the index that they are of.
    hits: Mutex<HashMap<String, (Cursor, HashSet<String>)>>,
}

/// Everything but noise, without the words of whole pages.
fn filter() -> EventFilter {
    EventFilter { with_noise: false, with_names: false, brief: true, ..EventFilter::of_everything() }
}

impl WatchFeed {
    pub fn new(shared: Arc<Shared>) -> WatchFeed {
        WatchFeed { shared, hits: Mutex::default() }
    }

    fn batch(&self, events: Vec<(Cursor, EventId, Event)>) -> Result<Batch> {
        let upto = events.last().map(|(cursor, _, _)| *cursor);
        let seeds = self.shared.seeds().map_err(failed)?;
        let (filter, mut folds) = (filter(), Folds::default());
        let mut told = Vec::with_capacity(events.len());
        for (cursor, id, event) in events {
            let seen = event.seen_different;
            let rows = self.rows((&filter, &seeds, &mut folds), (cursor, id), &event)?;
            // What an event of the site tells as well is taken out of the rows of its pages.
            let is_folded = event.kind == EventKind::Changed
                && !event.is_imported()
                && event.change.is_change()
                && rows.first().is_none_or(|row| row.paragraphs.len() < event.change.paragraphs.len());
            let whole = match is_folded {
                true => {
                    let whole = Row { event, part_of: Vec::new(), fold: None, unread: None };
                    Some(self.told((&filter, &seeds), (cursor, id), (whole, None))?)
                }
                false => None,
            };
            told.push(FeedEvent { cursor, seen, rows, whole });
        }
        Ok(Batch { events: told, upto })
    }

    fn rows(
        &self,
        (filter, seeds, folds): (&EventFilter, &Seeds, &mut Folds),
        (cursor, id): (Cursor, EventId),
        event: &Event,
    ) -> Result<Vec<Told>> {
        // What others saw years ago is no news.
        if event.is_imported() || !filter.covers(event, seeds) {
            return Ok(Vec::new());
        }
        let same_as = names::first_name(&self.shared.reader, cursor, event)?;
        if !filter.covers_name(event, same_as.as_deref()) {
            return Ok(Vec::new());
        }
        let rows = folds.listed(&self.shared, cursor, event.clone())?;
        let told = |row| self.told((filter, seeds), (cursor, id), (row, same_as.clone()));
        rows.into_iter().map(told).collect()
    }

    fn told(
        &self,
        (filter, seeds): (&EventFilter, &Seeds),
        place: (Cursor, EventId),
        row: (Row, Option<String>),
    ) -> Result<Told> {
        told_of(&EventAnswer::of(&self.shared, seeds, filter, place, row))
    }

    /// The pages that a search finds, in the text of now and in what was removed last.
    fn found(&self, query: &str) -> Result<HashSet<String>> {
        let mut found = HashSet::new();
        for within in [Within::Now, Within::Removed] {
            let mut skip = 0;
            while skip < HITS_MAX {
                let sort = if within == Within::Removed { Sort::Newest } else { Sort::Relevance };
                let limit = vernal_search::ask::answer::LIMIT_MAX;
                let asked = Asked { within, sort, limit, skip, ..Asked::new(query, self.shared.clock.now()) };
                let asked = Asked { seeds: self.shared.reader.seeds()?, ..asked };
                let answer = self.shared.search.search(&asked).map_err(|error| match error {
                    vernal_search::Error::Query(_) | vernal_search::Error::Asked(_) => Error::Wrong(error.to_string()),
                    other => Error::Feed(other.to_string()),
                })?;
                skip += answer.hits.len();
                let is_end = !answer.has_more || answer.hits.is_empty();
                found.extend(answer.hits.into_iter().map(|hit| hit.url));
                if is_end {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// The event again with all its words; what cannot be read keeps those that it has.
    fn filled(&self, told: &Told) -> Result<Option<Vec<Paragraph>>> {
        let Ok(cursor) = told.cursor.parse::<Cursor>() else { return Ok(None) };
        let mut events = self.shared.reader.events(Cursor(cursor.0.saturating_sub(1)), 1)?;
        let Some((found, id, mut event)) = events.pop().filter(|(found, _, _)| *found == cursor) else {
            return Ok(None);
        };
        if event_text::fill(&self.shared, &mut event).is_err() {
            return Ok(None);
        }
        let row = Row { event, part_of: Vec::new(), fold: None, unread: None };
        let seeds = self.shared.seeds().map_err(failed)?;
        let told = self.told((&filter(), &seeds), (found, id), (row, None))?;
        Ok(Some(told.paragraphs))
    }
}

impl Feed for WatchFeed {
    fn after(&self, after: Cursor, limit: usize) -> Result<Batch> {
        self.batch(self.shared.reader.events(after, limit)?)
    }

    fn before(&self, before: Cursor, limit: usize) -> Result<Batch> {
        self.batch(self.shared.reader.events_before(before, limit)?)
    }

    fn with_words(&self, mut told: Told) -> Result<Told> {
        let is_whole_page = matches!(
            told.event,
            EventKind::New | EventKind::Back | EventKind::Gone | EventKind::Parted | EventKind::Joined
        );
        let lacks = |paragraph: &Paragraph| paragraph.before.is_none() && paragraph.after.is_none();
        if !is_whole_page && !told.paragraphs.iter().any(lacks) {
            return Ok(told);
        }
        let Some(filled) = self.filled(&told)? else { return Ok(told) };
        if is_whole_page {
            told.paragraphs = filled;
            return Ok(told);
        }
        for paragraph in told.paragraphs.iter_mut().filter(|paragraph| lacks(paragraph)) {
            let is_same = |other: &&Paragraph| other.op == paragraph.op && other.position == paragraph.position;
            if let Some(other) = filled.iter().find(is_same) {
                (paragraph.before, paragraph.after) = (other.before.clone(), other.after.clone());
            }
        }
        Ok(told)
    }

    fn is_hit(&self, query: &str, url: &str, at: Cursor) -> Result<bool> {
        let mut hits = self.hits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = hits.get(query).filter(|(place, _)| *place >= at) {
            return Ok(found.contains(url));
        }
        // An index that nobody follows is brought up to date by the question.
        let found = self.found(query)?;
        let place = self.shared.search.status().map_or(Cursor::START, |status| status.cursor);
        if place < at {
            return Err(Error::Behind);
        }
        if hits.len() >= SEARCHES_KEPT_MAX {
            hits.clear();
        }
        let is_hit = found.contains(url);
        hits.insert(query.to_owned(), (place, found));
        Ok(is_hit)
    }

    fn page_has(&self, url: &str, is_asked: &dyn Fn(&str) -> bool) -> Result<bool> {
        let Ok(url) = Url::parse(url) else { return Ok(false) };
        let Some(page) = self.shared.reader.page_by_url(&url)? else { return Ok(false) };
        let Some(version) = page.version else { return Ok(false) };
        let read = body::kept(&self.shared.reader, &url, version).and_then(|kept| kept.read(&self.shared, &url));
        let document = vernal_document::read(&read.map_err(failed)?.input()).document;
        Ok(diff::texts(&document).into_iter().any(is_asked))
    }

    fn read_at(&self, over: &Over) -> Option<Moment> {
        let url = Url::parse(over.url.as_ref()?).ok()?;
        self.shared.reader.page_by_url(&url).ok()??.last_confirmed
    }

    fn end(&self) -> Cursor {
        self.shared.reader.cursor()
    }

    fn now(&self) -> Moment {
        self.shared.clock.now()
    }
}

/// A row of the feed as alerts speak of it.
pub(super) fn told_of(row: &EventAnswer) -> Result<Told> {
    let value = serde_json::to_value(row).map_err(|error| Error::Feed(error.to_string()))?;
    serde_json::from_value(value).map_err(|error| Error::Feed(error.to_string()))
}

fn failed(error: ApiError) -> Error {
    Error::Feed(error.line)
}
