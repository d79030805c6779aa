//! A trial: the very crawler of the live runtime, driven in virtual time. No socket, no thread and no clock is involved,
//! so that a chance number replays it exactly, [`Faults`] included; the repository's files are real.
//!
//! - `faults`: what goes wrong besides what the web does.
//! - [`whole`]: the whole crawler on a world of the laboratory, measured as policies alone are.

mod faults;
pub mod whole;

use std::collections::BTreeMap;
use std::net::IpAddr;

use vernal_crawler::{Act, Crawler, DiskFreeMin};
use vernal_model::{Chance, HintSource, Moment, Order, OrderKind, Report, Span};

pub use self::faults::Faults;
use self::faults::{Fate, lost_report};
use crate::wire::Wire;

/// A group of deeds waits at most this long. In virtual time a second costs nothing and a sync does, so this is longer
/// than in the live runtime.
const COMMIT_EVERY: Span = Span::from_secs(5);
/// An answer takes this long, and up to ten times as long.
const LATENCY_MIN: Span = Span::from_millis(10);
/// What was announced is told this often, and this many pages at a time: each telling is a commit of its own.
const TOLD_EVERY: Span = Span::from_hours(1);
const TOLD_MAX: usize = 1_000;
/// Whoever waits for a report that was lost gives up after this.
const LOST_AFTER: Span = Span::from_secs(60);

pub struct Trial<'w> {
    wire: &'w dyn Wire,
    crawler: Crawler,
    now: Moment,
    chance: Chance,
    fate: Fate,
    /// Reports on their way, by the Moment they arrive and the number of their order; each with its place in `asked`.
    under_way: BTreeMap<(Moment, u64), (Box<Report>, usize)>,
    asked: Vec<AskedFor>,
    last_commit: Moment,
    commit_every: Span,
    /// So long the crawler is left alone when it has nothing to send; nothing where every wake is heeded.
    rest: Span,
    /// Looks in a row at which it had nothing to send.
    looks_in_vain: u32,
    /// What was announced up to here was told.
    told_until: Moment,
    /// The address that all sites are behind, where it is one.
    address: Option<IpAddr>,
}

/// One request as the web saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedFor {
    pub url: String,
    pub site: String,
    pub started: Moment,
    pub finished: Moment,
    pub conditional: bool,
    pub robots: bool,
    pub status: Option<u16>,
    /// Nobody heard the answer.
    pub lost: bool,
}

/// Why a stretch of a trial ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Paused {
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
            fate: Fate::new(Faults::default(), now, &chance),
            chance,
            under_way: BTreeMap::new(),
            asked: Vec::new(),
            last_commit: now,
            commit_every: COMMIT_EVERY,
            rest: Span::ZERO,
            looks_in_vain: 0,
            told_until: now,
            address: None,
        }
    }

    /// Lets groups of deeds wait longer, for long trials in which a sync for every few visits would be all the work.
    #[must_use]
    pub fn committing_every(self, span: Span) -> Self {
        Trial { commit_every: span, ..self }
    }

    /// Leaves the crawler alone for so long when it has nothing to send, and meets all answers of one look together: what
    /// the budget gives meanwhile is spent at once. For long trials, in which a look for every visit would be most of the work.
    #[must_use]
    pub fn resting(self, span: Span) -> Self {
        Trial { rest: span, ..self }
    }

    /// The same, with all sites behind one address.
    #[must_use]
    pub fn behind(self, address: IpAddr) -> Self {
        Trial { address: Some(address), ..self }
    }

    /// The same trial, in a worse world.
    #[must_use]
    pub fn with_faults(self, faults: Faults) -> Self {
        Trial { fate: Fate::new(faults, self.now, &self.chance), ..self }
    }

    pub fn now(&self) -> Moment {
        self.now
    }

    pub fn crawler(&mut self) -> &mut Crawler {
        &mut self.crawler
    }

    /// Every request that was answered, in the order in which they began.
    pub fn asked(&self) -> &[AskedFor] {
        &self.asked
    }

    /// Ends the trial as a clean stop does.
    pub fn close(self) -> vernal_crawler::Result<()> {
        self.crawler.close(self.now)
    }

    /// Goes on until nothing is left to do, or so many steps were made.
    pub fn run_until_idle(&mut self, steps_max: usize) -> vernal_crawler::Result<Paused> {
        for _ in 0..steps_max {
            if self.under_way.is_empty() && self.crawler.is_idle(self.now) {
                self.crawler.commit(self.now)?;
                return Ok(Paused::Idle);
            }
            if !self.step(Moment::NEVER)? && !self.crawler.is_idle(self.now) {
                return Ok(Paused::Stuck);
            }
        }
        Ok(Paused::Steps)
    }

    /// Goes on until the Moment has come.
    pub fn run_until(&mut self, end: Moment) -> vernal_crawler::Result<Paused> {
        while self.now < end {
            if !self.step(end)? {
                self.now = end;
            }
        }
        Ok(Paused::Moment)
    }

    /// One tick and the wait behind it. False when nothing will happen any more.
    fn step(&mut self, end: Moment) -> vernal_crawler::Result<bool> {
        self.wire.pages_online(self.now).into_iter().for_each(|pages| self.crawler.set_pages_online(pages));
        let orders = self.crawler.step(self.now)?;
        self.looks_in_vain = if orders.is_empty() { self.looks_in_vain + 1 } else { 0 };
        for order in orders {
            self.send(order);
        }
        let Some(next) = self.next_look() else { return Ok(false) };
        self.now = next.max(self.now).min(end);
        self.suffer();
        while let Some(entry) = self.under_way.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            let (report, _) = entry.remove();
            self.crawler.report(*report, self.now)?;
        }
        self.tell()?;
        if self.crawler.has_uncommitted() && self.now.since(self.last_commit) >= self.commit_every {
            self.crawler.commit(self.now)?;
            self.last_commit = self.now;
        }
        Ok(true)
    }

    /// Tells what was announced, through the door that pushes come by.
    fn tell(&mut self) -> vernal_crawler::Result<()> {
        if self.now.since(self.told_until) < TOLD_EVERY {
            return Ok(());
        }
        let announced = self.wire.announced(self.told_until, self.now);
        self.told_until = self.now;
        for urls in announced.chunks(TOLD_MAX) {
            self.crawler.act(Act::Hint { source: HintSource::IndexNow, urls: urls.to_vec() }, self.now)?;
            self.last_commit = self.now;
        }
        Ok(())
    }

    /// When there is something to do again.
    fn next_look(&self) -> Option<Moment> {
        let rested = self.now + self.rest;
        if let Some((&(last, _), _)) = self.under_way.last_key_value().filter(|_| self.rest > Span::ZERO) {
            return Some(last.min(rested));
        }
        let arrival = self.under_way.first_key_value().map(|(&(at, _), _)| at);
        let commit = self.crawler.has_uncommitted().then(|| self.last_commit + self.commit_every);
        // The first look in vain may be one at sites that were asked a moment ago.
        let soon = if self.looks_in_vain > 1 { rested } else { self.now };
        let wake = self.crawler.next_wake_or_soon(self.now, soon);
        let told = self.wire.next_announced(self.told_until).map(|next| next.max(self.told_until + TOLD_EVERY));
        Some([arrival, commit, wake, told].into_iter().flatten().min()?.max(soon))
    }

    /// Asks the web, and sets the report on its way.
    fn send(&mut self, order: Order) {
        let slowness = self.fate.slowness(order.url.site_text());
        let wait = LATENCY_MIN.scaled((1.0 + 9.0 * self.chance.share()) * slowness);
        let finished = self.now + wait;
        let number = order.id.0;
        let (site, url) = (order.url.site_text().to_owned(), order.url.as_str().to_owned());
        let conditional = !order.validators.is_empty();
        let robots = order.kind == OrderKind::Robots;
        let lost = !robots && self.fate.loses_a_report();
        let mut report = self.wire.report(order, self.now, finished);
        if let Some(exchange) = &mut report.exchange {
            exchange.address = self.address.or(exchange.address);
        }
        self.asked.push(AskedFor {
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
            self.under_way.insert((until, number), (Box::new(lost_report(report, until)), place));
        } else {
            self.under_way.insert((finished, number), (Box::new(report), place));
        }
    }

    /// Deaths and clock steps whose time has come.
    fn suffer(&mut self) {
        while let Some(worker) = self.fate.worker_that_dies(self.now) {
            let dead: Vec<(Moment, u64)> =
                self.under_way.keys().copied().filter(|&(_, number)| worker.has(number)).collect();
            for key in dead {
                // The robots.txt is asked again by the worker that takes its place, and comes as it would have.
                let robots = self.under_way.get(&key).is_some_and(|(report, _)| report.order.kind == OrderKind::Robots);
                if !robots && let Some((report, place)) = self.under_way.remove(&key) {
                    // Its connection ends with it.
                    let asked = &mut self.asked[place];
                    asked.finished = asked.finished.min(self.now);
                    asked.lost = true;
                    self.under_way.insert((self.now, key.1), (Box::new(lost_report(*report, self.now)), place));
                }
            }
        }
        self.now += self.fate.clock_step(self.now);
    }
}
