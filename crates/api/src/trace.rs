//! Every change that visits found, as rows of a trace.

use std::sync::Arc;

use axum::extract::State;

use super::answer::{self, ApiResult, StreamError};
use super::shared::Shared;

pub async fn list(State(shared): State<Arc<Shared>>) -> ApiResult {
    Ok(answer::lines(move |lines| {
        let mut gone = false;
        let told = shared.backend.trace(&mut |row| {
            gone = gone || lines.line(&row).is_err();
            !gone
        });
        if gone { Err(StreamError::ReaderGone) } else { told.map_err(StreamError::Backend) }
    }))
}
