//! The live loop: one plain thread owns the crawler, and one channel leads into it.

use std::collections::HashSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use vernal_crawler::{Act, Acted, Check, Crawler, PromisesKept, Pulse};
use vernal_fetch::Workers;
use vernal_model::{BudgetUnit, Order, OrderKind, Outcome, Report, Site, Url};

use super::clock::Clock;
use crate::log::Log;

/// A group of deeds waits at most this long for its sync.
const COMMIT_EVERY: Duration = Duration::from_millis(100);
/// The loop looks around at least this often, so that the pulse it shows is never old.
const LOOK_AROUND_EVERY: Duration = Duration::from_millis(100);
const SHOW_EVERY: Duration = Duration::from_millis(100);
/// Reports taken between two ticks, so that neither starves.
const INPUTS_PER_ROUND: usize = 256;
/// With more orders out than this, the loop lets answers gather for a moment before it takes them.
const GATHER_ABOVE: u64 = 4;
const GATHER_FOR: Duration = Duration::from_millis(1);
/// Sites whose robots.txt trouble is told, each once; what more there are, `sites` tells.
const ROBOTS_TOLD_MAX: usize = 100;
/// How long a stop waits for answers that are on their way.
const STOP_PATIENCE: Duration = Duration::from_secs(3);

/// What comes into the loop.
pub enum Input {
    /// Those of one turn of a worker's loop.
    Reports(Vec<Report>),
    Act(Act, oneshot::Sender<Result<Acted, String>>),
    Check(Url, oneshot::Sender<Result<Check, String>>),
    Why(Url, oneshot::Sender<Result<Reasons, String>>),
    /// How promises stand; nothing if nobody promised anything.
    Promises(oneshot::Sender<Result<Option<PromisesKept>, String>>),
    Stop,
}

/// Why a page is due when it is; `None` for a page that is not held.
pub type Reasons = Option<Vec<(String, String)>>;

/// When the loop ends by itself.
#[derive(Copy, Clone, Debug, Default)]
pub struct Until {
    pub idle: bool,
    /// Requests that may leave in the life of this process.
    pub visits: Option<u64>,
}

/// Why it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Stopped,
    Idle,
    VisitsSpent,
    Failed(String),
}

/// The way to speak with the loop; cheap to clone.
#[derive(Clone)]
pub struct Handle {
    inputs: Sender<Input>,
    seen: Arc<Mutex<Seen>>,
    acknowledged: watch::Receiver<u64>,
}

/// What the loop last showed of itself.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub pulse: Pulse,
    /// Something could be asked now and only the empty purse holds it back.
    pub waits_for_budget: bool,
}

impl Handle {
    /// `None` when the loop has ended.
    pub async fn ask<T>(&self, input: impl FnOnce(oneshot::Sender<Result<T, String>>) -> Input) -> Result<T, String> {
        let (reply, answer) = oneshot::channel();
        let gone = || "the crawl is stopping".to_owned();
        self.inputs.send(input(reply)).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    pub fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn pulse(&self) -> Pulse {
        self.seen().pulse
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

/// The door through which workers give back their reports.
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
        // A report that comes after the end is not lost: its page was never marked as visited.
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
    log: Log,
    ended: oneshot::Sender<Ended>,
) -> std::io::Result<(Handle, JoinHandle<()>)> {
    let seen = Arc::new(Mutex::new(Seen { pulse: crawler.pulse(), waits_for_budget: false }));
    let (acknowledged, watched) = watch::channel(0);
    let handle = Handle { inputs: inbox.0, seen: Arc::clone(&seen), acknowledged: watched };
    let turning = Loop {
        crawler,
        workers,
        clock,
        until,
        inputs,
        seen,
        acknowledged,
        log,
        robots_told: HashSet::new(),
        refusal_told: false,
        given: 0,
        answered: 0,
        last_commit: now(),
        last_shown: now(),
    };
    let thread = std::thread::Builder::new().name("crawler".into()).spawn(move || {
        // Whoever waits for the end may be gone; the end comes all the same.
        let _ = ended.send(turning.run());
    })?;
    Ok((handle, thread))
}

struct Loop {
    crawler: Crawler,
    workers: Workers,
    clock: Arc<Clock>,
    until: Until,
    inputs: Receiver<Input>,
    seen: Arc<Mutex<Seen>>,
    acknowledged: watch::Sender<u64>,
    log: Log,
    robots_told: HashSet<Site>,
    refusal_told: bool,
    /// Orders given to the workers.
    given: u64,
    /// Reports that came back for them.
    answered: u64,
    last_commit: Instant,
    last_shown: Instant,
}

impl Loop {
    fn run(mut self) -> Ended {
        let ended = match self.turn() {
            Ok(ended) => ended,
            Err(error) => return self.fail(error.to_string()),
        };
        match self.wind_down(&ended) {
            Ok(()) => ended,
            Err(error) => Ended::Failed(error.to_string()),
        }
    }

    fn turn(&mut self) -> vernal_crawler::Result<Ended> {
        loop {
            if self.until.visits.is_some_and(|limit| self.given >= limit) {
                return Ok(Ended::VisitsSpent);
            }
            let now = self.clock.now();
            let orders = self.crawler.step(now)?;
            self.give(orders);
            self.commit_in_time()?;
            self.show_in_time();
            if self.until.idle && self.answered == self.given && self.crawler.is_idle(self.clock.now()) {
                return Ok(Ended::Idle);
            }
            if !self.take_inputs()? {
                return Ok(Ended::Stopped);
            }
        }
    }

    /// Orders beyond the limit are dropped: what was never asked leaves no trace and waits for the next start.
    fn give(&mut self, mut orders: Vec<Order>) {
        let left = self.until.visits.map_or(u64::MAX, |limit| limit.saturating_sub(self.given));
        orders.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        self.given += orders.len() as u64;
        self.workers.send(orders);
    }

    fn commit_in_time(&mut self) -> vernal_crawler::Result<()> {
        if self.crawler.has_uncommitted() && self.last_commit.elapsed() >= COMMIT_EVERY {
            self.crawler.commit(self.clock.now())?;
            self.last_commit = now();
        }
        Ok(())
    }

    /// Waits for something to happen and takes what has happened. False when we are told to stop.
    fn take_inputs(&mut self) -> vernal_crawler::Result<bool> {
        if self.given - self.answered > GATHER_ABOVE {
            // Answers are about to come: one waking for many of them costs a tenth of one for each.
            std::thread::park_timeout(GATHER_FOR);
        }
        let mut next = match self.inputs.recv_timeout(self.patience()) {
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

    fn patience(&self) -> Duration {
        let now = self.clock.now();
        let wake = self.crawler.next_wake(now).map_or(LOOK_AROUND_EVERY, |moment| self.clock.real_until(moment));
        let commit = if self.crawler.has_uncommitted() {
            COMMIT_EVERY.saturating_sub(self.last_commit.elapsed())
        } else {
            LOOK_AROUND_EVERY
        };
        wake.min(commit).min(LOOK_AROUND_EVERY)
    }

    fn take(&mut self, input: Input) -> vernal_crawler::Result<bool> {
        let now = self.clock.now();
        // A failed reply means that whoever asked has gone away; the act was done all the same.
        match input {
            Input::Reports(reports) => {
                for report in reports {
                    self.answered += 1;
                    self.tell_of_robots(&report);
                    self.crawler.report(report, now)?;
                }
            }
            Input::Act(act, reply) => drop(reply.send(self.crawler.act(act, now).map_err(|error| error.to_string()))),
            Input::Check(url, reply) => {
                drop(reply.send(self.crawler.check(&url, now).map_err(|error| error.to_string())));
            }
            Input::Why(url, reply) => drop(reply.send(self.crawler.why(&url, now).map_err(|error| error.to_string()))),
            Input::Promises(reply) => {
                let kept = self.crawler.has_promises().then(|| self.crawler.promises_kept(now));
                drop(reply.send(Ok(kept)));
            }
            Input::Stop => return Ok(false),
        }
        Ok(true)
    }

    /// A site whose robots.txt cannot be had is not crawled, and nobody would see why.
    fn tell_of_robots(&mut self, report: &Report) {
        if report.order.kind != OrderKind::Robots || self.robots_told.len() >= ROBOTS_TOLD_MAX {
            return;
        }
        if let Outcome::Failed(_) | Outcome::Refused(_) = report.outcome
            && self.robots_told.insert(report.order.url.site())
        {
            let (url, why) = (&report.order.url, report.outcome.detail());
            self.log.warn(format!("{url} could not be had ({why}): its pages wait unless an earlier copy is in force"));
        }
    }

    /// Shows the pulse now and then: it is counted over all sites, so not at every turn.
    fn show_in_time(&mut self) {
        if self.last_shown.elapsed() >= SHOW_EVERY {
            self.show();
        }
    }

    fn show(&mut self) {
        self.last_shown = now();
        let pulse = self.crawler.pulse();
        if let Some(urls) = pulse.pass_refused_urls.filter(|_| !self.refusal_told) {
            self.refusal_told = true;
            let most = self.crawler.settings().pass_urls_max;
            self.log.warn(format!("importance stays as it is: {urls} known URLs are more than the {most} of one pass"));
        }
        self.acknowledged.send_if_modified(|seen| std::mem::replace(seen, pulse.commits) != pulse.commits);
        let waits_for_budget = self.waits_for_budget(&pulse);
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Seen { pulse, waits_for_budget };
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

    /// No more orders; what is on its way may still arrive, then everything is committed and closed.
    fn wind_down(mut self, ended: &Ended) -> vernal_crawler::Result<()> {
        // Somebody who says stop wants an end; a crawl that has spent its visits wants their answers.
        let patience = if *ended == Ended::Stopped { STOP_PATIENCE } else { self.workers.patience() };
        let deadline = now() + patience;
        while self.answered < self.given {
            let left = deadline.saturating_duration_since(now());
            match self.inputs.recv_timeout(left) {
                Ok(Input::Stop) | Err(_) => break,
                Ok(input) => self.take(input)?,
            };
        }
        self.show();
        self.log.debug("closing the repository");
        self.workers.stop();
        self.crawler.close(self.clock.now())
    }

    fn fail(self, error: String) -> Ended {
        self.workers.stop();
        Ended::Failed(error)
    }
}

fn now() -> Instant {
    Instant::now()
}
