//! The change feed: JSON lines from a cursor on, or a stream that does not end.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::Bytes;
use serde::Deserialize;
use tokio::sync::watch;
use vernal_model::{Event, Moment};
use vernal_repository::{Cursor, EventId};

use super::answer::{self, ApiError, ApiResult, Lines, StreamError, UnreadRows};
use super::event_filter::{EventFilter, RolesAsked, event_kinds, kind};
use super::event_json::EventAnswer;
use super::folds::Folds;
use super::names;
use super::parameters::{Parameters, site};
use super::shared::{Seeds, Shared};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangesQuery {
    /// A cursor, or a time.
    since: Option<String>,
    site: Option<String>,
    kind: Option<String>,
    /// Kinds of events, separated by commas.
    event: Option<String>,
    /// Only paragraphs of main text, or only those of the frame around it.
    role: Option<RolesAsked>,
    tag: Option<String>,
    limit: Option<usize>,
    /// Only so many of the newest events.
    latest: Option<usize>,
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

/// Events read from the tables at once.
const BATCH: usize = 256;
/// Events in one part of a stream, all of whose words lie in memory until the reader takes them.
const STREAM_BATCH: usize = 16;

pub async fn list(State(shared): State<Arc<Shared>>, Parameters(query): Parameters<ChangesQuery>) -> ApiResult {
    let (start, filter) = read(&shared, &query)?;
    let seeds = shared.seeds()?;
    let limit = query.limit.unwrap_or(usize::MAX);
    let Some(latest) = query.latest else {
        return Ok(answer::lines(move |lines| {
            let mut feed = FeedReader::new(&shared, &seeds, &filter);
            feed.write(start, limit, lines)?;
            feed.unread.end()
        }));
    };
    Ok(answer::lines(move |lines| {
        let mut feed = FeedReader::new(&shared, &seeds, &filter);
        feed.newest(start, latest)?.iter().take(limit).try_for_each(|event| lines.line(event))?;
        feed.unread.end()
    }))
}

pub async fn schema() -> Response {
    answer::value(&super::event_schema::event_schema())
}

fn read(shared: &Shared, query: &ChangesQuery) -> Result<(Cursor, EventFilter), ApiError> {
    if query.pages && (query.kind.is_some() || query.event.is_some() || query.role.is_some()) {
        return Err(ApiError::bad_request(
            "`pages` gives every event of a page, because a copy of it needs them all: leave out `kind`, `event` and `role`",
        ));
    }
    let mut filter = EventFilter {
        not_before: None,
        site: query.site.as_deref().map(site).transpose()?,
        kind: query.kind.as_deref().map(kind).transpose()?,
        events: query.event.as_deref().map(event_kinds).transpose()?,
        role: query.role,
        tag: query.tag.clone(),
        with_noise: query.with_noise,
        with_names: query.with_names,
        pages: query.pages,
        brief: query.brief,
    };
    let Some(since) = &query.since else { return Ok((Cursor::START, filter)) };
    if let Ok(cursor) = since.parse() {
        return Ok((cursor, filter));
    }
    if since.starts_with('c') {
        return Err(ApiError::bad_request(format!("`{since}` is no cursor of this feed")));
    }
    filter.not_before = Some(Moment::parse(since, shared.clock.now()).map_err(ApiError::bad_request)?);
    Ok((Cursor::START, filter))
}

/// Reads the store and gives what was asked for.
struct FeedReader<'a> {
    shared: &'a Shared,
    seeds: &'a Seeds,
    filter: &'a EventFilter,
    folds: Folds,
    unread: UnreadRows,
}

impl<'a> FeedReader<'a> {
    fn new(shared: &'a Shared, seeds: &'a Seeds, filter: &'a EventFilter) -> FeedReader<'a> {
        FeedReader { shared, seeds, filter, folds: Folds::default(), unread: UnreadRows::default() }
    }

    fn write(&mut self, start: Cursor, limit: usize, lines: &mut Lines) -> Result<(), StreamError> {
        let (mut after, mut left) = (start, limit);
        while left > 0 {
            let batch = self.shared.reader.events(after, BATCH)?;
            let Some((last, _, _)) = batch.last() else { break };
            after = *last;
            for (cursor, id, event) in batch {
                // The rows of one cursor stay together, so that a reader can go on behind it.
                let rows = if left > 0 { self.rows(cursor, id, event)? } else { Vec::new() };
                left = left.saturating_sub(rows.len());
                rows.iter().try_for_each(|row| lines.line(row))?;
            }
        }
        Ok(())
    }

    /// The newest rows after the cursor, oldest first.
    fn newest(&mut self, start: Cursor, latest: usize) -> Result<Vec<EventAnswer>, StreamError> {
        let (mut newest, mut before) = (Vec::new(), Cursor(u64::MAX));
        'reading: while newest.len() < latest {
            let batch = self.shared.reader.events_before(before, BATCH)?;
            let Some((last, _, _)) = batch.last() else { break };
            before = *last;
            for (cursor, id, event) in batch {
                if cursor <= start || newest.len() >= latest {
                    break 'reading;
                }
                newest.extend(self.rows(cursor, id, event)?.into_iter().rev());
            }
        }
        newest.truncate(latest);
        newest.reverse();
        Ok(newest)
    }

    /// The rows of one event of the store, if they were asked for.
    fn rows(
        &mut self,
        cursor: Cursor,
        id: EventId,
        event: Event,
    ) -> Result<Vec<EventAnswer>, vernal_repository::Error> {
        if !self.filter.covers(&event, self.seeds) {
            return Ok(Vec::new());
        }
        let same_as = names::first_name(&self.shared.reader, cursor, &event)?;
        if !self.filter.covers_name(&event, same_as.as_deref()) {
            return Ok(Vec::new());
        }
        let rows = match self.filter.pages {
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

/// Server-sent events. `Last-Event-ID` wins over `since`, so that a client that lost its connection goes on where it was.
pub async fn stream(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Parameters(query): Parameters<ChangesQuery>,
) -> ApiResult {
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let query = ChangesQuery { since: last_id.or(query.since.clone()), ..query };
    if query.latest.is_some() {
        return Err(ApiError::bad_request("a stream has no latest events: give `since`"));
    }
    let (start, filter) = read(&shared, &query)?;
    let place = StreamPlace {
        after: start,
        filter: Arc::new(filter),
        left: query.limit.unwrap_or(usize::MAX),
        shared: Arc::clone(&shared),
    };
    let following =
        Following { place, acknowledged: shared.backend.acknowledged(), stop: shared.stop.clone(), greeted: false };
    let parts = futures_util::stream::unfold(following, |mut following| async move {
        let part = following.next().await.transpose()?;
        // The stream breaks off where the store cannot be read, so that the end is not taken for that of the feed.
        following.place.left = if part.is_err() { 0 } else { following.place.left };
        Some((part.map_err(ApiError::breaking_off), following))
    });
    Ok(answer::typed("text/event-stream", Body::from_stream(parts)))
}

/// One reader of the stream.
struct Following {
    place: StreamPlace,
    /// `None` where nothing crawls: then the stream ends with what is there.
    acknowledged: Option<watch::Receiver<u64>>,
    stop: watch::Receiver<bool>,
    greeted: bool,
}

/// Where a reader of the stream is.
#[derive(Clone)]
struct StreamPlace {
    shared: Arc<Shared>,
    after: Cursor,
    filter: Arc<EventFilter>,
    left: usize,
}

impl Following {
    /// The next events as text; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        if !std::mem::replace(&mut self.greeted, true) {
            // Some bytes must come at once, so that the client knows that it is connected.
            return Ok(Some(Bytes::from_static(b": vernal\n\n")));
        }
        loop {
            if self.place.left == 0 || *self.stop.borrow() {
                return Ok(None);
            }
            if let Some(acknowledged) = &mut self.acknowledged {
                acknowledged.mark_unchanged();
            }
            let text = self.read().await?;
            if !text.is_empty() {
                return Ok(Some(text.into()));
            }
            let Some(acknowledged) = self.acknowledged.as_mut() else { return Ok(None) };
            tokio::select! {
                moved = acknowledged.changed() => if moved.is_err() { return Ok(None) },
                _ = self.stop.changed() => return Ok(None),
                () = tokio::time::sleep(KEEP_ALIVE_EVERY) => return Ok(Some(Bytes::from_static(b": still here\n\n"))),
            }
        }
    }

    /// Reads on, beside the event loop, and few streams at a time: a thousand of them must not keep others waiting.
    async fn read(&mut self) -> Result<String, ApiError> {
        let turns = Arc::clone(&self.place.shared.stream_turns);
        let turn = turns.acquire_owned().await.map_err(ApiError::failed)?;
        let mut place = self.place.clone();
        let read = tokio::task::spawn_blocking(move || {
            let text = place.text();
            drop(turn);
            (place, text)
        });
        let (place, text) = read.await.map_err(ApiError::failed)?;
        self.place = place;
        text
    }
}

impl StreamPlace {
    /// Moves on behind some events; an empty text means that nothing of them was asked for and nothing more is there.
    fn text(&mut self) -> Result<String, ApiError> {
        let mut batch = self.shared.reader.events(self.after, STREAM_BATCH)?;
        let seeds = self.shared.seeds()?;
        let mut text = String::new();
        let mut feed = FeedReader::new(&self.shared, &seeds, &self.filter);
        while let Some((last, _, _)) = batch.last() {
            self.after = *last;
            for (cursor, id, event) in batch {
                let name = event.kind.name();
                for row in if self.left > 0 { feed.rows(cursor, id, event)? } else { Vec::new() } {
                    self.left = self.left.saturating_sub(1);
                    let Ok(data) = serde_json::to_string(&row) else { continue };
                    text.push_str(&format!("id: {cursor}\nevent: {name}\ndata: {data}\n\n"));
                }
            }
            if !text.is_empty() || self.left == 0 {
                break;
            }
            batch = self.shared.reader.events(self.after, STREAM_BATCH)?;
        }
        Ok(text)
    }
}

/// Proxies close a connection that is silent.
const KEEP_ALIVE_EVERY: std::time::Duration = std::time::Duration::from_secs(15);
