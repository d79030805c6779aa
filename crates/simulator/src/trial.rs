//! A trial: the very crawler of the live runtime, driven in virtual time on the invented web. No socket, no thread and
//! no clock is involved, so that a chance number replays it exactly; the repository's files are real.

use std::collections::BTreeMap;
use std::net::IpAddr;

use vernal_crawler::Crawler;
use vernal_model::{Chance, Moment, OrderKind, Report, Span};

use crate::web::Web;
use crate::wire;

/// A group of deeds waits at most this long. In virtual time a second costs nothing and a sync does, so this is longer
/// than in the live runtime.
const COMMIT_EVERY: Span = Span::from_secs(5);
/// An answer takes this long, and up to ten times as long.
const LATENCY_MIN: Span = Span::from_millis(10);

pub struct Trial<'w> {
    web: &'w Web,
    crawler: Crawler,
    now: Moment,
    chance: Chance,
    /// Reports on their way, by the Moment they arrive.
    under_way: BTreeMap<(Moment, u64), Report>,
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
    pub fn new(web: &'w Web, crawler: Crawler, now: Moment, chance: u64) -> Self {
        let chance = Chance::new(chance).stream("trial");
        Trial {
            web,
            crawler,
            now,
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
            let wait = LATENCY_MIN.scaled(1.0 + 9.0 * self.chance.share());
            let finished = self.now + wait;
            let number = order.id.0;
            let (url, conditional) = (order.url.clone(), !order.validators.is_empty());
            let robots = order.kind == OrderKind::Robots;
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
            self.under_way.insert((finished, number), report);
        }
        // Bodies of a trial come as they were written.
        self.crawler.follow_scope(self.now)?;
        let arrival = self.under_way.first_key_value().map(|(&(at, _), _)| at);
        let commit = self.crawler.has_uncommitted().then(|| self.last_commit + self.commit_every);
        let next = [arrival, commit, self.crawler.next_wake(self.now)].into_iter().flatten().min();
        let Some(next) = next else { return Ok(false) };
        self.now = next.max(self.now).min(end);
        while let Some(entry) = self.under_way.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            let report = entry.remove();
            self.crawler.report(report, self.now)?;
        }
        if self.crawler.has_uncommitted() && self.now.since(self.last_commit) >= self.commit_every {
            self.crawler.commit(self.now)?;
            self.last_commit = self.now;
        }
        Ok(true)
    }
}
