//! The crawl behind the API: the live loop of a running one, or the crawler of a folder that this process holds itself.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use vernal_crawler::{Act, Acted, Believed, Check, Crawler, Error as CrawlerError, PromisesKept, Pulse};
use vernal_model::{Moment, Url};
use vernal_repository::Repository;

use super::answer::ApiError;
use crate::runtime::live::{Handle, Input, LoopError, Reasons};

pub enum CrawlBackend {
    Live(Handle),
    Stopped(Box<StoppedCrawl>),
}

/// A folder that nobody crawls. The crawler is made of it only when something must act or plan.
pub struct StoppedCrawl {
    settings: vernal_crawler::Settings,
    state: Mutex<StoppedState>,
}

enum StoppedState {
    Repository(Box<Repository>),
    Crawler(Box<Crawler>),
    Closed,
}

/// Why the backend did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    #[error(transparent)]
    Loop(#[from] LoopError),
    #[error(transparent)]
    Crawler(#[from] vernal_crawler::Error),
    #[error(transparent)]
    Repository(#[from] vernal_repository::Error),
    #[error("the repository is closed")]
    Closed,
}

impl From<BackendError> for ApiError {
    fn from(error: BackendError) -> ApiError {
        match error {
            BackendError::Repository(error)
            | BackendError::Crawler(CrawlerError::Repository(error))
            | BackendError::Loop(LoopError::Crawler(CrawlerError::Repository(error))) => error.into(),
            other => ApiError::failed(other),
        }
    }
}

type Result<T> = std::result::Result<T, BackendError>;

impl CrawlBackend {
    pub fn stopped(repository: Repository, settings: vernal_crawler::Settings) -> CrawlBackend {
        let state = Mutex::new(StoppedState::Repository(Box::new(repository)));
        CrawlBackend::Stopped(Box::new(StoppedCrawl { settings, state }))
    }

    pub async fn act(&self, act: Act, now: Moment) -> Result<Acted> {
        match self {
            CrawlBackend::Live(handle) => Ok(handle.ask(|reply| Input::Act(act, reply)).await?),
            CrawlBackend::Stopped(stopped) => stopped.with(now, |crawler| crawler.act(act, now)),
        }
    }

    pub async fn check(&self, url: Url, now: Moment) -> Result<Check> {
        match self {
            CrawlBackend::Live(handle) => Ok(handle.ask(|reply| Input::Check(url, reply)).await?),
            CrawlBackend::Stopped(stopped) => stopped.with(now, |crawler| crawler.check(&url, now)),
        }
    }

    pub async fn why(&self, url: Url, now: Moment) -> Result<Reasons> {
        match self {
            CrawlBackend::Live(handle) => Ok(handle.ask(|reply| Input::Why(url, reply)).await?),
            CrawlBackend::Stopped(stopped) => stopped.with(now, |crawler| crawler.why(&url, now)),
        }
    }

    /// Which promises are kept and which are overdue; nothing where none was made.
    pub async fn promises(&self, now: Moment) -> Result<Option<PromisesKept>> {
        match self {
            CrawlBackend::Live(handle) => Ok(handle.ask(Input::Promises).await?),
            CrawlBackend::Stopped(stopped) => {
                stopped.with(now, |crawler| crawler.has_promises().then(|| crawler.promises_kept(now)).transpose())
            }
        }
    }

    /// How fresh the policy believes the copy to be. Status, status page and plan show this one belief.
    pub async fn believed(&self, now: Moment) -> Result<Believed> {
        match self {
            CrawlBackend::Live(handle) => Ok(handle.ask(Input::Believed).await?),
            CrawlBackend::Stopped(stopped) => stopped.with(now, |crawler| Ok(crawler.believed(now))),
        }
    }

    /// `None` where nothing crawls.
    pub fn pulse(&self) -> Option<Pulse> {
        match self {
            CrawlBackend::Live(handle) => Some(handle.pulse()),
            CrawlBackend::Stopped(_) => None,
        }
    }

    /// Whether a crawl that runs has something to visit and no budget left for it.
    pub fn waits_for_budget(&self) -> bool {
        match self {
            CrawlBackend::Live(handle) => handle.status().waits_for_budget,
            CrawlBackend::Stopped(_) => false,
        }
    }

    /// Whether nobody crawls here, so that nothing changes unless this process changes it.
    pub fn is_stopped(&self) -> bool {
        matches!(self, CrawlBackend::Stopped(_))
    }

    /// Moves whenever something new was acknowledged; `None` where nothing ever will be.
    pub fn acknowledged(&self) -> Option<watch::Receiver<u64>> {
        match self {
            CrawlBackend::Live(handle) => Some(handle.acknowledged()),
            CrawlBackend::Stopped(_) => None,
        }
    }

    /// Lends the repository of a folder that nobody crawls.
    pub fn with_repository<T>(
        &self,
        act: impl FnOnce(&mut Repository) -> vernal_repository::Result<T>,
    ) -> Option<Result<T>> {
        let CrawlBackend::Stopped(stopped) = self else { return None };
        match &mut *stopped.state() {
            StoppedState::Repository(repository) => Some(act(repository).map_err(BackendError::from)),
            StoppedState::Crawler(_) | StoppedState::Closed => None,
        }
    }

    pub fn close(&self, now: Moment) -> Result<()> {
        let CrawlBackend::Stopped(stopped) = self else { return Ok(()) };
        match std::mem::replace(&mut *stopped.state(), StoppedState::Closed) {
            StoppedState::Repository(repository) => Ok(repository.close()?),
            StoppedState::Crawler(crawler) => Ok(crawler.close(now)?),
            StoppedState::Closed => Ok(()),
        }
    }
}

impl StoppedCrawl {
    fn state(&self) -> MutexGuard<'_, StoppedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, now: Moment, act: impl FnOnce(&mut Crawler) -> vernal_crawler::Result<T>) -> Result<T> {
        let mut state = self.state();
        let mut crawler = match std::mem::replace(&mut *state, StoppedState::Closed) {
            StoppedState::Crawler(crawler) => crawler,
            StoppedState::Repository(repository) => Box::new(Crawler::open(*repository, self.settings.clone(), now)?),
            StoppedState::Closed => return Err(BackendError::Closed),
        };
        let done = act(&mut crawler);
        *state = StoppedState::Crawler(crawler);
        Ok(done?)
    }
}
