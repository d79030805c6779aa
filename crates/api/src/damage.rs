//! Notices the errors of answers: tables that a read found damaged are made anew at the next opening.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt;
use vernal_repository::{Error, note_damage};

use super::shared::Shared;

pub async fn noted(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    if let Some(error) = response.extensions().get::<Arc<Error>>() {
        note_damage(&shared.reader, error);
    }
    response.map(|body| {
        Body::new(body.map_err(move |error| {
            if let Some(error) = of_repository(&error) {
                note_damage(&shared.reader, error);
            }
            error
        }))
    })
}

/// The error of the repository that broke a streamed answer off.
fn of_repository<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e Error> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let boxed = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let found = boxed.and_then(|inner| {
            inner.downcast_ref::<Error>().or_else(|| inner.downcast_ref::<Arc<Error>>().map(|shared| &**shared))
        });
        if found.is_some() {
            return found;
        }
        cause = error.source();
    }
    None
}
