//! How well a trial went, as exact integrals over time and not as samples.
//!
//! Between two visits a page is up to date until its first unseen change and stale from there on, so that each visit
//! closes one such stretch and every measure of it is a closed form. Stretches are cut at the borders of three periods:
//! the warm-up, what follows it (the result), and the first days (how fast a policy learns).
//!
//! - `findings`: the result as plain data; `breakdown`: the same by site and by band of change rates.
//! - `period`, `lengths`, `days`: what is summed up on the way.

mod breakdown;
mod days;
mod findings;
mod lengths;
mod period;

use vernal_model::{Moment, Span};

use self::days::Days;
pub use self::findings::{Band, Calibration, Figures, Findings, SiteFigures};
use self::lengths::Lengths;
use self::period::Period;
use super::world::World;

/// What a visit finds.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Found {
    pub changed: bool,
    pub degree: f32,
}

/// Records visits and sums up their measures.
pub struct Gauge<'w> {
    world: &'w World,
    pages: Vec<PageGauge>,
    periods: [Period; 3],
    lengths: Lengths,
    fresh_days: Days,
}

#[derive(Copy, Clone, Debug, Default)]
struct PageGauge {
    /// Measured up to here: the last good visit.
    at: Moment,
    /// The first change that no visit has seen, among all of its changes.
    next: u32,
    visits: u32,
    visits_after: u32,
    fresh_days_after: f64,
}

const AFTER: usize = 0;
const WARM_UP: usize = 1;
const FIRST: usize = 2;

impl<'w> Gauge<'w> {
    /// Pages that are online at the start are measured from there, others from their birth.
    pub fn new(world: &'w World, first: Span) -> Self {
        let middle = world.measured_from().min(world.end);
        let period = |from, until| Period { from, until, ..Period::default() };
        let begun = |page| PageGauge { at: world.life(page).0, ..PageGauge::default() };
        Gauge {
            world,
            pages: (0..world.pages.len()).map(begun).collect(),
            periods: [
                period(middle, world.end),
                period(world.origin, middle),
                period(world.origin, (world.origin + first).min(world.end)),
            ],
            lengths: Lengths::default(),
            fresh_days: Days::new(world),
        }
    }

    /// A gauge for a copy that holds nothing yet: a page that was never read is online and not up to date.
    pub fn of_nothing(world: &'w World, first: Span) -> Self {
        let mut gauge = Gauge::new(world, first);
        gauge.pages.iter_mut().for_each(|page| page.at = Moment::NEVER);
        gauge
    }

    pub fn is_held(&self, page: usize) -> bool {
        self.pages[page].at != Moment::NEVER
    }

    /// The page is read for the first time, which is no visit that a policy chose.
    pub fn begin(&mut self, page: usize, now: Moment) {
        let seen = self.world.changes(page).partition_point(|change| change.moment <= now);
        self.pages[page].at = now;
        self.pages[page].next = seen as u32;
    }

    /// The last visit that brought the page up to date.
    pub fn last_visit(&self, page: usize) -> Moment {
        self.pages[page].at
    }

    pub fn is_fresh(&self, page: usize, now: Moment) -> bool {
        let next = self.world.changes(page).get(self.pages[page].next as usize);
        next.is_none_or(|change| change.moment > now)
    }

    /// A visit that got an answer.
    pub fn visit(&mut self, page: usize, now: Moment) -> Found {
        let found = self.settle(page, now);
        self.count(page, now, |period| period.changed += u64::from(found.changed));
        found
    }

    /// A visit that was paid for and brought nothing.
    pub fn fail(&mut self, page: usize, now: Moment) {
        self.count(page, now, |period| period.failed += 1);
    }

    pub fn slot_closed(&mut self, now: Moment, site_peak: u64) {
        for period in self.periods.iter_mut().filter(|period| period.holds(now)) {
            period.site_peak = period.site_peak.max(site_peak);
        }
    }

    fn count(&mut self, page: usize, now: Moment, also: impl Fn(&mut Period)) {
        let bytes = u64::from(self.world.pages[page].bytes);
        for period in self.periods.iter_mut().filter(|period| period.holds(now)) {
            period.visits += 1;
            period.bytes += bytes;
            also(period);
        }
        let gauge = &mut self.pages[page];
        gauge.visits += 1;
        gauge.visits_after += u32::from(self.periods[AFTER].holds(now));
    }

    /// Measures the page up to now and takes all changes so far for seen.
    fn settle(&mut self, page: usize, now: Moment) -> Found {
        let changes = self.world.changes(page);
        let weight = f64::from(self.world.pages[page].weight);
        let gauge = &mut self.pages[page];
        let (from, first) = (gauge.at, gauge.next as usize);
        let stale_from = changes.get(first).map_or(now, |change| change.moment.min(now));
        for (number, period) in self.periods.iter_mut().enumerate() {
            let days = period.overlap(from, stale_from);
            period.fresh += days;
            period.fresh_weighted += days * weight;
            if number == AFTER {
                gauge.fresh_days_after += days;
            }
        }
        self.fresh_days.add(from, stale_from, weight);
        let (mut next, mut harmonic, mut degree) = (first, 0.0, 0.0f32);
        while let Some(change) = changes.get(next).filter(|change| change.moment <= now) {
            next += 1;
            harmonic += 1.0 / (next - first) as f64;
            degree = (degree + change.degree).min(1.0);
            let until = changes.get(next).map_or(now, |change| change.moment.min(now));
            for period in &mut self.periods {
                let days = period.overlap(change.moment, until);
                period.harmonic += harmonic * days;
                period.divergence += f64::from(degree) * days;
            }
        }
        for period in &mut self.periods {
            period.age += period.age_of(stale_from, now);
        }
        let after = &self.periods[AFTER];
        if stale_from < now && now > after.from {
            self.lengths.add(days_of(stale_from, now.min(after.until)), 1.0);
            self.lengths.add(days_of(stale_from, after.from), -1.0);
        }
        gauge.next = next as u32;
        gauge.at = now;
        Found { changed: next > first, degree }
    }

    /// Measures every page to the end of its life, and divides.
    pub fn finish(mut self, calibration: Vec<Calibration>) -> Findings {
        for page in 0..self.pages.len() {
            let until = self.world.life(page).1;
            if self.pages[page].at < until {
                self.settle(page, until);
            }
        }
        let world = self.world;
        let online = |period: &Period| {
            let (mut plain, mut weighted) = (0.0, 0.0);
            for (number, page) in world.pages.iter().enumerate() {
                let (from, until) = world.life(number);
                let days = period.overlap(from, until);
                plain += days;
                weighted += days * f64::from(page.weight);
            }
            (plain, weighted)
        };
        let [after, warm_up, first] = [AFTER, WARM_UP, FIRST].map(|number| {
            let period = &self.periods[number];
            period.figures(online(period))
        });
        let (online_days, _) = online(&self.periods[AFTER]);
        Findings {
            after: Figures { age_days_p95: self.lengths.age_exceeded_by(0.05, online_days), ..after },
            warm_up,
            first,
            never_visited: self.pages.iter().filter(|page| page.visits == 0).count() as u64,
            pages: self.pages.len() as u64,
            days: self.fresh_days.freshness(),
            sites: self.site_figures(),
            allocation: self.allocation(),
            calibration,
        }
    }
}

fn days_of(from: Moment, until: Moment) -> f64 {
    until.since(from).days_f64()
}
