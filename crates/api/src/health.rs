//! Whether the process lives.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::answer;
use super::shared::Shared;

pub async fn show(State(shared): State<Arc<Shared>>) -> Response {
    answer::value(&serde_json::json!({ "ok": true, "crawling": shared.backend.pulse().is_some() }))
}
