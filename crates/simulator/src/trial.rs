//! A trial: the crawler of the live runtime, driven in virtual time. No socket, no thread and no clock is involved,
//! so that a chance number replays it exactly, [`Faults`] included; the repository's files are real.
//!
//! - `faults`: what goes wrong besides what the web does.
//! - [`whole_crawl`]: the whole crawler on a world of the laboratory, measured as policies alone are.

mod faults;
pub mod whole_crawl;

use std::collections::BTreeMap;
use std::net::IpAddr;

use vernal_crawler::{Act, Crawler, DiskFreeMin};
use vernal_model::{Chance, HintSource, Moment, Order, OrderKind, Report, Span};

pub use self::faults::Faults;
use self::faults::{FaultSchedule, lost_report};
use crate::wire::Wire;

/// A group of deeds waits at most this long. In virtual time a second costs nothing and a sync does, so this is longer
/// than in the live runtime.
const COMMIT_EVERY: Span = Span::from_secs(5);
/// An answer takes this long, and up to ten times as long.
const LATENCY_MIN: Span = Span::from_millis(10);
/// Announcements are pushed to the crawler this often, and this many pages at a time: each push is a commit of its own.
const PUSH_EVERY: Span = Span::from_hours(1);
const PUSHED_URLS_MAX: usize = 1_000;
/// A lost report is given up after this.
const LOST_AFTER: Span = Span::from_secs(60);

pub struct Trial<'w> {
    wire: &'w dyn Wire,
    crawler: Crawler,
    now: Moment,
    chance: Chance,
    faults_due: FaultSchedule,
    /// Reports on their way, by the Moment they arrive and the number of their order; each with its place in `asked`.
    in_flight: BTreeMap<(Moment, u64), (Box<Report>, usize)>,
    asked: Vec<WebRequest>,
    last_commit: Moment,
    commit_every: Span,
    /// How long a crawler that has nothing to send is left alone; zero where it is ticked whenever it asks for it.
    idle_wait: Span,
    /// Ticks in a row at which the crawler had nothing to send.
    idle_ticks: u32,
    /// Announcements up to here were pushed.
    pushed_until: Moment,
    /// The address that all sites share, if they share one.
    address: Option<IpAddr>,
}

/// One request as the web saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebRequest {
    pub url: String,
    pub site: String,
    pub started: Moment,
    pub finished: Moment,
    pub conditional: bool,
    pub robots: bool,
    pub status: Option<u16>,
    /// The report of its answer was lost.
    pub lost: bool,
}

/// Why a trial stopped running for now.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    Idle,
    /// The crawler says that it is not idle and that nothing will ever happen: a fault.
    Stuck,
    /// The given number of steps were made.
    Steps,
    /// The given Moment has come.
    Moment,
}

impl<'w> Trial<'w> {
    pub fn new(wire: &'w dyn Wire, mut crawler: Crawler, now: Moment, chance: u64) -> Self {
        // The same trial must end the same on any machine, however full its disk is.
        crawler.set_disk_free_min(DiskFreeMin::NOTHING);
        let chance = Chance::new(chance).stream("trial");
        Trial {
            wire,
            crawler,
            now,
            faults_due: FaultSchedule::new(Faults::default(), now, &chance),
            chance,
            in_flight: BTreeMap::new(),
            asked: Vec::new(),
            last_commit: now,
            commit_every: COMMIT_EVERY,
            idle_wait: Span::ZERO,
            idle_ticks: 0,
            pushed_until: now,
            address: None,
        }
    }

    /// Lets groups of deeds wait longer, for long trials in which a sync for every few visits would be all the work.
    #[must_use]
    pub fn committing_every(self, span: Span) -> Self {
        Trial { commit_every: span, ..self }
    }

    /// Leaves a crawler that has nothing to send alone for this long, and delivers all answers of one tick together: what
    /// the budget gives meanwhile is spent at once. For long trials, in which a tick for every visit would be most of the
    /// work.
    #[must_use]
    pub fn waiting_when_idle(self, span: Span) -> Self {
        Trial { idle_wait: span, ..self }
    }

    /// Puts all sites behind one address.
    #[must_use]
    pub fn behind(self, address: IpAddr) -> Self {
        Trial { address: Some(address), ..self }
    }

    /// Adds faults to the trial.
    #[must_use]
    pub fn with_faults(self, faults: Faults) -> Self {
        Trial { faults_due: FaultSchedule::new(faults, self.now, &self.chance), ..self }
    }

    pub fn now(&self) -> Moment {
        self.now
    }

    pub fn crawler(&mut self) -> &mut Crawler {
        &mut self.crawler
    }

    /// Every request that was answered, in the order in which they began.
    pub fn asked(&self) -> &[WebRequest] {
        &self.asked
    }

    /// Ends the trial as a clean stop does.
    pub fn close(self) -> vernal_crawler::Result<()> {
        self.crawler.close(self.now)
    }

    /// Goes on until nothing is left to do, or so many steps were made.
    pub fn run_until_idle(&mut self, steps_max: usize) -> vernal_crawler::Result<StopReason> {
        for _ in 0..steps_max {
            if self.in_flight.is_empty() && self.crawler.is_idle(self.now) {
                self.crawler.commit(self.now)?;
                return Ok(StopReason::Idle);
            }
            if !self.step(Moment::NEVER)? && !self.crawler.is_idle(self.now) {
                return Ok(StopReason::Stuck);
            }
        }
        Ok(StopReason::Steps)
    }

    /// Goes on until the Moment has come.
    pub fn run_until(&mut self, end: Moment) -> vernal_crawler::Result<StopReason> {
        while self.now < end {
            if !self.step(end)? {
                self.now = end;
            }
        }
        Ok(StopReason::Moment)
    }

    /// One tick and the wait after it. False when nothing will happen any more.
    fn step(&mut self, end: Moment) -> vernal_crawler::Result<bool> {
        self.wire.pages_online(self.now).into_iter().for_each(|pages| self.crawler.set_pages_online(pages));
        let orders = self.crawler.step(self.now)?;
        self.idle_ticks = if orders.is_empty() { self.idle_ticks + 1 } else { 0 };
        for order in orders {
            self.send(order);
        }
        let Some(next) = self.next_step_at() else { return Ok(false) };
        self.now = next.max(self.now).min(end);
        self.apply_faults();
        while let Some(entry) = self.in_flight.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            let (report, _) = entry.remove();
            self.crawler.report(*report, self.now)?;
        }
        self.push_announced()?;
        if self.crawler.has_uncommitted() && self.now.since(self.last_commit) >= self.commit_every {
            self.crawler.commit(self.now)?;
            self.last_commit = self.now;
        }
        Ok(true)
    }

    /// Tells what was announced, through the door that pushes come by.
    fn push_announced(&mut self) -> vernal_crawler::Result<()> {
        if self.now.since(self.pushed_until) < PUSH_EVERY {
            return Ok(());
        }
        let announced = self.wire.announced(self.pushed_until, self.now);
        self.pushed_until = self.now;
        for urls in announced.chunks(PUSHED_URLS_MAX) {
            self.crawler.act(Act::Hint { source: HintSource::IndexNow, urls: urls.to_vec() }, self.now)?;
            self.last_commit = self.now;
        }
        Ok(())
    }

    /// When the next step is due.
    fn next_step_at(&self) -> Option<Moment> {
        let idle_until = self.now + self.idle_wait;
        if let Some((&(last, _), _)) = self.in_flight.last_key_value().filter(|_| self.idle_wait > Span::ZERO) {
            return Some(last.min(idle_until));
        }
        let arrival = self.in_flight.first_key_value().map(|(&(at, _), _)| at);
        let commit = self.crawler.has_uncommitted().then(|| self.last_commit + self.commit_every);
        // The first tick without orders may be one at which all sites were visited a moment ago.
        let soon = if self.idle_ticks > 1 { idle_until } else { self.now };
        let wake = self.crawler.next_wake_or_soon(self.now, soon);
        let told = self.wire.next_announced(self.pushed_until).map(|next| next.max(self.pushed_until + PUSH_EVERY));
        Some([arrival, commit, wake, told].into_iter().flatten().min()?.max(soon))
    }

    /// Lets the wire answer an order; the report arrives after the latency.
    fn send(&mut self, order: Order) {
        let slowness = self.faults_due.slowness(order.url.site_text());
        let wait = LATENCY_MIN.scaled((1.0 + 9.0 * self.chance.share()) * slowness);
        let finished = self.now + wait;
        let number = order.id.0;
        let (site, url) = (order.url.site_text().to_owned(), order.url.as_str().to_owned());
        let conditional = !order.validators.is_empty();
        let robots = order.kind == OrderKind::Robots;
        let lost = !robots && self.faults_due.loses_a_report();
        let mut report = self.wire.report(order, self.now, finished);
        if let Some(exchange) = &mut report.exchange {
            exchange.address = self.address.or(exchange.address);
        }
        self.asked.push(WebRequest {
            url,
            site,
            started: self.now,
            finished,
            conditional,
            robots,
            status: report.outcome.status(),
            lost,
        });
        let place = self.asked.len() - 1;
        if lost {
            let until = finished + LOST_AFTER;
            self.in_flight.insert((until, number), (Box::new(lost_report(report, until)), place));
        } else {
            self.in_flight.insert((finished, number), (Box::new(report), place));
        }
    }

    /// Applies the deaths of workers and the clock steps that are due.
    fn apply_faults(&mut self) {
        while let Some(worker) = self.faults_due.worker_that_dies(self.now) {
            let dead: Vec<(Moment, u64)> =
                self.in_flight.keys().copied().filter(|&(_, number)| worker.has(number)).collect();
            for key in dead {
                // The worker that takes its place asks for the robots.txt again, whose answer comes as it would have.
                let robots = self.in_flight.get(&key).is_some_and(|(report, _)| report.order.kind == OrderKind::Robots);
                if !robots && let Some((report, place)) = self.in_flight.remove(&key) {
                    // Its connection ends with it.
                    let asked = &mut self.asked[place];
                    asked.finished = asked.finished.min(self.now);
                    asked.lost = true;
                    self.in_flight.insert((self.now, key.1), (Box::new(lost_report(*report, self.now)), place));
                }
            }
        }
        self.now += self.faults_due.clock_step(self.now);
    }
}
