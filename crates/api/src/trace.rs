//! Every change that visits found, as rows of a trace.

use std::sync::Arc;

use axum::extract::State;

use super::answer::{self, ApiResult, Many, StreamError};
use super::backend::TraceRow;
use super::nouns::Nouns;
use super::shared::Shared;

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/trace", "Every change that visits found, as rows of a trace", list)
}

pub async fn list(State(shared): State<Arc<Shared>>) -> ApiResult<Many<TraceRow>> {
    Ok(answer::lines(move |lines| {
        let mut gone = false;
        let told = shared.backend.trace(&mut |row| {
            gone = gone || lines.line(&row).is_err();
            !gone
        });
        if gone { Err(StreamError::ReaderGone) } else { told.map_err(StreamError::Backend) }
    }))
}
