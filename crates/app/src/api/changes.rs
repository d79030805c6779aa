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

use super::answer::{self, Answered, Broken, Lines, No};
use super::change::{self, ChangeShown, Paragraph};
use super::parameters::{Asked, site};
use super::shared::{Seeds, Shared, time};
use super::whole;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// A cursor, or a time.
    since: Option<String>,
    site: Option<String>,
    kind: Option<String>,
    tag: Option<String>,
    limit: Option<usize>,
    /// Changes of nothing that a reader would care about, too.
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

/// The event as the world sees it: fields are only added, never renamed.
#[derive(Serialize)]
struct Shown {
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
    change: ChangeShown,
    paragraphs: Vec<Paragraph>,
    detail: String,
}

/// Events read from the tables at once.
const BATCH: usize = 256;

pub async fn list(State(shared): State<Arc<Shared>>, Asked(wanted): Asked<Wanted>) -> Answered {
    let (start, filter) = read(&shared, &wanted)?;
    let seeds = shared.seeds()?;
    let limit = wanted.limit.unwrap_or(usize::MAX);
    Ok(answer::lines(move |lines| write(&shared, &seeds, start, &filter, limit, lines)))
}

pub async fn schema() -> Response {
    answer::value(&super::openapi::event_schema())
}

fn read(shared: &Shared, wanted: &Wanted) -> Result<(Cursor, Filter), No> {
    let mut filter = Filter {
        not_before: None,
        site: wanted.site.as_deref().map(site).transpose()?,
        kind: wanted.kind.as_deref().map(kind).transpose()?,
        tag: wanted.tag.clone(),
        with_noise: wanted.with_noise,
        brief: wanted.brief,
    };
    let Some(since) = &wanted.since else { return Ok((Cursor::START, filter)) };
    if let Ok(cursor) = since.parse() {
        return Ok((cursor, filter));
    }
    if since.starts_with('c') {
        return Err(No::wrong(format!("`{since}` is no cursor of this feed")));
    }
    filter.not_before = Some(Moment::parse(since, shared.clock.now()).map_err(No::wrong)?);
    Ok((Cursor::START, filter))
}

pub fn kind(text: &str) -> Result<Kind, No> {
    let found = Kind::ALL.into_iter().find(|kind| kind.name() == text);
    found.ok_or_else(|| {
        No::wrong(format!("`{text}` is no kind of change; there are {}", Kind::ALL.map(Kind::name).join(", ")))
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
            let _ = whole::fill(shared, &mut event);
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
) -> Result<(), Broken> {
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

/// Server-sent events. `Last-Event-ID` wins over `since`, so that a reader that lost the line goes on where it was.
pub async fn stream(State(shared): State<Arc<Shared>>, headers: HeaderMap, Asked(wanted): Asked<Wanted>) -> Answered {
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let wanted = Wanted { since: last_id.or(wanted.since.clone()), ..wanted };
    let (start, filter) = read(&shared, &wanted)?;
    let following = Following {
        after: start,
        filter,
        acknowledged: shared.hands.acknowledged(),
        stop: shared.stop.clone(),
        left: wanted.limit.unwrap_or(usize::MAX),
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
            // Something must come at once, so that the reader knows it is heard.
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

/// Proxies close a line on which nothing moves.
const KEEP_ALIVE_EVERY: std::time::Duration = std::time::Duration::from_secs(15);

fn shown(cursor: Cursor, id: EventId, event: Event, seeds: &Seeds) -> Shown {
    let mut change = event.change;
    let paragraphs = std::mem::take(&mut change.paragraphs);
    let mut change = ChangeShown::of(change);
    change.decided_by = change.decided_by.filter(|_| event.kind != EventKind::New);
    Shown {
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
