//! The change feed: JSON lines from a cursor on, or a stream that does not end.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use vernal_model::{Event, Moment};
use vernal_repository::{Cursor, EventId};

use super::answer::{self, ApiError, ApiResult, Lines, Listed, One, StreamError, UnreadRows};
use super::change_stream;
use super::event_filter::{EventFilter, LeastMagnitude, RolesAsked, event_kinds, kind};
use super::event_json::EventAnswer;
use super::folds::Folds;
use super::marks::{Asking, MarkAsked};
use super::names;
use super::nouns::Nouns;
use super::parameters::{Parameters, site, url};
use super::shared::{Seeds, Shared};
use super::words_asked::{WordsAsked, WordsSide};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangesQuery {
    /// A cursor, or a time: RFC 3339, a date, 14 digits, or an age such as 7d
    pub since: Option<String>,
    /// Where an earlier part of the list ended; it wins over `since`, or over `before` with the newest first
    pub after: Option<String>,
    /// A host, with its port where that is not the scheme's own
    site: Option<String>,
    /// structure, content, presentation or behaviour
    kind: Option<String>,
    /// Kinds of events, separated by commas.
    event: Option<String>,
    /// Only paragraphs of main text, or only those of the frame around it.
    role: Option<RolesAsked>,
    /// Only what a seed with this tag covers
    tag: Option<String>,
    /// seen, act, noise, none, or unseen: without a mark and behind what the bearer of the token has read
    mark: Option<MarkAsked>,
    /// Before this time.
    until: Option<String>,
    /// Only pages whose URL begins so.
    prefix: Option<String>,
    /// The least magnitude: slight, moderate, large, total, or a number from 0 to 1.
    min: Option<String>,
    /// Words that came or went, and phrases between quotation marks.
    words: Option<String>,
    /// Whether they came or went.
    r#in: Option<WordsSide>,
    /// oldest (default) or newest first
    #[serde(default)]
    order: Order,
    /// Only events before this cursor, with the newest first.
    before: Option<String>,
    /// At most so many events; those of one cursor stay together
    pub limit: Option<usize>,
    /// Only so many of the newest events.
    latest: Option<usize>,
    /// What to count by, with commas.
    pub by: Option<String>,
    /// A question to the text index, for a feed of what it finds.
    pub search: Option<String>,
    /// Only what this watch told, for its feed.
    pub watch: Option<String>,
    /// Also changes that are noise alone.
    #[serde(default)]
    with_noise: bool,
    /// Also events of pages that are second names of others.
    #[serde(default)]
    with_names: bool,
    /// Every version of every page, with the exact steps for whoever keeps copies of pages.
    #[serde(default)]
    pages: bool,
    /// Without the words of pages that are new or back.
    #[serde(default)]
    brief: bool,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    #[default]
    Oldest,
    Newest,
}

/// Events read from the tables at once.
const BATCH: usize = 256;

pub fn routes(nouns: Nouns) -> Nouns {
    nouns
        .get("/api/v1/changes", "The change feed from a cursor on", list)
        .get(
            "/api/v1/changes/stream",
            "The change feed as server-sent events; Last-Event-ID is a cursor",
            change_stream::stream,
        )
        .get("/api/v1/changes/schema", "The JSON Schema of an event", schema)
        .get("/api/v1/changes/{id}", "One event", one)
}

pub async fn list(
    State(shared): State<Arc<Shared>>,
    asking: Asking,
    Parameters(query): Parameters<ChangesQuery>,
) -> ApiResult<Listed<EventAnswer>> {
    query.refuse_but("the list", &["latest", "order", "before", "mark"])?;
    let (start, filter) = query.read_for(&shared, &asking)?;
    let seeds = shared.seeds()?;
    let limit = query.limit;
    if query.before.is_some() && query.order == Order::Oldest {
        return Err(ApiError::bad_request("`before` goes back from a cursor: give `order=newest`"));
    }
    if query.order == Order::Newest {
        let before = query.before()?;
        return Ok(answer::listed(move |lines| {
            let mut feed = FeedReader::new(&shared, &seeds, &filter);
            feed.write_newest((start, before), limit, lines)?;
            feed.unread.end()
        }));
    }
    let Some(latest) = query.latest else {
        return Ok(answer::listed(move |lines| {
            let mut feed = FeedReader::new(&shared, &seeds, &filter);
            feed.write(start, limit, lines)?;
            feed.unread.end()
        }));
    };
    Ok(answer::listed(move |lines| {
        let mut feed = FeedReader::new(&shared, &seeds, &filter);
        feed.newest(start, latest)?.iter().take(limit.unwrap_or(usize::MAX)).try_for_each(|event| lines.line(event))?;
        feed.unread.end()
    }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventQuery {
    /// The id of an event, such as e12-9
    id: String,
}

/// One event by its id, whole. An event of a site may have several rows, one for each change that its pages share.
pub async fn one(
    State(shared): State<Arc<Shared>>,
    Parameters(EventQuery { id }): Parameters<EventQuery>,
) -> ApiResult<One<OneEvent>> {
    let read: EventId = id.strip_prefix('e').unwrap_or(&id).parse().map_err(ApiError::bad_request)?;
    let found = shared.reader.event(read)?;
    let (cursor, id, event) = found.ok_or_else(|| ApiError::not_found(format!("there is no event {id}")))?;
    let rows = answer::on_blocking_thread(move || {
        let (seeds, filter) = (shared.seeds()?, EventFilter { whole: true, ..EventFilter::of_everything() });
        Ok(FeedReader::new(&shared, &seeds, &filter).rows(cursor, id, event)?)
    })
    .await?;
    let mut rows = rows.into_iter();
    let event = rows.next().ok_or_else(|| ApiError::not_found("nothing is left of this event"))?;
    Ok(answer::value(&OneEvent { event, more: rows.collect() }))
}

/// An event, and the further rows that the event of a site has.
#[derive(Serialize, JsonSchema)]
pub struct OneEvent {
    #[serde(flatten)]
    event: EventAnswer,
    more: Vec<EventAnswer>,
}

pub async fn schema() -> One<Value> {
    answer::value(&super::event_schema::event_schema())
}

impl ChangesQuery {
    /// Where the feed is read from, and what of it is told.
    pub fn read(&self, shared: &Shared) -> Result<(Cursor, EventFilter), ApiError> {
        let chooses = self.kind.is_some() || self.event.is_some() || self.role.is_some();
        if self.pages && (chooses || self.min.is_some() || self.words.is_some()) {
            return Err(ApiError::bad_request(
                "`pages` gives every event of a page, because a copy of it needs them all: leave out `kind`, `event`, \
                 `role`, `min` and `words`",
            ));
        }
        if self.order == Order::Newest && self.latest.is_some() {
            return Err(ApiError::bad_request("`latest` gives the oldest of the newest first: leave out `order`"));
        }
        if self.r#in.is_some() && self.words.is_none() {
            return Err(ApiError::bad_request("`in` says whether `words` came or went: give `words`"));
        }
        let moment = |text: &str| Moment::parse(text, shared.clock.now()).map_err(ApiError::bad_request);
        let side = self.r#in.unwrap_or_default();
        let mut filter = EventFilter {
            not_before: None,
            site: self.site.as_deref().map(site).transpose()?,
            kind: self.kind.as_deref().map(kind).transpose()?,
            events: self.event.as_deref().map(event_kinds).transpose()?,
            role: self.role,
            until: self.until.as_deref().map(moment).transpose()?,
            prefix: self.prefix.as_deref().map(url).transpose()?.map(|url| url.to_string()),
            least: self.min.as_deref().map(LeastMagnitude::read).transpose()?,
            words: self.words.as_deref().map(|words| WordsAsked::read(words, side)).transpose()?,
            tag: self.tag.clone(),
            mark: self.mark,
            with_noise: self.with_noise,
            with_names: self.with_names,
            pages: self.pages,
            whole: false,
            brief: self.brief,
        };
        let after = self.after.as_ref().filter(|after| !after.is_empty() && self.order == Order::Oldest);
        let Some(since) = after.or(self.since.as_ref()) else { return Ok((Cursor::START, filter)) };
        if let Some(cursor) = cursor(since)? {
            return Ok((cursor, filter));
        }
        filter.not_before = Some(moment(since)?);
        Ok((Cursor::START, filter))
    }

    /// The same for somebody, who has read a part of it.
    pub fn read_for(&self, shared: &Shared, asking: &Asking) -> Result<(Cursor, EventFilter), ApiError> {
        let (start, filter) = self.read(shared)?;
        match self.mark {
            Some(MarkAsked::Unseen) => Ok((start.max(shared.read_until(asking)?), filter)),
            _ => Ok((start, filter)),
        }
    }

    /// The cursor before which the newest events are asked for.
    pub fn before(&self) -> Result<Cursor, ApiError> {
        let after = self.after.as_ref().filter(|after| !after.is_empty());
        let Some(before) = after.or(self.before.as_ref()) else { return Ok(Cursor(u64::MAX)) };
        cursor(before)?.ok_or_else(|| ApiError::bad_request(format!("`{before}` is no cursor of this feed")))
    }

    /// Refuses what only other forms of the feed have.
    pub fn refuse_but(&self, form: &str, taken: &[&str]) -> Result<(), ApiError> {
        let given = [
            ("latest", self.latest.is_some()),
            ("order", self.order != Order::Oldest),
            ("before", self.before.is_some()),
            ("by", self.by.is_some()),
            ("search", self.search.is_some()),
            ("mark", self.mark.is_some()),
            ("watch", self.watch.is_some()),
        ];
        match given.into_iter().find(|(name, given)| *given && !taken.contains(name)) {
            Some((name, _)) => Err(ApiError::bad_request(format!("{form} has no `{name}`"))),
            None => Ok(()),
        }
    }
}

/// A cursor; `None` for what is none and may be a time.
fn cursor(text: &str) -> Result<Option<Cursor>, ApiError> {
    match text.parse() {
        Ok(cursor) => Ok(Some(cursor)),
        Err(_) if text.starts_with('c') => Err(ApiError::bad_request(format!("`{text}` is no cursor of this feed"))),
        Err(_) => Ok(None),
    }
}

/// Reads the store and gives what was asked for.
pub struct FeedReader<'a> {
    shared: &'a Shared,
    seeds: &'a Seeds,
    filter: &'a EventFilter,
    folds: Folds,
    pub unread: UnreadRows,
}

impl<'a> FeedReader<'a> {
    pub fn new(shared: &'a Shared, seeds: &'a Seeds, filter: &'a EventFilter) -> FeedReader<'a> {
        FeedReader { shared, seeds, filter, folds: Folds::default(), unread: UnreadRows::default() }
    }

    fn write(
        &mut self,
        start: Cursor,
        limit: Option<usize>,
        lines: &mut Lines<EventAnswer>,
    ) -> Result<(), StreamError> {
        let (mut after, mut told, mut left) = (start, None, limit.unwrap_or(usize::MAX));
        while left > 0 {
            let batch = self.shared.reader.events(after, BATCH)?;
            let Some((last, _, _)) = batch.last() else { break };
            after = *last;
            for (cursor, id, event) in batch {
                // The rows of one cursor stay together, so that a reader can go on behind it.
                let rows = if left > 0 { self.rows(cursor, id, event)? } else { Vec::new() };
                left = left.saturating_sub(rows.len());
                rows.iter().try_for_each(|row| lines.line(row))?;
                told = if rows.is_empty() { told } else { Some(cursor) };
            }
        }
        if let Some(told) = told.filter(|told| left == 0 && *told < self.shared.reader.cursor()) {
            lines.rest(told.to_string())?;
        }
        Ok(())
    }

    /// Rows between the cursors as lines, newest first.
    fn write_newest(
        &mut self,
        (start, before): (Cursor, Cursor),
        limit: Option<usize>,
        lines: &mut Lines<EventAnswer>,
    ) -> Result<(), StreamError> {
        let (mut told, mut left) = (None, limit.unwrap_or(usize::MAX));
        self.back_from((start, before), &mut |rows| {
            if left == 0 {
                // There is at least one more.
                told.take().map_or(Ok(()), |told: String| lines.rest(told))?;
                return Ok(false);
            }
            left = left.saturating_sub(rows.len());
            rows.iter().try_for_each(|row| lines.line(row))?;
            told = rows.last().map(|row| row.cursor.clone());
            Ok(left > 0 || limit > Some(0))
        })
    }

    /// The newest rows after the cursor, oldest first.
    pub fn newest(&mut self, start: Cursor, latest: usize) -> Result<Vec<EventAnswer>, StreamError> {
        let mut newest = Vec::new();
        if latest > 0 {
            self.back_from((start, Cursor(u64::MAX)), &mut |rows| {
                newest.extend(rows);
                Ok(newest.len() < latest)
            })?;
        }
        newest.truncate(latest);
        newest.reverse();
        Ok(newest)
    }

    /// Gives the rows of each event between the cursors, the newest first, for as long as more are wanted. The rows of one event
    /// stay together.
    pub fn back_from(
        &mut self,
        (start, mut before): (Cursor, Cursor),
        take: &mut dyn FnMut(Vec<EventAnswer>) -> Result<bool, StreamError>,
    ) -> Result<(), StreamError> {
        loop {
            let batch = self.shared.reader.events_before(before, BATCH)?;
            let Some((last, _, _)) = batch.last() else { return Ok(()) };
            before = *last;
            for (cursor, id, event) in batch {
                // Events come in the order of the journal, and may have been seen a little earlier or later.
                if cursor <= start {
                    return Ok(());
                }
                let mut rows = self.rows(cursor, id, event)?;
                rows.reverse();
                if !rows.is_empty() && !take(rows)? {
                    return Ok(());
                }
            }
        }
    }

    /// Whether the event has a mark that is asked for.
    fn has_mark(&self, id: EventId) -> bool {
        let Some(asked) = self.filter.mark else { return true };
        asked.takes(self.shared.mark_of(&format!("e{id}")).map(|mark| mark.state()))
    }

    /// The rows of one event of the store, if they were asked for.
    pub fn rows(
        &mut self,
        cursor: Cursor,
        id: EventId,
        event: Event,
    ) -> Result<Vec<EventAnswer>, vernal_repository::Error> {
        if !self.filter.covers(&event, self.seeds) || !self.has_mark(id) {
            return Ok(Vec::new());
        }
        let same_as = names::first_name(&self.shared.reader, cursor, &event)?;
        if !self.filter.covers_name(&event, same_as.as_deref()) {
            return Ok(Vec::new());
        }
        let rows = match self.filter.pages || self.filter.whole {
            true => self.folds.whole(self.shared, cursor, event)?,
            false => self.folds.listed(self.shared, cursor, event)?,
        };
        let rows = rows.into_iter().filter_map(|row| self.filter.told(self.shared, row));
        let answer = |row| EventAnswer::of(self.shared, self.seeds, self.filter, (cursor, id), (row, same_as.clone()));
        let rows: Vec<EventAnswer> = rows.map(answer).collect();
        rows.iter().filter_map(|row| row.unread.as_ref()).for_each(|line| self.unread.note(line));
        Ok(rows)
    }
}
