//! Frees disk space by the rules of the settings.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use vernal_repository::Retention;

use super::answer::{self, ApiError, ApiResult, One};
use super::nouns::Nouns;
use super::shared::Shared;

/// What was freed.
#[derive(Serialize, JsonSchema)]
pub struct Compaction {
    journal_bytes_after: u64,
    journal_bytes_before: u64,
    records_dropped: u64,
    records_moved: u64,
    segment_bytes_after: u64,
    segment_bytes_before: u64,
    segments_rewritten: u64,
    table_bytes_after: u64,
    table_bytes_before: u64,
    versions_dropped: u64,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.post("/api/v1/compact", "Frees disk space of a folder that nobody crawls", compact)
}

pub async fn compact(State(shared): State<Arc<Shared>>) -> ApiResult<One<Compaction>> {
    let rules = Retention { keep_versions: shared.settings.keep_versions, keep_for: shared.settings.keep_for };
    let now = shared.clock.now();
    let done = shared.backend.compact(rules, now);
    if let Some(Ok(_)) = done {
        // A crawl that was stopped may have left words of erased pages there.
        shared.search.purge()?;
    }
    match done {
        Some(Ok(done)) => Ok(answer::value(&Compaction {
            journal_bytes_after: done.journal_bytes_after,
            journal_bytes_before: done.journal_bytes_before,
            records_dropped: done.records_dropped,
            records_moved: done.records_moved,
            segment_bytes_after: done.segment_bytes_after,
            segment_bytes_before: done.segment_bytes_before,
            segments_rewritten: done.segments_rewritten,
            table_bytes_after: done.table_bytes_after,
            table_bytes_before: done.table_bytes_before,
            versions_dropped: done.versions_dropped,
        })),
        Some(Err(error)) => Err(error.into()),
        None => Err(ApiError::new(StatusCode::CONFLICT, "a running crawl cannot be compacted; stop it first")),
    }
}
