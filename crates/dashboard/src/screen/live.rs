//! What moves while one looks: the feed of changes as server-sent events, passed on as the API gives it.

use axum::response::Response;
use axum::http::HeaderMap;

use crate::problem::Told;
use crate::question::Question;
use crate::reader::Reader;

pub async fn stream(reader: Reader, headers: HeaderMap) -> Told<Response> {
    let since = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let question = Question::of("changes/stream").with("brief", "true").with_some("since", since);
    reader.stream(&question).await
}
