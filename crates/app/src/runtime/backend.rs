//! The crawl behind the API: the live loop of a running one, or the crawler of a folder that this process holds itself.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::watch;
use vernal_api::{BackendError, CrawlBackend, Reasons, TraceRow};
use vernal_crawler::{Act, Acted, Believed, Check, Crawler, PromisesKept, Pulse};
use vernal_model::{Moment, Url};
use vernal_repository::{Compacted, Reader, Repository, Retention};
use vernal_simulator::lab::trace::own;

use super::live::{Handle, Input, LoopError};

type Result<T> = std::result::Result<T, BackendError>;

/// A crawl that runs.
pub struct LiveCrawl {
    pub handle: Handle,
    pub reader: Reader,
}

/// A folder that nobody crawls. The crawler is made of it only when something must act or plan.
pub struct StoppedCrawl {
    settings: vernal_crawler::Settings,
    reader: Reader,
    state: Mutex<StoppedState>,
}

enum StoppedState {
    Repository(Box<Repository>),
    Crawler(Box<Crawler>),
    Closed,
}

impl CrawlBackend for LiveCrawl {
    fn act(&self, act: Act, _: Moment) -> BoxFuture<'_, Result<Acted>> {
        Box::pin(async move { self.handle.ask(|reply| Input::Act(act, reply)).await.map_err(of_loop) })
    }

    fn check(&self, url: Url, _: Moment) -> BoxFuture<'_, Result<Check>> {
        Box::pin(async move { self.handle.ask(|reply| Input::Check(url, reply)).await.map_err(of_loop) })
    }

    fn why(&self, url: Url, _: Moment) -> BoxFuture<'_, Result<Reasons>> {
        Box::pin(async move { self.handle.ask(|reply| Input::Why(url, reply)).await.map_err(of_loop) })
    }

    fn promises(&self, _: Moment) -> BoxFuture<'_, Result<Option<PromisesKept>>> {
        Box::pin(async move { self.handle.ask(Input::Promises).await.map_err(of_loop) })
    }

    fn believed(&self, _: Moment) -> BoxFuture<'_, Result<Believed>> {
        Box::pin(async move { self.handle.ask(Input::Believed).await.map_err(of_loop) })
    }

    fn pulse(&self) -> Option<Pulse> {
        Some(self.handle.pulse())
    }

    fn waits_for_budget(&self) -> bool {
        self.handle.status().waits_for_budget
    }

    fn is_stopped(&self) -> bool {
        false
    }

    fn acknowledged(&self) -> Option<watch::Receiver<u64>> {
        Some(self.handle.acknowledged())
    }

    fn compact(&self, _: Retention, _: Moment) -> Option<Result<Compacted>> {
        None
    }

    fn rewrite_erased(&self, _: Moment) -> Option<Result<()>> {
        None
    }

    fn trace(&self, take: &mut dyn FnMut(TraceRow) -> bool) -> Result<()> {
        trace(&self.reader, take)
    }
}

impl CrawlBackend for StoppedCrawl {
    fn act(&self, act: Act, now: Moment) -> BoxFuture<'_, Result<Acted>> {
        Box::pin(async move { self.with(now, |crawler| crawler.act(act, now)) })
    }

    fn check(&self, url: Url, now: Moment) -> BoxFuture<'_, Result<Check>> {
        Box::pin(async move { self.with(now, |crawler| crawler.check(&url, now)) })
    }

    fn why(&self, url: Url, now: Moment) -> BoxFuture<'_, Result<Reasons>> {
        Box::pin(async move { self.with(now, |crawler| crawler.why(&url, now)) })
    }

    fn promises(&self, now: Moment) -> BoxFuture<'_, Result<Option<PromisesKept>>> {
        let kept = move |crawler: &mut Crawler| crawler.has_promises().then(|| crawler.promises_kept(now)).transpose();
        Box::pin(async move { self.with(now, kept) })
    }

    fn believed(&self, now: Moment) -> BoxFuture<'_, Result<Believed>> {
        Box::pin(async move { self.with(now, |crawler| Ok(crawler.believed(now))) })
    }

    fn pulse(&self) -> Option<Pulse> {
        None
    }

    fn waits_for_budget(&self) -> bool {
        false
    }

    fn is_stopped(&self) -> bool {
        true
    }

    fn acknowledged(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    fn compact(&self, rules: Retention, now: Moment) -> Option<Result<Compacted>> {
        match &mut *self.state() {
            StoppedState::Repository(repository) => Some(repository.compact(rules, now).map_err(BackendError::from)),
            StoppedState::Crawler(_) | StoppedState::Closed => None,
        }
    }

    fn rewrite_erased(&self, now: Moment) -> Option<Result<()>> {
        Some(self.with(now, |crawler| crawler.act(Act::RewriteErased, now)).map(drop))
    }

    fn trace(&self, take: &mut dyn FnMut(TraceRow) -> bool) -> Result<()> {
        trace(&self.reader, take)
    }
}

impl StoppedCrawl {
    pub fn new(repository: Repository, settings: vernal_crawler::Settings) -> StoppedCrawl {
        let reader = repository.reader();
        StoppedCrawl { settings, reader, state: Mutex::new(StoppedState::Repository(Box::new(repository))) }
    }

    /// Closes the folder, with everything written.
    pub fn close(&self, now: Moment) -> Result<()> {
        match std::mem::replace(&mut *self.state(), StoppedState::Closed) {
            StoppedState::Repository(repository) => Ok(repository.close()?),
            StoppedState::Crawler(crawler) => crawler.close(now).map_err(of_crawler),
            StoppedState::Closed => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, StoppedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, now: Moment, act: impl FnOnce(&mut Crawler) -> vernal_crawler::Result<T>) -> Result<T> {
        let mut state = self.state();
        let mut crawler = match std::mem::replace(&mut *state, StoppedState::Closed) {
            StoppedState::Crawler(crawler) => crawler,
            StoppedState::Repository(repository) => {
                Box::new(Crawler::open(*repository, self.settings.clone(), now).map_err(of_crawler)?)
            }
            StoppedState::Closed => return Err(BackendError::Failed("the repository is closed".into())),
        };
        let done = act(&mut crawler);
        *state = StoppedState::Crawler(crawler);
        done.map_err(of_crawler)
    }
}

fn of_crawler(error: vernal_crawler::Error) -> BackendError {
    match error {
        vernal_crawler::Error::Repository(error) => BackendError::Repository(error),
        other => BackendError::Failed(other.to_string()),
    }
}

fn of_loop(error: LoopError) -> BackendError {
    match error {
        LoopError::Crawler(error) => of_crawler(error),
        other => BackendError::Failed(other.to_string()),
    }
}

fn trace(reader: &Reader, take: &mut dyn FnMut(TraceRow) -> bool) -> Result<()> {
    let mut wanted = true;
    let told = own::rows(reader, |row| {
        let own::OwnRow { site, page, change_time_unix, bytes, kind, last_visit_unix } = row;
        wanted = take(TraceRow { site, page, change_time_unix, bytes, kind, last_visit_unix });
        // Nothing ends a reading but an error; nobody sees this one.
        if wanted { Ok(()) } else { Err(vernal_simulator::Error::Lab("no more rows are wanted".into())) }
    });
    match told {
        Err(error) if wanted => Err(BackendError::Failed(error.to_string())),
        _ => Ok(()),
    }
}
