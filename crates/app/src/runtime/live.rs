//! The live loop: one plain thread owns the crawler, and one channel leads into it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use vernal_api::Reasons;
use vernal_crawler::{Act, Acted, Believed, Check, Crawler, PromisesKept, Pulse, UnreachedSeed};
use vernal_fetch::Workers;
use vernal_model::{BudgetUnit, Order, OrderKind, Report, Url};

use super::clock::Clock;
use super::unreached_log::UnreachedLog;

/// A group of deeds waits at most this long for its sync.
const COMMIT_EVERY: Duration = Duration::from_millis(100);
/// The loop waits at most this long, so that the status it publishes is never old.
const WAIT_MAX: Duration = Duration::from_millis(100);
const SHOW_EVERY: Duration = Duration::from_millis(100);
/// Reports taken between two ticks, so that neither starves.
const INPUTS_PER_ROUND: usize = 256;
/// With more orders in flight than this, the loop waits a moment so that several answers are taken together.
const GATHER_ABOVE: u64 = 4;
const GATHER_FOR: Duration = Duration::from_millis(1);
/// How long a stop waits for answers that are on their way.
const STOP_PATIENCE: Duration = Duration::from_secs(3);

/// What comes into the loop.
pub enum Input {
    /// All reports of one round of a worker's loop.
    Reports(Vec<Report>),
    Act(Act, Reply<Acted>),
    Check(Url, Reply<Check>),
    Why(Url, Reply<Reasons>),
    /// Which promises are kept and which are overdue; nothing where none was made.
    Promises(Reply<Option<PromisesKept>>),
    /// How fresh the policy believes the copy to be.
    Believed(Reply<Believed>),
    Stop,
}

/// Where the answer to one question goes.
type Reply<T> = oneshot::Sender<vernal_crawler::Result<T>>;

/// Why the loop ended early, or did not answer.
#[derive(Debug, thiserror::Error)]
pub enum LoopError {
    #[error(transparent)]
    Crawler(#[from] vernal_crawler::Error),
    #[error("the crawl is stopping")]
    Stopping,
    #[error("the crawler's thread broke down")]
    ThreadLost,
}

/// When the loop ends by itself.
#[derive(Copy, Clone, Debug, Default)]
pub struct Until {
    pub idle: bool,
    /// Requests that may leave in the life of this process.
    pub visits: Option<u64>,
}

/// Why it ended.
#[derive(Debug)]
pub enum Ended {
    Stopped,
    Idle,
    VisitsSpent,
    Failed(LoopError),
}

/// How a crawl ended, and the seeds that it could not reach.
#[derive(Debug)]
pub struct Ending {
    pub ended: Ended,
    pub unreached: Vec<UnreachedSeed>,
}

impl From<Ended> for Ending {
    fn from(ended: Ended) -> Ending {
        Ending { ended, unreached: Vec::new() }
    }
}

/// The way to speak with the loop; cheap to clone.
#[derive(Clone)]
pub struct Handle {
    inputs: Sender<Input>,
    status: Arc<Mutex<LoopStatus>>,
    acknowledged: watch::Receiver<u64>,
}

/// What the loop last showed of itself.
#[derive(Clone, Debug, Default)]
pub struct LoopStatus {
    pub pulse: Pulse,
    /// Something could be visited now, and only the empty budget prevents it.
    pub waits_for_budget: bool,
}

impl Handle {
    /// Puts one question to the loop and waits for its answer.
    pub async fn ask<T>(&self, input: impl FnOnce(Reply<T>) -> Input) -> Result<T, LoopError> {
        let (reply, answer) = oneshot::channel();
        self.inputs.send(input(reply)).map_err(|_| LoopError::Stopping)?;
        Ok(answer.await.map_err(|_| LoopError::Stopping)??)
    }

    pub fn status(&self) -> LoopStatus {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn pulse(&self) -> Pulse {
        self.status().pulse
    }

    /// Moves whenever something new was acknowledged.
    pub fn acknowledged(&self) -> watch::Receiver<u64> {
        self.acknowledged.clone()
    }

    pub fn stop(&self) {
        // If nobody listens any more, it has stopped already.
        let _ = self.inputs.send(Input::Stop);
    }
}

/// Where workers send their reports.
#[derive(Clone)]
pub struct Inbox(Sender<Input>);

/// The channel is made before the workers, whose sink it is.
pub fn inbox() -> (Inbox, Receiver<Input>) {
    let (sender, receiver) = channel();
    (Inbox(sender), receiver)
}

impl Inbox {
    pub fn sink(&self) -> vernal_fetch::Sink {
        let inputs = self.0.clone();
        // A report that comes after the end loses nothing: its page was never marked as visited.
        Arc::new(move |reports| drop(inputs.send(Input::Reports(reports))))
    }
}

/// Starts the loop. The thread gives back why it ended; the crawler is closed by then.
pub fn start(
    crawler: Crawler,
    workers: Workers,
    clock: Arc<Clock>,
    until: Until,
    (inbox, inputs): (Inbox, Receiver<Input>),
    ended: oneshot::Sender<Ending>,
) -> std::io::Result<(Handle, JoinHandle<()>)> {
    let status = Arc::new(Mutex::new(LoopStatus { pulse: crawler.pulse(), waits_for_budget: false }));
    let (acknowledged, watched) = watch::channel(0);
    let handle = Handle { inputs: inbox.0, status: Arc::clone(&status), acknowledged: watched };
    let crawl_loop = CrawlLoop {
        crawler,
        workers,
        clock,
        until,
        inputs,
        status,
        acknowledged,
        unreached: UnreachedLog::default(),
        pass_refusal_logged: false,
        orders_sent: 0,
        reports_received: 0,
        last_commit: now(),
        last_shown: now(),
    };
    let thread = std::thread::Builder::new().name("crawler".into()).spawn(move || {
        // Whoever waits for the end may be gone; the end comes all the same.
        let _ = ended.send(crawl_loop.run());
    })?;
    Ok((handle, thread))
}

struct CrawlLoop {
    crawler: Crawler,
    workers: Workers,
    clock: Arc<Clock>,
    until: Until,
    inputs: Receiver<Input>,
    status: Arc<Mutex<LoopStatus>>,
    acknowledged: watch::Sender<u64>,
    unreached: UnreachedLog,
    pass_refusal_logged: bool,
    /// Orders given to the workers.
    orders_sent: u64,
    /// Reports that came back for them.
    reports_received: u64,
    last_commit: Instant,
    last_shown: Instant,
}

impl CrawlLoop {
    fn run(mut self) -> Ending {
        let ended = match self.run_until_end() {
            Ok(ended) => ended,
            Err(error) => {
                self.workers.stop();
                return Ended::Failed(error.into()).into();
            }
        };
        match self.shut_down(&ended) {
            Ok(unreached) => Ending { ended, unreached },
            Err(error) => Ended::Failed(error.into()).into(),
        }
    }

    fn run_until_end(&mut self) -> vernal_crawler::Result<Ended> {
        loop {
            if self.until.visits.is_some_and(|limit| self.orders_sent >= limit) {
                return Ok(Ended::VisitsSpent);
            }
            let now = self.clock.now();
            let orders = self.crawler.step(now)?;
            self.send(orders);
            self.commit_in_time()?;
            self.show_in_time();
            if self.until.idle && self.reports_received == self.orders_sent && self.crawler.is_idle(self.clock.now()) {
                return Ok(Ended::Idle);
            }
            if !self.take_inputs()? {
                return Ok(Ended::Stopped);
            }
        }
    }

    /// Orders beyond the limit are dropped: what was never asked leaves no trace and waits for the next start.
    fn send(&mut self, mut orders: Vec<Order>) {
        let left = self.until.visits.map_or(u64::MAX, |limit| limit.saturating_sub(self.orders_sent));
        orders.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        self.orders_sent += orders.len() as u64;
        for order in &orders {
            tracing::debug!(order = order.id.0, url = %order.url, kind = kind_name(&order.kind), "order sent");
        }
        self.workers.send(orders);
    }

    fn commit_in_time(&mut self) -> vernal_crawler::Result<()> {
        if self.crawler.has_uncommitted() && self.last_commit.elapsed() >= COMMIT_EVERY {
            self.crawler.commit(self.clock.now())?;
            self.last_commit = now();
            tracing::debug!("visits acknowledged");
        }
        Ok(())
    }

    /// Waits for something to happen and takes what has happened. False when we are told to stop.
    fn take_inputs(&mut self) -> vernal_crawler::Result<bool> {
        if self.orders_sent - self.reports_received > GATHER_ABOVE {
            // Answers are about to come. Waking once for many of them costs a tenth of waking for each.
            std::thread::park_timeout(GATHER_FOR);
        }
        let mut next = match self.inputs.recv_timeout(self.wait_max()) {
            Ok(input) => Some(input),
            Err(RecvTimeoutError::Timeout) => return Ok(true),
            Err(RecvTimeoutError::Disconnected) => return Ok(false),
        };
        for _ in 0..INPUTS_PER_ROUND {
            let Some(input) = next.take() else { break };
            if !self.take(input)? {
                return Ok(false);
            }
            next = self.inputs.try_recv().ok();
        }
        if let Some(input) = next {
            return self.take(input);
        }
        Ok(true)
    }

    fn wait_max(&self) -> Duration {
        let now = self.clock.now();
        let wake = self.crawler.next_wake(now).map_or(WAIT_MAX, |moment| self.clock.real_until(moment));
        let commit = if self.crawler.has_uncommitted() {
            COMMIT_EVERY.saturating_sub(self.last_commit.elapsed())
        } else {
            WAIT_MAX
        };
        wake.min(commit).min(WAIT_MAX)
    }

    fn take(&mut self, input: Input) -> vernal_crawler::Result<bool> {
        let now = self.clock.now();
        // A failed reply means that whoever asked has gone away; the act was done all the same.
        match input {
            Input::Reports(reports) => {
                for report in reports {
                    self.reports_received += 1;
                    let (order, outcome) = (&report.order, &report.outcome);
                    tracing::debug!(
                        order = order.id.0,
                        url = %order.url,
                        outcome = outcome.name(),
                        detail = Some(outcome.detail()).filter(|detail| !detail.is_empty()).as_deref(),
                        "report received"
                    );
                    self.unreached.note(&self.crawler, &report);
                    self.crawler.report(report, now)?;
                }
            }
            Input::Act(act, reply) => drop(reply.send(self.crawler.act(act, now))),
            Input::Check(url, reply) => drop(reply.send(self.crawler.check(&url, now))),
            Input::Why(url, reply) => drop(reply.send(self.crawler.why(&url, now))),
            Input::Promises(reply) => {
                let kept = self.crawler.has_promises().then(|| self.crawler.promises_kept(now));
                drop(reply.send(kept.transpose()));
            }
            Input::Believed(reply) => drop(reply.send(Ok(self.crawler.believed(now)))),
            Input::Stop => return Ok(false),
        }
        Ok(true)
    }

    /// Publishes the status now and then: the pulse is counted over all sites, which is too much for every round.
    fn show_in_time(&mut self) {
        if self.last_shown.elapsed() >= SHOW_EVERY {
            self.show();
        }
    }

    fn show(&mut self) {
        self.last_shown = now();
        let pulse = self.crawler.pulse();
        if let Some(urls) = pulse.pass_refused_urls.filter(|_| !self.pass_refusal_logged) {
            self.pass_refusal_logged = true;
            let most = self.crawler.settings().pass_urls_max;
            tracing::warn!(
                "link scores are not renewed: {urls} known URLs are more than the {most} that one pass takes"
            );
        }
        self.acknowledged.send_if_modified(|commits| std::mem::replace(commits, pulse.commits) != pulse.commits);
        let waits_for_budget = self.waits_for_budget(&pulse);
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = LoopStatus { pulse, waits_for_budget };
    }

    fn waits_for_budget(&self, pulse: &Pulse) -> bool {
        let settings = self.crawler.settings();
        // A share of the held pages is a budget for refreshing alone: first visits do not wait for it.
        let first_visits_are_free = settings.budget.unit == BudgetUnit::PercentOfHeld;
        pulse.budget_in_hand < 1.0
            && !pulse.paused
            && pulse.in_flight == 0
            && !(first_visits_are_free && pulse.window > 0)
            && !self.crawler.is_idle(self.clock.now())
    }

    /// Sends no more orders, waits for reports that are on their way, then commits and closes everything. Gives the seeds that
    /// could not be reached.
    fn shut_down(mut self, ended: &Ended) -> vernal_crawler::Result<Vec<UnreachedSeed>> {
        // A stop that was asked for must come soon; a crawl that has spent its visits waits for all their answers.
        let patience = if matches!(ended, Ended::Stopped) { STOP_PATIENCE } else { self.workers.patience() };
        let deadline = now() + patience;
        while self.reports_received < self.orders_sent {
            let left = deadline.saturating_duration_since(now());
            match self.inputs.recv_timeout(left) {
                Ok(Input::Stop) | Err(_) => break,
                Ok(input) => self.take(input)?,
            };
        }
        self.show();
        let unreached = self.crawler.unreached_seeds(self.clock.now())?;
        tracing::debug!("closing the repository");
        self.workers.stop();
        self.crawler.close(self.clock.now())?;
        Ok(unreached)
    }
}

fn kind_name(kind: &OrderKind) -> &'static str {
    match kind {
        OrderKind::Page => "page",
        OrderKind::Robots => "robots.txt",
        OrderKind::Subscription(_) => "subscription",
    }
}

/// Real time, for what must not wait too long.
pub fn now() -> Instant {
    Instant::now()
}
