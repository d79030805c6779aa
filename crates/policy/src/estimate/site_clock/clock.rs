//! What a clock learns from visits, and the operational time of a page.

use super::bins::{Bin, Bins};
use super::reading::{ReadBin, Reading};
use crate::estimate::Gamma;

/// Stiffness of the three clocks, in pseudo-changes per day. The first entry is plain time, which runs at speed 1
/// whatever its stiffness.
const STIFFNESS: [f32; 4] = [1.0, 0.05, 0.15, 0.6];
/// The share of a clock's prediction record that is kept from visit to visit.
const RECORD_KEPT: f64 = 0.9995;
/// The share of a page's changes that is independent of its siblings: it keeps every page's clock moving.
const OWN_SHARE: f64 = 0.1;
/// The mean speed is held at 1 once this many changes were expected; the same number of pseudo-changes pull it to 1.
const PACE_CHANGES: f64 = 2.0;
/// The clocks of sites with at least this many pages have full stiffness; those of smaller sites less, by the square
/// root: the fewer pages a site has, the rarer are its publications, and the more of its pages each one touches.
const STIFF_PAGES_MIN: u32 = 64;

#[derive(Clone, Debug)]
pub struct SiteClock {
    pub(super) bins: Bins,
    /// How well each clock predicted what visits found: the three clocks, and last plain time, which ignores siblings.
    pub(super) record: [f64; 4],
    /// The weight of each clock that follows from its record.
    weights: [f64; 4],
    /// The sums over all bins: exposure, and the counts of each clock.
    sums: [f64; 4],
    /// The factor for the counts of each clock that keeps its mean speed at 1; plain time needs none.
    pace: [f32; 4],
    /// The number of pages that use the clock, rounded to a power of two so that small changes do not alter the clock,
    /// and the stiffness that follows from it.
    pages: u32,
    stiffness: f64,
}

impl Default for SiteClock {
    fn default() -> Self {
        SiteClock::of(Bins::default(), [0.0; 4])
    }
}

impl SiteClock {
    pub(super) fn of(bins: Bins, record: [f64; 4]) -> Self {
        let weights = weights_of(&record);
        let mut clock =
            SiteClock { bins, record, weights, sums: [0.0; 4], pace: [1.0; 4], pages: STIFF_PAGES_MIN, stiffness: 1.0 };
        clock.add_up();
        clock
    }

    /// Divides the time from `last` until `now` into bins, merges old bins and drops the oldest.
    pub fn roll(&mut self, last: f64, now: f64) {
        if self.bins.roll(last, now) {
            self.add_up();
        }
    }

    /// Sets how many pages use the clock; returns whether that alters the clock. Without this call, many pages are
    /// assumed.
    pub fn shared_by(&mut self, pages: u32) -> bool {
        let pages = pages.clamp(1, STIFF_PAGES_MIN).next_power_of_two();
        if self.pages == pages {
            return false;
        }
        self.pages = pages;
        self.stiffness = (f64::from(pages) / f64::from(STIFF_PAGES_MIN)).sqrt();
        true
    }

    /// The weight of each clock; they sum up to 1.
    pub fn weights(&self) -> [f64; 4] {
        self.weights
    }

    fn add_up(&mut self) {
        self.sums = [0.0; 4];
        for bin in self.bins.all() {
            (0..4).for_each(|part| self.sums[part] += f64::from(bin.held[part]));
        }
        self.settle_pace();
    }

    /// Computes the pace: changes expected over changes assigned, for all bins.
    fn settle_pace(&mut self) {
        let exposure = self.sums[0];
        self.pace = match exposure < PACE_CHANGES {
            true => [1.0; 4],
            false => self.sums.map(|count| three_quarters((PACE_CHANGES + exposure) / (PACE_CHANGES + count)) as f32),
        };
    }

    /// The operational time from `last` until `now` on each of the three clocks.
    pub fn times(&self, last: f64, now: f64) -> [f64; 3] {
        // The first is plain time within the bins; time outside of them runs at the same speed.
        let mut times = [0.0; 4];
        for (starts, ends, bin) in self.bins.newest_first() {
            if ends <= last {
                break;
            }
            let overlap = overlap((last, now), (starts, ends));
            if overlap > 0.0 {
                let speeds = speeds(bin, (ends - starts) * self.stiffness, &self.pace);
                (0..4).for_each(|clock| times[clock] += f64::from(speeds[clock]) * overlap);
            }
        }
        let [covered, times @ ..] = times;
        times.map(|time| time + (now - last - covered).max(0.0))
    }

    /// The operational time of a page of this site that was last visited at `last`.
    pub fn operational(&self, last: f64, now: f64) -> f64 {
        self.mixed(self.times(last, now), now - last)
    }

    /// The operational time that follows from the times of each clock and the elapsed time.
    pub fn mixed(&self, times: [f64; 3], elapsed: f64) -> f64 {
        let weights = self.weights;
        let shared: f64 = (0..3).map(|clock| weights[clock] * times[clock]).sum::<f64>() + weights[3] * elapsed;
        OWN_SHARE * elapsed + (1.0 - OWN_SHARE) * shared
    }

    /// Learns from a visit at `now` to a page last visited at `last`. `before` is the belief about its rate before the
    /// visit, `rate` its mean after it. The bins must have been rolled to `now`.
    pub fn hear(&mut self, before: Gamma, rate: f64, last: f64, now: f64, changed: bool) {
        let times = self.times(last, now);
        self.hear_times(times, before, rate, (last, now), changed);
    }

    /// Like `hear`, for callers that have the `times` from `last` until `now`.
    pub fn hear_times(&mut self, times: [f64; 3], before: Gamma, rate: f64, visits: (f64, f64), changed: bool) {
        let (last, now) = visits;
        let survivals = times.map(|time| before.survival(time));
        let foretold = |unchanged: f64| (if changed { 1.0 - unchanged } else { unchanged }).max(1e-12).ln();
        let [sharp, middle, mild] = survivals;
        for (record, survival) in self.record.iter_mut().zip([sharp, middle, mild, before.survival(now - last)]) {
            *record = RECORD_KEPT * *record + foretold(survival);
        }
        self.weights = weights_of(&self.record);
        let laid =
            [0, 1, 2].map(|clock| if changed { laid_per_day(before, times[clock], survivals[clock]) } else { 0.0 });
        for (starts, ends, bin) in self.bins.newest_first_mut() {
            if ends <= last {
                break;
            }
            let overlap = overlap((last, now), (starts, ends));
            if overlap <= 0.0 {
                continue;
            }
            if changed {
                let speeds = speeds(bin, (ends - starts) * self.stiffness, &self.pace);
                for clock in 1..4 {
                    let more = laid[clock - 1] * f64::from(speeds[clock]) * overlap;
                    self.sums[clock] += grow(&mut bin.held[clock], more);
                }
            }
            self.sums[0] += grow(&mut bin.held[0], rate * overlap);
        }
        self.settle_pace();
    }

    /// Reads the clock at one instant.
    pub fn read(&self, now: f64, reading: &mut Reading) {
        let weights = self.weights.map(|weight| (1.0 - OWN_SHARE) * weight);
        let plain = OWN_SHARE + weights[3];
        let read = self.bins.newest_first().map(|(start, ends, bin)| {
            let speeds = speeds(bin, (ends - start) * self.stiffness, &self.pace);
            let shared = weights[0] * f64::from(speeds[1])
                + weights[1] * f64::from(speeds[2])
                + weights[2] * f64::from(speeds[3]);
            ReadBin { start, width: ends - start, speed: plain + shared, until_now: 0.0 }
        });
        reading.take(now, read);
    }
}

/// Adds to a value of a bin, and returns by how much it grew after rounding to the stored precision.
fn grow(held: &mut f32, more: f64) -> f64 {
    let before = std::mem::replace(held, *held + more as f32);
    f64::from(*held) - f64::from(before)
}

/// The sums follow from the bins, except for rounding that depends on the order of addition.
impl PartialEq for SiteClock {
    fn eq(&self, other: &Self) -> bool {
        self.bins == other.bins && self.record == other.record
    }
}

fn weights_of(record: &[f64; 4]) -> [f64; 4] {
    let best = record.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let odds = record.map(|record| (record - best).exp());
    let sum: f64 = odds.iter().sum();
    odds.map(|odds| odds / sum)
}

/// The speeds of plain time and of the three clocks in a bin.
fn speeds(bin: &Bin, width: f64, pace: &[f32; 4]) -> [f32; 4] {
    let (width, exposure) = (width as f32, bin.exposure());
    let mut speeds = [0.0; 4];
    for clock in 0..4 {
        let prior = STIFFNESS[clock] * width;
        speeds[clock] = (prior + pace[clock] * bin.held[clock]) / (prior + exposure);
    }
    speeds
}

/// The length of the overlap of two intervals; zero or less if they do not overlap.
fn overlap((last, now): (f64, f64), (starts, ends): (f64, f64)) -> f64 {
    let until = if now < ends { now } else { ends };
    let from = if last > starts { last } else { starts };
    until - from
}

/// The expected number of changes behind the one that was seen, per day of the time to which they are assigned.
fn laid_per_day(before: Gamma, time: f64, survival: f64) -> f64 {
    let probability = 1.0 - survival;
    let changes = if probability > 0.0 { (before.mean() * time / probability).max(1.0) } else { 1.0 };
    if time > 0.0 { changes / time } else { 0.0 }
}

/// The exponent by which the pace corrects a clock's gain: full correction costs freshness on sites that publish
/// together; three quarters cost none and are as good where pages change on their own.
fn three_quarters(pace: f64) -> f64 {
    pace.sqrt() * pace.sqrt().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(values: &[f64], expected: &[f64], within: f64) {
        assert_eq!(values.len(), expected.len());
        let all = values.iter().zip(expected).all(|(value, expected)| (value - expected).abs() < within);
        assert!(all, "{values:?} are not {expected:?}");
    }

    fn visit(clock: &mut SiteClock, last: f64, now: f64, changed: bool) -> (f64, Gamma) {
        let before = Gamma { a: 1.0, b: 50.0 };
        clock.roll(last, now);
        let o = clock.operational(last, now);
        let after = if changed { before.seen_changed(o) } else { before.seen_unchanged(o) };
        clock.hear(before, after.mean(), last, now, changed);
        (o, after)
    }

    /// The vectors A, B and C that were printed with the trial of the site clock.
    #[test]
    fn three_visits_move_the_clock_as_printed() {
        let mut clock = SiteClock::default();
        let (o, after) = visit(&mut clock, 0.0, 4.0, true);
        close(&[o, after.a, after.b], &[4.0, 1.997046, 51.846381], 1e-6);
        close(&clock.times(0.0, 4.0), &[14.4603, 8.9116, 5.4501], 1e-4);

        let (o, after) = visit(&mut clock, 2.0, 4.0, false);
        close(&[o, after.b], &[3.89247, 53.89247], 1e-5);
        close(&clock.weights(), &[0.236018, 0.248042, 0.256184, 0.259756], 1e-6);
        close(&clock.times(0.0, 4.0), &[13.2073, 8.5123, 5.3732], 1e-4);

        let (o, after) = visit(&mut clock, 0.0, 4.0, true);
        close(&[o, after.a, after.b], &[7.279701, 1.990833, 53.148134], 1e-5);
        close(&clock.weights(), &[0.380826, 0.278644, 0.191955, 0.148575], 1e-6);
        close(&clock.times(0.0, 4.0), &[18.9601, 12.1437, 6.6961], 1e-4);
        close(&clock.times(2.0, 4.0), &[8.3864, 5.7157, 3.2911], 1e-4);
    }

    #[test]
    fn the_fewer_pages_go_by_a_clock_the_further_one_visit_moves_it() {
        let moved_by = |pages: u32, changed: bool| {
            let mut clock = SiteClock::default();
            clock.shared_by(pages);
            visit(&mut clock, 0.0, 4.0, changed);
            clock.operational(0.0, 4.0)
        };
        let [of_two, of_nine, of_sixteen, of_many] = [2, 9, 16, 50].map(|pages| moved_by(pages, true));
        assert!(of_two > of_nine && of_nine == of_sixteen && of_sixteen > of_many, "{of_two} {of_nine} {of_many}");
        assert!(moved_by(2, false) < moved_by(50, false));
        assert_eq!(of_many, moved_by(64, true));
        assert_eq!(of_many, moved_by(50_000, true));
    }

    #[test]
    fn a_clock_is_another_only_when_its_pages_double() {
        let mut clock = SiteClock::default();
        let told = [64, 40, 32, 17, 16, 2, 0, 1, 500, 60].map(|pages| clock.shared_by(pages));
        assert_eq!(told, [false, false, true, false, true, true, true, false, true, false]);
    }

    #[test]
    fn a_clock_stays_short_and_keeps_its_evidence_while_bins_are_joined() {
        let mut clock = SiteClock::default();
        for day in 0..400 {
            let now = f64::from(day) + 0.6;
            visit(&mut clock, (now - 3.0).max(0.0), now, day % 7 == 0);
            assert!(clock.bins.all().len() <= 100, "{} bins on day {day}", clock.bins.all().len());
        }
        assert!(clock.bins.all()[0].start >= (400 - 168) * 4);
    }

    /// Pages that change on their own, far more often than anybody believes: that is for their rates to say.
    #[test]
    fn a_clock_does_not_run_fast_for_good() {
        let mut clock = SiteClock::default();
        for day in 10..200 {
            let (now, before) = (f64::from(day), Gamma { a: 1.0, b: 10.0 });
            for page in 0..4 {
                clock.roll(now - 5.0, now);
                clock.hear(before, 0.1, now - 5.0, now, (day + page) % 5 != 0);
            }
        }
        let speed = clock.operational(50.0, 190.0) / 140.0;
        assert!((0.8..1.25).contains(&speed), "{speed}");
    }

    #[test]
    fn time_older_than_the_clock_runs_at_its_own_speed() {
        let mut clock = SiteClock::default();
        visit(&mut clock, 900.0, 1000.0, false);
        assert!((clock.operational(0.0, 1000.0) - clock.operational(500.0, 1000.0) - 500.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn a_reading_agrees_with_the_clock_and_bytes_bring_it_back(
            visits in prop::collection::vec((0.0f64..60.0, 0.0f64..30.0, any::<bool>()), 1..30),
            asked in 0.0f64..900.0,
            later in 0.0f64..20.0,
        ) {
            let mut clock = SiteClock::default();
            let mut now = 100.0;
            for (wait, age, changed) in visits {
                now += wait;
                visit(&mut clock, now - age, now, changed);
            }
            now += later;
            let last = (now - asked).max(0.0);
            let mut reading = Reading::default();
            clock.read(now, &mut reading);
            let (read, told) = (reading.operational(last), clock.operational(last, now));
            prop_assert!((read - told).abs() < 1e-6 * (1.0 + told), "{} {}", read, told);
            let mut bytes = Vec::new();
            clock.write(&mut bytes);
            prop_assert_eq!(SiteClock::from_bytes(&bytes), Some(clock));
            bytes.pop();
            prop_assert_eq!(SiteClock::from_bytes(&bytes), None);
        }
    }
}
