//! Every change that visits found, as rows of a trace.

use std::sync::Arc;

use axum::extract::State;
use vernal_simulator::lab::trace::own;

use super::answer::{self, ApiResult, StreamError};
use super::shared::Shared;

pub async fn list(State(shared): State<Arc<Shared>>) -> ApiResult {
    Ok(answer::lines(move |lines| {
        let mut gone = false;
        let told = own::rows(&shared.reader, |row| {
            gone = gone || lines.line(&row).is_err();
            // Nothing ends a reading but an error; nobody sees this one.
            if gone { Err(vernal_simulator::Error::Lab("the reader has gone".into())) } else { Ok(()) }
        });
        match told {
            Err(_) if gone => Err(StreamError::ReaderGone),
            Err(error) => Err(StreamError::Trace(error)),
            Ok(()) => Ok(()),
        }
    }))
}
