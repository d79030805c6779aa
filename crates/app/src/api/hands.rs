//! What can act on a crawl: the live loop of a running one, or the crawler of a folder that we hold ourselves.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use vernal_crawler::{Act, Acted, Check, Crawler, PromisesKept, Pulse};
use vernal_model::{Moment, Url};
use vernal_repository::Repository;

use crate::runtime::live::{Handle, Input, Reasons};

pub enum Hands {
    Live(Handle),
    Still(Box<Still>),
}

/// A folder that nobody crawls. The crawler is made of it only when something must act or plan.
pub struct Still {
    settings: vernal_crawler::Settings,
    kept: Mutex<Kept>,
}

enum Kept {
    Repository(Box<Repository>),
    Crawler(Box<Crawler>),
    Nothing,
}

impl Hands {
    pub fn still(repository: Repository, settings: vernal_crawler::Settings) -> Hands {
        Hands::Still(Box::new(Still { settings, kept: Mutex::new(Kept::Repository(Box::new(repository))) }))
    }

    pub async fn act(&self, act: Act, now: Moment) -> Result<Acted, String> {
        match self {
            Hands::Live(handle) => handle.ask(|reply| Input::Act(act, reply)).await,
            Hands::Still(still) => still.with(now, |crawler| crawler.act(act, now)),
        }
    }

    pub async fn check(&self, url: Url, now: Moment) -> Result<Check, String> {
        match self {
            Hands::Live(handle) => handle.ask(|reply| Input::Check(url, reply)).await,
            Hands::Still(still) => still.with(now, |crawler| crawler.check(&url, now)),
        }
    }

    pub async fn why(&self, url: Url, now: Moment) -> Result<Reasons, String> {
        match self {
            Hands::Live(handle) => handle.ask(|reply| Input::Why(url, reply)).await,
            Hands::Still(still) => still.with(now, |crawler| crawler.why(&url, now)),
        }
    }

    /// How promises stand; nothing if nobody promised anything.
    pub async fn promises(&self, now: Moment) -> Result<Option<PromisesKept>, String> {
        match self {
            Hands::Live(handle) => handle.ask(Input::Promises).await,
            Hands::Still(still) => {
                still.with(now, |crawler| Ok(crawler.has_promises().then(|| crawler.promises_kept(now))))
            }
        }
    }

    /// `None` where nothing crawls.
    pub fn pulse(&self) -> Option<Pulse> {
        match self {
            Hands::Live(handle) => Some(handle.pulse()),
            Hands::Still(_) => None,
        }
    }

    /// Whether only an empty purse holds back a crawl that runs.
    pub fn waits_for_budget(&self) -> bool {
        match self {
            Hands::Live(handle) => handle.seen().waits_for_budget,
            Hands::Still(_) => false,
        }
    }

    /// Whether nobody crawls here, so that nothing changes unless we change it.
    pub fn is_still(&self) -> bool {
        matches!(self, Hands::Still(_))
    }

    /// Moves whenever something new was acknowledged; `None` where nothing ever will be.
    pub fn acknowledged(&self) -> Option<watch::Receiver<u64>> {
        match self {
            Hands::Live(handle) => Some(handle.acknowledged()),
            Hands::Still(_) => None,
        }
    }

    /// Lends the repository of a folder that nobody crawls.
    pub fn with_repository<T>(
        &self,
        act: impl FnOnce(&mut Repository) -> vernal_repository::Result<T>,
    ) -> Option<Result<T, String>> {
        let Hands::Still(still) = self else { return None };
        match &mut *still.kept() {
            Kept::Repository(repository) => Some(act(repository).map_err(|error| error.to_string())),
            Kept::Crawler(_) | Kept::Nothing => None,
        }
    }

    pub fn close(&self, now: Moment) -> Result<(), String> {
        let Hands::Still(still) = self else { return Ok(()) };
        match std::mem::replace(&mut *still.kept(), Kept::Nothing) {
            Kept::Repository(repository) => repository.close().map_err(|error| error.to_string()),
            Kept::Crawler(crawler) => crawler.close(now).map_err(|error| error.to_string()),
            Kept::Nothing => Ok(()),
        }
    }
}

impl Still {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, now: Moment, act: impl FnOnce(&mut Crawler) -> vernal_crawler::Result<T>) -> Result<T, String> {
        let mut kept = self.kept();
        let mut crawler = match std::mem::replace(&mut *kept, Kept::Nothing) {
            Kept::Crawler(crawler) => crawler,
            Kept::Repository(repository) => {
                let opened = Crawler::open(*repository, self.settings.clone(), now);
                Box::new(opened.map_err(|error| error.to_string())?)
            }
            Kept::Nothing => return Err("the repository is closed".into()),
        };
        let done = act(&mut crawler).map_err(|error| error.to_string());
        *kept = Kept::Crawler(crawler);
        done
    }
}
