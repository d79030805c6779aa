//! Frees disk space by the rules of the settings.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use vernal_repository::Retention;

use super::answer::{self, ApiError, ApiResult};
use super::shared::Shared;

pub async fn compact(State(shared): State<Arc<Shared>>) -> ApiResult {
    let rules = Retention { keep_versions: shared.settings.keep_versions, keep_for: shared.settings.keep_for };
    let now = shared.clock.now();
    let done = shared.backend.compact(rules, now);
    match done {
        Some(Ok(done)) => Ok(answer::value(&json!({
            "segments_rewritten": done.segments_rewritten,
            "records_moved": done.records_moved,
            "records_dropped": done.records_dropped,
            "versions_dropped": done.versions_dropped,
            "segment_bytes_before": done.segment_bytes_before,
            "segment_bytes_after": done.segment_bytes_after,
            "table_bytes_before": done.table_bytes_before,
            "table_bytes_after": done.table_bytes_after,
            "journal_bytes_before": done.journal_bytes_before,
            "journal_bytes_after": done.journal_bytes_after,
        }))),
        Some(Err(error)) => Err(error.into()),
        None => Err(ApiError::new(StatusCode::CONFLICT, "a running crawl cannot be compacted; stop it first")),
    }
}
