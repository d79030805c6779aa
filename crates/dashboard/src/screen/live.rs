//! What moves while one looks: the feed of changes as server-sent events, passed on as the API gives it.

use axum::extract::Query;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;

use crate::problem::Told;
use crate::question::Question;
use crate::reader::Reader;

#[derive(Deserialize)]
pub struct Asked {
    /// The cursor of the feed when the screen was drawn.
    since: Option<String>,
}

pub async fn stream(reader: Reader, Query(asked): Query<Asked>, headers: HeaderMap) -> Told<Response> {
    // A browser that lost the connection says which event it saw last.
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()).or(asked.since.as_deref());
    reader.stream(&Question::of("changes/stream").with("brief", "true").with_some("since", last)).await
}
