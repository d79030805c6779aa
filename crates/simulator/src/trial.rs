//! A trial: the very crawler of the live runtime, driven in virtual time on the invented web. No socket, no thread and
//! no clock is involved, so that a chance number replays it exactly, [`Faults`] included; the repository's files are real.

use std::collections::BTreeMap;
use std::net::IpAddr;

use vernal_crawler::{Crawler, DiskFreeMin};
use vernal_model::{Chance, Failure, Moment, Order, OrderKind, Outcome, Report, Span};

use crate::web::Web;
use crate::wire;

/// A group of deeds waits at most this long. In virtual time a second costs nothing and a sync does, so this is longer
/// than in the live runtime.
const COMMIT_EVERY: Span = Span::from_secs(5);
/// An answer takes this long, and up to ten times as long.
const LATENCY_MIN: Span = Span::from_millis(10);
/// Whoever waits for a report that was lost gives up after this.
const LOST_AFTER: Span = Span::from_secs(60);
/// Orders are dealt to so many workers.
const WORKERS: u64 = 4;

/// What goes wrong besides what the web does. Nothing by default.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// The share of reports of pages that never arrive: the web was asked, and nobody hears what it said. A robots.txt
    /// that cannot be had closes its site by the rules, which is no fault.
    pub lost_reports: f64,
    /// Deaths of workers a day; what is under way with one is lost, and another takes its place.
    pub worker_deaths_per_day: f64,
    /// The share of sites that take longer to answer, and by what factor.
    pub slow_sites: f64,
    pub slow_factor: f64,
    /// Steps of the clock a day, and how far. It steps forward only: the runtime never lets it go back.
    pub clock_steps_per_day: f64,
    pub clock_step: Span,
}

/// What of the faults comes by itself, and when next.
#[derive(Copy, Clone, Debug)]
struct Fate {
    death: Moment,
    clock_step: Moment,
}

pub struct Trial<'w> {
    web: &'w Web,
    crawler: Crawler,
    now: Moment,
    chance: Chance,
    faults: Faults,
    fate: Fate,
    fates: Chance,
    /// Never moved on, so that a site's lot is the same whenever it is drawn.
    lots: Chance,
    /// Reports on their way, by the Moment they arrive and the number of their order; each with its place in `asked`.
    under_way: BTreeMap<(Moment, u64), (Report, usize)>,
    asked: Vec<AskedFor>,
    last_commit: Moment,
    commit_every: Span,
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
    pub fn new(web: &'w Web, mut crawler: Crawler, now: Moment, chance: u64) -> Self {
        // The same trial must end the same on any machine, however full its disk is.
        crawler.set_disk_free_min(DiskFreeMin::NOTHING);
        let chance = Chance::new(chance).stream("trial");
        Trial {
            web,
            crawler,
            now,
            faults: Faults::default(),
            fate: Fate { death: Moment::NEVER, clock_step: Moment::NEVER },
            fates: chance.stream("faults"),
            lots: chance.stream("lots"),
            chance,
            under_way: BTreeMap::new(),
            asked: Vec::new(),
            last_commit: now,
            commit_every: COMMIT_EVERY,
            address: None,
        }
    }

    /// Lets groups of deeds wait longer, for long trials in which a sync for every few visits would be all the work.
    #[must_use]
    pub fn committing_every(self, span: Span) -> Self {
        Trial { commit_every: span, ..self }
    }

    /// The same, with all sites behind one address.
    #[must_use]
    pub fn behind(self, address: IpAddr) -> Self {
        Trial { address: Some(address), ..self }
    }

    /// The same trial, in a worse world.
    pub fn with_faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self.fate.death = self.next_of(faults.worker_deaths_per_day);
        self.fate.clock_step = self.next_of(faults.clock_steps_per_day);
        self
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
        for order in self.crawler.tick(self.now)? {
            self.send(order);
        }
        // Bodies of a trial come as they were written.
        self.crawler.follow_scope(self.now)?;
        self.crawler.renew_topics(self.now)?;
        self.crawler.weigh_links(self.now)?;
        let arrival = self.under_way.first_key_value().map(|(&(at, _), _)| at);
        let commit = self.crawler.has_uncommitted().then(|| self.last_commit + self.commit_every);
        let next = [arrival, commit, self.crawler.next_wake(self.now)].into_iter().flatten().min();
        let Some(next) = next else { return Ok(false) };
        self.now = next.max(self.now).min(end);
        self.suffer();
        while let Some(entry) = self.under_way.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            let (report, _) = entry.remove();
            self.crawler.report(report, self.now)?;
        }
        if self.crawler.has_uncommitted() && self.now.since(self.last_commit) >= self.commit_every {
            self.crawler.commit(self.now)?;
            self.last_commit = self.now;
        }
        Ok(true)
    }

    /// Asks the web, and sets the report on its way.
    fn send(&mut self, order: Order) {
        let wait = LATENCY_MIN.scaled((1.0 + 9.0 * self.chance.share()) * self.slowness(order.url.site_text()));
        let finished = self.now + wait;
        let number = order.id.0;
        let (url, conditional) = (order.url.clone(), !order.validators.is_empty());
        let robots = order.kind == OrderKind::Robots;
        let lost = !robots && self.faults.lost_reports > 0.0 && self.fates.happens(self.faults.lost_reports);
        let mut report = wire::report(self.web, order, self.now, finished);
        if let Some(exchange) = &mut report.exchange {
            exchange.address = self.address.or(exchange.address);
        }
        self.asked.push(AskedFor {
            site: url.site_text().to_owned(),
            url: url.to_string(),
            started: self.now,
            finished,
            conditional,
            robots,
            status: report.outcome.status(),
        });
        let place = self.asked.len() - 1;
        if lost {
            let until = finished + LOST_AFTER;
            self.under_way.insert((until, number), (lost_report(report, until), place));
        } else {
            self.under_way.insert((finished, number), (report, place));
        }
    }

    /// By how much longer a site takes; its lot is drawn from its name, whenever it is asked.
    fn slowness(&self, site: &str) -> f64 {
        let slow = self.faults.slow_sites > 0.0 && self.lots.stream(site).happens(self.faults.slow_sites);
        if slow { self.faults.slow_factor.max(1.0) } else { 1.0 }
    }

    /// Deaths and clock steps whose time has come.
    fn suffer(&mut self) {
        while self.fate.death <= self.now {
            let worker = self.fates.below(WORKERS);
            let dead: Vec<(Moment, u64)> =
                self.under_way.keys().copied().filter(|&(_, number)| number % WORKERS == worker).collect();
            for key in dead {
                // The robots.txt is asked again by the worker that takes its place, and comes as it would have.
                let robots = self.under_way.get(&key).is_some_and(|(report, _)| report.order.kind == OrderKind::Robots);
                if !robots && let Some((report, place)) = self.under_way.remove(&key) {
                    // Its connection ends with it.
                    let asked = &mut self.asked[place];
                    asked.finished = asked.finished.min(self.now);
                    self.under_way.insert((self.now, key.1), (lost_report(report, self.now), place));
                }
            }
            self.fate.death = self.next_of(self.faults.worker_deaths_per_day);
        }
        if self.fate.clock_step <= self.now {
            self.now += self.faults.clock_step;
            self.fate.clock_step = self.next_of(self.faults.clock_steps_per_day);
        }
    }

    fn next_of(&mut self, per_day: f64) -> Moment {
        if per_day <= 0.0 {
            return Moment::NEVER;
        }
        self.now + Span::from_secs_f64(self.fates.wait(per_day) * 86_400.0) + Span::from_micros(1)
    }
}

/// What is known of a visit whose report never came.
fn lost_report(report: Report, noticed: Moment) -> Report {
    Report::unanswered(report.order, report.started, noticed, Outcome::Failed(Failure::Lost))
}
