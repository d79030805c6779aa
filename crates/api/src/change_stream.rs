//! The change feed as server-sent events, which go on while the crawl does.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::sync::watch;
use vernal_repository::Cursor;

use super::answer::{ApiError, ApiResult, EventStream};
use super::changes::{ChangesQuery, FeedReader};
use super::event_filter::EventFilter;
use super::event_json::EventAnswer;
use super::parameters::Parameters;
use super::shared::Shared;

/// Events in one part of a stream, all of whose words lie in memory until the reader takes them.
const STREAM_BATCH: usize = 16;
/// Proxies close a connection that is silent.
const KEEP_ALIVE_EVERY: std::time::Duration = std::time::Duration::from_secs(15);

/// Server-sent events. `Last-Event-ID` wins over `since`, so that a client that lost its connection goes on where it was.
pub async fn stream(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Parameters(mut query): Parameters<ChangesQuery>,
) -> ApiResult<EventStream<EventAnswer>> {
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    query.since = last_id.or(query.after.take()).or(query.since);
    query.refuse_but("a stream", &[])?;
    let (start, filter) = query.read(&shared)?;
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
    Ok(EventStream::of(Body::from_stream(parts.fuse())))
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
                let mut rows = if self.left > 0 { feed.rows(cursor, id, event)? } else { Vec::new() };
                self.left = self.left.saturating_sub(rows.len());
                let last = rows.pop();
                for row in &rows {
                    text.push_str(&format!("event: {name}\ndata: {}\n\n", json(row)?));
                }
                // Only the last row of a cursor has its id: whoever lost the connection before that is given all of them again.
                if let Some(row) = last {
                    text.push_str(&format!("id: {cursor}\nevent: {name}\ndata: {}\n\n", json(&row)?));
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

fn json(row: &EventAnswer) -> Result<String, ApiError> {
    serde_json::to_string(row).map_err(ApiError::failed)
}
