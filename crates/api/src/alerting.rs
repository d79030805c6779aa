//! The alerts behind the API, and what their nouns have in common.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use futures_util::future::BoxFuture;
use vernal_model::Moment;
use vernal_watch::{Alerts, Delivery, Error, Marks, Outcome, Route, Watch};

use super::answer::ApiError;
use super::seed_entry::{self, SeedError};
use super::shared::Shared;

/// The watches and the outbox of a folder. Whoever serves the router implements this.
pub trait Alerting: Send + Sync {
    /// They are opened when somebody asks for the first time.
    fn alerts(&self) -> Result<Arc<Mutex<Alerts>>, Error>;

    /// What people say of events. It is read when somebody asks for the first time.
    fn marks(&self) -> Result<Arc<Mutex<Marks>>, Error>;

    /// Whether there are any yet.
    fn is_used(&self) -> bool;

    /// Sends once, beside the outbox.
    fn send(&self, route: Route, delivery: Delivery) -> BoxFuture<'_, Outcome>;

    /// The time of the wall clock, by which deliveries go.
    fn now(&self) -> Moment;

    /// Where links in alerts lead.
    fn links(&self) -> Option<String>;
}

impl Shared {
    pub(super) fn alerting(&self) -> Result<&Arc<dyn Alerting>, ApiError> {
        let none = || ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "there are no alerts here");
        self.alerts.as_ref().ok_or_else(none)
    }

    /// The address of the feed of a watch; its path alone where nobody knows where the crawl is served.
    pub(super) fn feed_of(&self, watch: &str) -> String {
        let links = self.alerts.as_ref().and_then(|alerting| alerting.links()).unwrap_or_default();
        format!("{links}/feed.atom?watch={watch}")
    }

    pub(super) fn alerts(&self) -> Result<Arc<Mutex<Alerts>>, ApiError> {
        Ok(self.alerting()?.alerts()?)
    }
}

pub(super) fn locked(alerts: &Arc<Mutex<Alerts>>) -> MutexGuard<'_, Alerts> {
    alerts.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        match error {
            Error::Wrong(_) => ApiError::bad_request(error),
            Error::Unknown { .. } => ApiError::not_found(error),
            Error::OfSettings { .. } => ApiError::new(StatusCode::CONFLICT, error),
            Error::Repository(error) => error.into(),
            Error::Behind => ApiError::new(StatusCode::SERVICE_UNAVAILABLE, error),
            Error::Io { .. } | Error::Log { .. } | Error::Feed(_) => ApiError::failed(error),
        }
    }
}

/// The watch with what is watched spelled as the feed spells it.
pub fn spelled_as_the_feed(mut watch: Watch) -> Result<Watch, SeedError> {
    let over = &mut watch.over;
    for text in [&mut over.url, &mut over.prefix].into_iter().flatten() {
        *text = seed_entry::url(text)?.to_string();
    }
    if let Some(text) = &mut over.site {
        *text = seed_entry::site(text)?.as_str().to_owned();
    }
    Ok(watch)
}
