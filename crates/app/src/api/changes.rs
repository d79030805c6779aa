//! The change feed: JSON lines from a cursor on, or a stream that does not end.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use vernal_model::{Event, EventKind, Kind, Moment, Site};
use vernal_repository::{Cursor, EventId};

use super::answer::{self, ApiError, ApiResult, Lines, StreamError};
use super::change::{self, ChangeJson, Paragraph};
use super::event_text;
use super::parameters::{Parameters, site};
use super::shared::{Seeds, Shared, time};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangesQuery {
    /// A cursor, or a time.
    since: Option<String>,
    site: Option<String>,
    kind: Option<String>,
    tag: Option<String>,
    limit: Option<usize>,
    /// Also changes that are noise alone.
    #[serde(default)]
    with_noise: bool,
    /// Without the words of pages that are new or back.
    #[serde(default)]
    brief: bool,
}

/// Which events are asked for, parsed.
#[derive(Clone)]
struct Filter {
    not_before: Option<Moment>,
    site: Option<Site>,
    kind: Option<Kind>,
    tag: Option<String>,
    with_noise: bool,
    brief: bool,
}

/// The event as clients see it: fields are only added, never renamed.
#[derive(Serialize)]
struct EventAnswer {
    id: String,
    cursor: String,
    event: EventKind,
    url: String,
    site: String,
    tags: Vec<String>,
    title: String,
    language: String,
    content_type: String,
    version: Option<u32>,
    previous: Option<u32>,
    seen_same: Option<String>,
    seen_different: Option<String>,
    #[serde(flatten)]
    change: ChangeJson,
    paragraphs: Vec<Paragraph>,
    detail: String,
}

/// Events read from the tables at once.
const BATCH: usize = 256;

pub async fn list(State(shared): State<Arc<Shared>>, Parameters(query): Parameters<ChangesQuery>) -> ApiResult {
    let (start, filter) = read(&shared, &query)?;
    let seeds = shared.seeds()?;
    let limit = query.limit.unwrap_or(usize::MAX);
    Ok(answer::lines(move |lines| write(&shared, &seeds, start, &filter, limit, lines)))
}

pub async fn schema() -> Response {
    answer::value(&super::openapi::event_schema())
}

fn read(shared: &Shared, query: &ChangesQuery) -> Result<(Cursor, Filter), ApiError> {
    let mut filter = Filter {
        not_before: None,
        site: query.site.as_deref().map(site).transpose()?,
        kind: query.kind.as_deref().map(kind).transpose()?,
        tag: query.tag.clone(),
        with_noise: query.with_noise,
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

pub fn kind(text: &str) -> Result<Kind, ApiError> {
    let found = Kind::ALL.into_iter().find(|kind| kind.name() == text);
    found.ok_or_else(|| {
        ApiError::bad_request(format!(
            "`{text}` is no kind of change; there are {}",
            Kind::ALL.map(Kind::name).join(", ")
        ))
    })
}

impl Filter {
    fn covers(&self, event: &Event, seeds: &Seeds) -> bool {
        let is_noise = event.kind == EventKind::Changed && !event.change.is_change();
        let kinds = if self.with_noise { event.change.kinds } else { event.change.left };
        (self.with_noise || !is_noise)
            && self.not_before.is_none_or(|moment| event.seen_different >= moment)
            && self.site.as_ref().is_none_or(|site| event.url.site_text() == site.as_str())
            && self.kind.is_none_or(|kind| kinds.contains(kind))
            && seeds.tagged(self.tag.as_deref(), &event.url, 0)
    }

    /// The event with all the words that it can have. A version that cannot be read takes nothing else from the feed.
    fn told(&self, shared: &Shared, mut event: Event) -> Event {
        if !self.brief {
            let _ = event_text::fill(shared, &mut event);
        }
        event
    }
}

fn write(
    shared: &Shared,
    seeds: &Seeds,
    start: Cursor,
    filter: &Filter,
    limit: usize,
    lines: &mut Lines,
) -> Result<(), StreamError> {
    let (mut after, mut left) = (start, limit);
    while left > 0 {
        let batch = shared.reader.events(after, BATCH)?;
        let Some((last, _, _)) = batch.last() else { break };
        after = *last;
        for (cursor, id, event) in batch.into_iter().filter(|(_, _, event)| filter.covers(event, seeds)).take(left) {
            left -= 1;
            lines.line(&shown(cursor, id, filter.told(shared, event), seeds))?;
        }
    }
    Ok(())
}

/// Server-sent events. `Last-Event-ID` wins over `since`, so that a client that lost its connection goes on where it was.
pub async fn stream(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Parameters(query): Parameters<ChangesQuery>,
) -> ApiResult {
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let query = ChangesQuery { since: last_id.or(query.since.clone()), ..query };
    let (start, filter) = read(&shared, &query)?;
    let following = Following {
        after: start,
        filter,
        acknowledged: shared.backend.acknowledged(),
        stop: shared.stop.clone(),
        left: query.limit.unwrap_or(usize::MAX),
        shared,
        greeted: false,
    };
    let parts = futures_util::stream::unfold(following, |mut following| async move {
        let part = following.next().await?;
        Some((Ok::<Bytes, Infallible>(part), following))
    });
    Ok(answer::typed("text/event-stream", Body::from_stream(parts)))
}

/// One reader of the stream.
struct Following {
    shared: Arc<Shared>,
    after: Cursor,
    filter: Filter,
    /// `None` where nothing crawls: then the stream ends with what is there.
    acknowledged: Option<watch::Receiver<u64>>,
    stop: watch::Receiver<bool>,
    left: usize,
    greeted: bool,
}

impl Following {
    /// The next events as text; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        if !std::mem::replace(&mut self.greeted, true) {
            // Some bytes must come at once, so that the client knows that it is connected.
            return Some(Bytes::from_static(b": vernal\n\n"));
        }
        loop {
            if self.left == 0 || *self.stop.borrow() {
                return None;
            }
            if let Some(acknowledged) = &mut self.acknowledged {
                acknowledged.mark_unchanged();
            }
            let batch = self.shared.reader.events(self.after, BATCH).ok()?;
            let text = self.text(batch)?;
            if !text.is_empty() {
                return Some(text.into());
            }
            let acknowledged = self.acknowledged.as_mut()?;
            tokio::select! {
                moved = acknowledged.changed() => moved.ok()?,
                _ = self.stop.changed() => return None,
                () = tokio::time::sleep(KEEP_ALIVE_EVERY) => return Some(Bytes::from_static(b": still here\n\n")),
            }
        }
    }

    /// Moves on behind a batch; an empty text means that nothing of it was asked for and nothing more is there.
    fn text(&mut self, mut batch: Vec<(Cursor, EventId, Event)>) -> Option<String> {
        let seeds = self.shared.seeds().ok()?;
        let mut text = String::new();
        while let Some((last, _, _)) = batch.last() {
            self.after = *last;
            let covered = batch.drain(..).filter(|(_, _, event)| self.filter.covers(event, &seeds)).take(self.left);
            for (cursor, id, event) in covered {
                self.left -= 1;
                let name = event.kind.name();
                let data =
                    serde_json::to_string(&shown(cursor, id, self.filter.told(&self.shared, event), &seeds)).ok()?;
                text.push_str(&format!("id: {cursor}\nevent: {name}\ndata: {data}\n\n"));
            }
            if !text.is_empty() || self.left == 0 {
                break;
            }
            batch = self.shared.reader.events(self.after, BATCH).ok()?;
        }
        Some(text)
    }
}

/// Proxies close a connection that is silent.
const KEEP_ALIVE_EVERY: std::time::Duration = std::time::Duration::from_secs(15);

fn shown(cursor: Cursor, id: EventId, event: Event, seeds: &Seeds) -> EventAnswer {
    let mut change = event.change;
    let paragraphs = std::mem::take(&mut change.paragraphs);
    let mut change = ChangeJson::of(change);
    change.decided_by = change.decided_by.filter(|_| event.kind != EventKind::New);
    EventAnswer {
        id: format!("e{id}"),
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
        paragraphs: paragraphs.into_iter().map(|one| change::paragraph(Some(event.page), one)).collect(),
        detail: event.detail.into(),
    }
}
