//! Places for expensive questions: a few of each sort are answered at a time, a few more wait a moment, and the rest are asked
//! to come again. So neither searches nor exports can take the whole machine from the crawl and from small questions.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::response::Response;
use futures_util::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::roles::matches;

/// So long a question waits for a place.
const PLACE_PATIENCE: Duration = Duration::from_secs(5);
/// Questions of one sort that wait; more are refused at once.
const WAITING_MAX: usize = 16;
/// When a question that found no place is to come again.
pub const COME_AGAIN: Duration = Duration::from_secs(5);

/// One sort of expensive question.
struct Sort {
    name: &'static str,
    /// Answered at a time.
    places: usize,
    paths: &'static [&'static str],
}

const SORTS: [Sort; 5] = [
    Sort { name: "searches", places: 4, paths: &["/api/v1/search"] },
    Sort {
        name: "comparisons of versions",
        places: 4,
        paths: &["/api/v1/diff", "/api/v1/blame", "/api/v1/pages/{url}/diff", "/api/v1/pages/{url}/blame"],
    },
    Sort { name: "plans", places: 2, paths: &["/api/v1/plan"] },
    Sort { name: "exports", places: 2, paths: &["/api/v1/trace", "/api/v1/export", "/api/v1/export/{format}"] },
    Sort {
        name: "checks of everything",
        places: 1,
        paths: &["/api/v1/verify", "/api/v1/compact", "/api/v1/forget", "/api/v1/search/rebuild"],
    },
];

pub fn is_expensive(path: &str) -> bool {
    sort_of(path).is_some()
}

fn sort_of(path: &str) -> Option<usize> {
    SORTS.iter().position(|sort| sort.paths.iter().any(|pattern| matches(pattern, path)))
}

/// The places of one listener.
pub struct Places {
    free: [Arc<Semaphore>; SORTS.len()],
    waiting: [Arc<Semaphore>; SORTS.len()],
}

/// A place that was taken; it is free again when this is dropped. Small questions need none.
pub struct Place(Option<OwnedSemaphorePermit>);

/// No place became free in time: what is asked too much at a time, and how many of it there may be.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{places} {name} are under way, which is all there may be at a time; come again")]
pub struct NoPlace {
    name: &'static str,
    places: usize,
}

impl Places {
    pub fn new() -> Places {
        Places {
            free: SORTS.map(|sort| Arc::new(Semaphore::new(sort.places))),
            waiting: SORTS.map(|_| Arc::new(Semaphore::new(WAITING_MAX))),
        }
    }

    /// Takes a place for this question, and waits a moment for one.
    pub async fn take(&self, path: &str) -> Result<Place, NoPlace> {
        let Some(at) = sort_of(path) else { return Ok(Place(None)) };
        let free = Arc::clone(&self.free[at]);
        if let Ok(place) = Arc::clone(&free).try_acquire_owned() {
            return Ok(Place(Some(place)));
        }
        let Sort { name, places, .. } = SORTS[at];
        let none = NoPlace { name, places };
        let Ok(_waits) = self.waiting[at].try_acquire() else { return Err(none) };
        match timeout(PLACE_PATIENCE, free.acquire_owned()).await {
            Ok(Ok(place)) => Ok(Place(Some(place))),
            _ => Err(none),
        }
    }
}

impl Place {
    /// Keeps the place until the answer was handed over. An answer that lies ready needs it no longer.
    pub fn held_by(self, response: Response) -> Response {
        let is_ready = response.body().size_hint().exact().is_some();
        match self {
            Place(Some(permit)) if !is_ready => response.map(|body| {
                let parts = body.into_data_stream().map(move |part| {
                    let _held = &permit;
                    part
                });
                Body::from_stream(parts)
            }),
            _ => response,
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use bytes::Bytes;
    use tokio::time::Instant;

    use super::*;

    fn streaming() -> Response {
        let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        Body::from_stream(never).into_response()
    }

    #[tokio::test(start_paused = true)]
    async fn there_are_so_many_places_and_who_waits_gets_the_next() {
        let places = Places::new();
        let first = places.take("/api/v1/verify").await.unwrap();
        let told = places.take("/api/v1/compact").await.map(|_| ()).unwrap_err();
        assert!(told.to_string().starts_with("1 checks of everything"), "{told}");
        let (second, ()) = tokio::join!(places.take("/api/v1/verify"), async { drop(first) });
        assert!(second.is_ok());
        for _ in 0..100 {
            assert!(places.take("/api/v1/status").await.is_ok(), "small questions need no place");
        }
        assert!(places.take("/api/v1/search").await.is_ok(), "each sort has its own");
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_wait() {
        let places = Places::new();
        let _held = places.take("/api/v1/verify").await.unwrap();
        let began = Instant::now();
        let asked = (0..WAITING_MAX + 3).map(|_| async {
            let refused = places.take("/api/v1/verify").await.is_err();
            (refused, began.elapsed())
        });
        let told = futures_util::future::join_all(asked).await;
        assert!(told.iter().all(|(refused, _)| *refused));
        assert_eq!(told.iter().filter(|(_, after)| after.is_zero()).count(), 3, "the others waited their turn");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_streams_keeps_its_place_and_one_that_lies_ready_does_not() {
        let places = Places::new();
        let ready = places.take("/api/v1/verify").await.unwrap().held_by("done".into_response());
        let streams = places.take("/api/v1/verify").await.unwrap().held_by(streaming());
        assert!(places.take("/api/v1/verify").await.is_err());
        drop(streams);
        assert!(places.take("/api/v1/verify").await.is_ok());
        drop(ready);
    }

    #[test]
    fn what_is_expensive_is_known_by_its_route() {
        for path in ["/api/v1/search", "/api/v1/pages/http%3A%2F%2Fa%2F/diff", "/api/v1/export/warc"] {
            assert!(is_expensive(path), "{path}");
        }
        for path in ["/api/v1/status", "/api/v1/pages", "/api/v1/changes/stream", "/healthz", "/api/v1/diff/x"] {
            assert!(!is_expensive(path), "{path}");
        }
    }
}
