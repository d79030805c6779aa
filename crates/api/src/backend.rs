//! What stands behind the API: the crawl that acts, the clock it goes by, and the text index. Whoever serves the router
//! implements these: for a crawl that runs, and for a folder that nobody crawls.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;
use vernal_crawler::{Act, Acted, Believed, Check, PromisesKept, Pulse};
use vernal_model::{Moment, Url};
use vernal_repository::{Compacted, Retention};
use vernal_search::{Answer, Asked, Progress, SearchStatus};

use super::answer::ApiError;

/// The crawl of a folder, whether it runs or not.
pub trait CrawlBackend: Send + Sync {
    fn act(&self, act: Act, now: Moment) -> BoxFuture<'_, Result<Acted>>;

    fn check(&self, url: Url, now: Moment) -> BoxFuture<'_, Result<Check>>;

    fn why(&self, url: Url, now: Moment) -> BoxFuture<'_, Result<Reasons>>;

    /// Which promises are kept and which are overdue; nothing where none was made.
    fn promises(&self, now: Moment) -> BoxFuture<'_, Result<Option<PromisesKept>>>;

    /// How fresh the policy believes the copy to be. Status, dashboard and plan show this one belief.
    fn believed(&self, now: Moment) -> BoxFuture<'_, Result<Believed>>;

    /// `None` where nothing crawls.
    fn pulse(&self) -> Option<Pulse>;

    /// Whether a crawl that runs has something to visit and no budget left for it.
    fn waits_for_budget(&self) -> bool;

    /// Whether nobody crawls here, so that nothing changes unless this process changes it.
    fn is_stopped(&self) -> bool;

    /// Moves whenever something new was acknowledged; `None` where nothing ever will be.
    fn acknowledged(&self) -> Option<watch::Receiver<u64>>;

    /// Frees disk space of a folder that nobody crawls; `None` where a crawl runs.
    fn compact(&self, rules: Retention, now: Moment) -> Option<Result<Compacted>>;

    /// Rewrites the files of a folder that nobody crawls without what was erased; `None` where a crawl runs, which does so by
    /// itself.
    fn rewrite_erased(&self, now: Moment) -> Option<Result<()>>;

    /// Every change that visits found, in the order of a trace, until `take` says that it wants no more.
    fn trace(&self, take: &mut dyn FnMut(TraceRow) -> bool) -> Result<()>;
}

/// The time of the repository.
pub trait Clock: Send + Sync {
    fn now(&self) -> Moment;

    /// When this clock began.
    fn began(&self) -> Moment;

    /// How many seconds a second of the wall clock counts as.
    fn scale(&self) -> f64;
}

/// The text index of a folder.
pub trait TextIndex: Send + Sync {
    fn search(&self, asked: &Asked) -> Result<Answer, vernal_search::Error>;

    /// Makes the index anew. Returns when it is complete, and tells how far it is meanwhile.
    fn rebuild(&self, told: &mut dyn FnMut(Progress)) -> Result<SearchStatus, vernal_search::Error>;

    /// Brings an index that nobody follows up to date, so that its files have no word of erased pages.
    fn purge(&self) -> Result<(), vernal_search::Error>;

    /// `None` before there is an index.
    fn status(&self) -> Option<SearchStatus>;

    /// Events a second that were taken last.
    fn rate(&self) -> u64;
}

/// Why a page is due when it is; `None` for a page that is not held.
pub type Reasons = Option<Vec<(String, String)>>;

/// One row of a trace: a change, dated by the visit that found it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TraceRow {
    pub site: String,
    pub page: String,
    pub change_time_unix: i64,
    pub bytes: u64,
    pub kind: String,
    /// When its page was visited last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_visit_unix: Option<i64>,
}

/// Why the backend did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    #[error(transparent)]
    Repository(#[from] vernal_repository::Error),
    /// Anything else, in its own words.
    #[error("{0}")]
    Failed(String),
}

type Result<T, E = BackendError> = std::result::Result<T, E>;

impl From<BackendError> for ApiError {
    fn from(error: BackendError) -> ApiError {
        match error {
            BackendError::Repository(error) => error.into(),
            BackendError::Failed(line) => ApiError::failed(line),
        }
    }
}
