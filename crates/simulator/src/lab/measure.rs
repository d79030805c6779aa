//! How well a trial went, as exact integrals over time and not as samples.
//!
//! Between two visits a page is up to date until its first unseen change and stale from there on, so that each visit
//! closes one such stretch and every measure of it is a closed form. Stretches are cut at the borders of three periods:
//! the warm-up, what follows it (the result), and the first days (how fast a policy learns).

use serde::Serialize;
use vernal_model::{Moment, Span};

use super::world::World;

/// Lengths of staleness are told apart in steps of an eighth of a doubling, from a minute to some 250 years.
const LENGTH_STEPS: usize = 216;
const LENGTH_STEPS_PER_DOUBLING: f64 = 8.0;
const LENGTH_DAYS_MIN: f64 = 1.0 / 1_440.0;
/// Bands of change rate of the allocation table: four to a tenfold, from once in 27 years to ten times a day and more.
const RATE_BANDS: usize = 22;
const RATE_BANDS_PER_TENFOLD: f64 = 4.0;
const RATE_LOG_MIN: f64 = -4.0;

/// What one trial showed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Findings {
    /// After the warm-up.
    pub after: Figures,
    pub warm_up: Figures,
    /// The first days, from the very start.
    pub first: Figures,
    /// Pages that no visit was ever spent on.
    pub never_visited: u64,
    pub pages: u64,
    /// Freshness of each day, the warm-up included.
    pub days: Vec<f64>,
    pub sites: Vec<SiteFigures>,
    pub allocation: Vec<Band>,
    pub calibration: Vec<Calibration>,
}

/// The measures of one period.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Share of page-time up to date, weighted by importance, and not.
    pub freshness: f64,
    pub freshness_unweighted: f64,
    /// Mean time since the first unseen change, and the age that one in twenty exceeds (after the warm-up only).
    pub age_days: f64,
    pub age_days_p95: f64,
    /// Mean harmonic number of unseen changes (Kolobov's cost); lower is better.
    pub harmonic: f64,
    /// Mean degree of change missed, 0 to 1.
    pub divergence: f64,
    pub change_ratio: f64,
    pub visits: u64,
    pub changed: u64,
    pub wasted: u64,
    pub failed: u64,
    pub bytes: u64,
    /// The most visits that one site got in one slot.
    pub site_peak: u64,
}

/// Time up to date and time online of one site's pages after the warm-up, in weighted page-days.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
pub struct SiteFigures {
    pub fresh: f64,
    pub online: f64,
    pub visits: u64,
}

/// The pages of one band of change rates, after the warm-up.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
pub struct Band {
    pub changes_per_day_from: f64,
    pub pages: u64,
    pub changes_per_day: f64,
    pub visits_per_day: f64,
    pub freshness: f64,
}

/// What a policy believed, and what was so.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
pub struct Calibration {
    pub day: f64,
    pub believed: f64,
    pub real: f64,
}

/// What a visit finds.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Found {
    pub changed: bool,
    pub degree: f32,
}

/// Takes down visits and sums up.
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

#[derive(Clone, Debug, Default)]
struct Period {
    from: Moment,
    until: Moment,
    fresh: f64,
    fresh_weighted: f64,
    age: f64,
    harmonic: f64,
    divergence: f64,
    visits: u64,
    changed: u64,
    failed: u64,
    bytes: u64,
    site_peak: u64,
}

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

    fn site_figures(&self) -> Vec<SiteFigures> {
        let mut sites = vec![SiteFigures::default(); self.world.sites.len()];
        for (number, page) in self.world.pages.iter().enumerate() {
            let (from, until) = self.world.life(number);
            let site = &mut sites[page.site as usize];
            let weight = f64::from(page.weight);
            site.fresh += self.pages[number].fresh_days_after * weight;
            site.online += self.periods[AFTER].overlap(from, until) * weight;
            site.visits += u64::from(self.pages[number].visits_after);
        }
        sites
    }

    fn allocation(&self) -> Vec<Band> {
        let mut bands = vec![Band::default(); RATE_BANDS];
        let mut days = [(0.0, 0.0); RATE_BANDS];
        for (number, page) in self.world.pages.iter().enumerate() {
            let (from, until) = self.world.life(number);
            let online = self.periods[AFTER].overlap(from, until);
            let band = rate_band(page.rate);
            bands[band].pages += 1;
            bands[band].changes_per_day += page.rate;
            bands[band].visits_per_day += f64::from(self.pages[number].visits_after);
            days[band].0 += self.pages[number].fresh_days_after;
            days[band].1 += online;
        }
        let mut told = Vec::new();
        for (number, (band, (fresh, online))) in bands.into_iter().zip(days).enumerate() {
            if band.pages == 0 || online <= 0.0 {
                continue;
            }
            let low = RATE_LOG_MIN + (number as f64 - 1.0) / RATE_BANDS_PER_TENFOLD;
            told.push(Band {
                changes_per_day_from: if number == 0 { 0.0 } else { 10f64.powf(low) },
                pages: band.pages,
                changes_per_day: band.changes_per_day / band.pages as f64,
                visits_per_day: band.visits_per_day / online,
                freshness: fresh / online,
            });
        }
        told
    }
}

impl Period {
    fn holds(&self, moment: Moment) -> bool {
        (self.from..self.until).contains(&moment)
    }

    fn overlap(&self, from: Moment, until: Moment) -> f64 {
        days_of(from.max(self.from), until.min(self.until))
    }

    /// The integral of a page's age over this period, stale from one Moment to another.
    fn age_of(&self, stale_from: Moment, now: Moment) -> f64 {
        let begin = days_of(stale_from, self.from.min(now));
        let end = days_of(stale_from, self.until.min(now));
        (end * end - begin * begin) / 2.0
    }

    fn figures(&self, (online, online_weighted): (f64, f64)) -> Figures {
        let per = |sum: f64, whole: f64, nothing: f64| if whole > 0.0 { sum / whole } else { nothing };
        let compared = self.visits - self.failed;
        Figures {
            freshness: per(self.fresh_weighted, online_weighted, 1.0),
            freshness_unweighted: per(self.fresh, online, 1.0),
            age_days: per(self.age, online, 0.0),
            age_days_p95: 0.0,
            harmonic: per(self.harmonic, online, 0.0),
            divergence: per(self.divergence, online, 0.0),
            change_ratio: per(self.changed as f64, compared as f64, 0.0),
            visits: self.visits,
            changed: self.changed,
            wasted: compared - self.changed,
            failed: self.failed,
            bytes: self.bytes,
            site_peak: self.site_peak,
        }
    }
}

/// How long pages were stale at a stretch. Within a stretch of length L the age runs through 0..L evenly, so that the
/// time spent above an age x is the sum of L − x over the longer stretches.
struct Lengths {
    counts: [f64; LENGTH_STEPS],
    days: [f64; LENGTH_STEPS],
}

impl Default for Lengths {
    fn default() -> Self {
        Lengths { counts: [0.0; LENGTH_STEPS], days: [0.0; LENGTH_STEPS] }
    }
}

impl Lengths {
    fn add(&mut self, length_days: f64, count: f64) {
        if length_days <= 0.0 {
            return;
        }
        let step = ((length_days / LENGTH_DAYS_MIN).log2() * LENGTH_STEPS_PER_DOUBLING).floor() + 1.0;
        let step = step.clamp(0.0, LENGTH_STEPS as f64 - 1.0) as usize;
        self.counts[step] += count;
        self.days[step] += count * length_days;
    }

    /// The age that page-time exceeds for this share of the whole; exact at the edges of steps, straight between them.
    fn age_exceeded_by(&self, share: f64, online_days: f64) -> f64 {
        let wanted = share * online_days;
        let (mut count, mut days) = (0.0, 0.0);
        let mut above = (f64::INFINITY, 0.0);
        for step in (0..LENGTH_STEPS).rev() {
            count += self.counts[step];
            days += self.days[step];
            let edge = if step == 0 { 0.0 } else { edge_days(step) };
            let time = days - count * edge;
            if time >= wanted {
                let (upper, upper_time) = above;
                if upper.is_infinite() || time <= upper_time {
                    return edge;
                }
                return edge + (upper - edge) * (time - wanted) / (time - upper_time);
            }
            above = (edge, time);
        }
        0.0
    }
}

/// Where a step of lengths begins.
fn edge_days(step: usize) -> f64 {
    LENGTH_DAYS_MIN * ((step as f64 - 1.0) / LENGTH_STEPS_PER_DOUBLING).exp2()
}

/// Time up to date and time online, day by day. A stretch touches its two end days, and what lies between by a
/// difference, so that a long one costs no more than a short one.
struct Days {
    origin: Moment,
    fresh: Daily,
    online: Daily,
}

#[derive(Default)]
struct Daily {
    parts: Vec<f64>,
    steps: Vec<f64>,
}

impl Days {
    fn new(world: &World) -> Self {
        let days = world.length().days_f64().ceil() as usize + 1;
        let mut online = Daily::new(days);
        for (number, page) in world.pages.iter().enumerate() {
            let (from, until) = world.life(number);
            online.add(world.origin, from, until, f64::from(page.weight));
        }
        Days { origin: world.origin, fresh: Daily::new(days), online }
    }

    fn add(&mut self, from: Moment, until: Moment, weight: f64) {
        self.fresh.add(self.origin, from, until, weight);
    }

    fn freshness(&self) -> Vec<f64> {
        let (fresh, online) = (self.fresh.sums(), self.online.sums());
        let mut days: Vec<f64> = Vec::with_capacity(fresh.len());
        for (fresh, online) in fresh.into_iter().zip(online) {
            if online > 1e-9 {
                days.push((fresh / online).min(1.0));
            }
        }
        days
    }
}

impl Daily {
    fn new(days: usize) -> Self {
        Daily { parts: vec![0.0; days + 1], steps: vec![0.0; days + 1] }
    }

    fn add(&mut self, origin: Moment, from: Moment, until: Moment, weight: f64) {
        if until <= from {
            return;
        }
        let (begin, end) = (days_of(origin, from), days_of(origin, until));
        let last = self.parts.len() - 1;
        let (first_day, last_day) = ((begin as usize).min(last), (end as usize).min(last));
        if first_day == last_day {
            self.parts[first_day] += (end - begin) * weight;
            return;
        }
        self.parts[first_day] += (first_day as f64 + 1.0 - begin) * weight;
        self.parts[last_day] += (end - last_day as f64) * weight;
        self.steps[first_day + 1] += weight;
        self.steps[last_day] -= weight;
    }

    fn sums(&self) -> Vec<f64> {
        let mut whole = 0.0;
        let sum = |(part, step): (&f64, &f64)| {
            whole += step;
            part + whole
        };
        self.parts.iter().zip(&self.steps).map(sum).collect()
    }
}

fn rate_band(rate: f64) -> usize {
    if rate <= 0.0 {
        return 0;
    }
    let band = ((rate.log10() - RATE_LOG_MIN) * RATE_BANDS_PER_TENFOLD).floor() + 1.0;
    band.clamp(1.0, RATE_BANDS as f64 - 1.0) as usize
}

fn days_of(from: Moment, until: Moment) -> f64 {
    until.since(from).days_f64()
}
