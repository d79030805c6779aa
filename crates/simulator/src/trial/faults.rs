//! What goes wrong besides what the web does: reports are lost, workers die, sites are slow, the clock steps. All of it is
//! drawn from the trial's chance number.

use vernal_model::{Chance, Failure, Moment, Outcome, Report, Span};

/// Orders are divided among this many workers.
const WORKERS: u64 = 4;

/// What goes wrong. Nothing by default.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// The share of page reports that never arrive: the web was asked, and its answer is lost. Reports of robots.txt always
    /// arrive, because a site without one is closed by the rules, which is no fault.
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

/// One of the workers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Worker(u64);

impl Worker {
    /// Whether the order of this number went to it.
    pub fn has(self, order: u64) -> bool {
        order % WORKERS == self.0
    }
}

/// The faults of one trial, and when the next ones come.
#[derive(Clone, Debug)]
pub(super) struct FaultSchedule {
    faults: Faults,
    next_death: Moment,
    next_clock_step: Moment,
    chance: Chance,
    /// Never advanced, so that what a site draws is the same at any time.
    lots: Chance,
}

impl FaultSchedule {
    pub fn new(faults: Faults, now: Moment, chance: &Chance) -> Self {
        let mut faults_due = FaultSchedule {
            faults,
            next_death: Moment::NEVER,
            next_clock_step: Moment::NEVER,
            chance: chance.stream("faults"),
            lots: chance.stream("lots"),
        };
        faults_due.next_death = faults_due.next_of(faults.worker_deaths_per_day, now);
        faults_due.next_clock_step = faults_due.next_of(faults.clock_steps_per_day, now);
        faults_due
    }

    pub fn loses_a_report(&mut self) -> bool {
        self.faults.lost_reports > 0.0 && self.chance.happens(self.faults.lost_reports)
    }

    /// By what factor a site takes longer; drawn from its name, so that it is the same for every request.
    pub fn slowness(&self, site: &str) -> f64 {
        let slow = self.faults.slow_sites > 0.0 && self.lots.stream(site).happens(self.faults.slow_sites);
        if slow { self.faults.slow_factor.max(1.0) } else { 1.0 }
    }

    /// A worker that dies now; each death is returned once.
    pub fn worker_that_dies(&mut self, now: Moment) -> Option<Worker> {
        if self.next_death > now {
            return None;
        }
        let worker = Worker(self.chance.below(WORKERS));
        self.next_death = self.next_of(self.faults.worker_deaths_per_day, now);
        Some(worker)
    }

    /// How far the clock steps now; mostly not at all.
    pub fn clock_step(&mut self, now: Moment) -> Span {
        if self.next_clock_step > now {
            return Span::ZERO;
        }
        self.next_clock_step = self.next_of(self.faults.clock_steps_per_day, now + self.faults.clock_step);
        self.faults.clock_step
    }

    fn next_of(&mut self, per_day: f64, now: Moment) -> Moment {
        if per_day <= 0.0 {
            return Moment::NEVER;
        }
        now + Span::from_secs_f64(self.chance.wait(per_day) * 86_400.0) + Span::from_micros(1)
    }
}

/// The report of a visit whose own report was lost.
pub(super) fn lost_report(report: Report, noticed: Moment) -> Report {
    Report::unanswered(report.order, report.started, noticed, Outcome::Failed(Failure::Lost))
}
