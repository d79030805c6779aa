//! The origin of archived bytes: they are served there and nowhere else, and nothing else is served there.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use vernal_archive::memento::Uris;
use vernal_archive::replay::{self, Answer};
use vernal_repository::Reader;

use super::answer;

/// What this origin knows: the repository, and where Memento is spoken.
pub struct ArchiveOrigin {
    pub reader: Reader,
    /// The address of the main origin, for links from mementos to their TimeGate and TimeMap.
    pub main: String,
}

/// The routes of the archive's listener. It adds its `AccessGuard`.
pub fn archive_router(origin: ArchiveOrigin) -> Router {
    Router::new().fallback(show).with_state(Arc::new(origin))
}

async fn show(State(origin): State<Arc<ArchiveOrigin>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return response(replay::refusal(405, "the archive is only read"));
    }
    if is_of_service_worker(request.headers()) {
        return response(replay::refusal(403, "no archived script becomes a service worker"));
    }
    let target = request.uri().path_and_query().map_or_else(String::new, |target| target.as_str().to_owned());
    let read =
        answer::on_blocking_thread(move || Ok(replay::answer(&origin.reader, &target, &Uris::new(&origin.main))?));
    response(read.await.unwrap_or_else(|error| replay::refusal(500, &error.line)))
}

/// A service worker would outlive its page and answer for the whole archive.
fn is_of_service_worker(headers: &HeaderMap) -> bool {
    headers.contains_key("service-worker") || headers.get("sec-fetch-dest").is_some_and(|what| what == "serviceworker")
}

fn response(answer: Answer) -> Response {
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in answer.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}
