//! The site clock: the operational time of a site, learned from the outcomes of visits to its pages.
//!
//! Pages of a site change together. A page found changed makes the time since its last visit run faster for all its
//! siblings, a page found unchanged makes it run slower; where the intervals of many visits overlap, the day of a
//! publication stands out. Three clocks of different stiffness and one that ignores siblings run side by side, and
//! what each of them foretold decides per site how far it is trusted.
//!
//! A clock says when a site changes, not how often: rates are the pages' own. If more changes were seen than the pages'
//! rates foretold, the clock would run fast for good, the rates would stay low, and every visit to the site would look
//! worth more than it is. So counts are measured against their own sum, and the mean speed stays 1.
//!
//! Time is cut into bins: 6 hours wide for 8 days, 1 day up to 40 days, 4 days up to 160 days; older time runs at
//! speed 1, and so does time without evidence. All times are in days since 1970.

use super::Gamma;

/// Stiffness of the three clocks, in pseudo-changes per day.
const STIFFNESS: [f64; 3] = [0.05, 0.15, 0.6];
/// How much of a clock's record of foretelling is kept from visit to visit.
const RECORD_KEPT: f64 = 0.9995;
/// The share of a page's change that has nothing to do with its siblings: it keeps every page's clock moving.
const OWN_SHARE: f64 = 0.1;
/// The mean speed is held at 1 as soon as so many changes were expected, and this many pseudo-changes say that it is 1.
const PACE_CHANGES: f64 = 2.0;
/// Bins in a day, at their finest.
const PER_DAY: f64 = 4.0;
/// A bin of 6 hours joins its day when the day is this old, a day its four days when they are this old, and four days
/// are dropped when they are this old; in bins of 6 hours.
const FINE_KEPT: u32 = 8 * 4;
const DAYS_KEPT: u32 = 40 * 4;
const ALL_KEPT: u32 = 160 * 4;
const DAY: u32 = 4;
const FOUR_DAYS: u32 = 16;
/// The longest clock: fine bins, days and four-days, with those that wait to be joined.
const BINS_MAX: usize = 256;
const FORMAT: u8 = 1;

#[derive(Clone, Debug)]
pub struct SiteClock {
    /// Oldest first, without gaps; the last one is as wide as the finest.
    bins: Vec<Bin>,
    /// How well each clock foretold what visits found: the three, and last the one that ignores siblings.
    record: [f64; 4],
    /// What the counts of each clock are multiplied with, so that it neither gains nor loses; follows from the bins.
    pace: [f64; 3],
    /// The newest bin for which old ones were joined.
    joined: u32,
}

#[derive(Copy, Clone, Debug, Default, PartialEq)]
struct Bin {
    /// In bins of 6 hours since 1970.
    start: u32,
    /// Expected changes of the pages visited, if time ran at speed 1.
    exposure: f32,
    /// Changes laid into this bin, as each clock sees it.
    counts: [f32; 3],
}

/// All speeds of a clock at one instant, added up, so that many pages are read at once.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    now: f64,
    /// Where the bins begin; time before runs at speed 1.
    edge: f64,
    bins: Vec<ReadBin>,
    /// Operational time from the edge until now.
    since_edge: f64,
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct ReadBin {
    pub start: f64,
    pub width: f64,
    pub speed: f64,
    /// Operational time from its start until now.
    pub until_now: f64,
}

impl Default for SiteClock {
    fn default() -> Self {
        SiteClock { bins: Vec::new(), record: [0.0; 4], pace: [1.0; 3], joined: 0 }
    }
}

impl SiteClock {
    /// Cuts the time from `last` until `now` into bins, joins those that grew old and drops the oldest. Whether any bin
    /// other than the newest changed its bounds.
    pub fn roll(&mut self, last: f64, now: f64) -> bool {
        let newest = quarter(now);
        let oldest = quarter(last).max(newest.saturating_sub(ALL_KEPT)).min(newest);
        let mut moved = false;
        match self.bins.first() {
            None => self.bins.extend((oldest..=newest).map(Bin::at)),
            Some(first) => {
                if oldest < first.start {
                    let start = first.start;
                    self.bins.splice(..0, (oldest..start).map(Bin::at));
                    moved = true;
                }
                let next = self.bins.last().map_or(newest, |bin| bin.start + 1);
                self.bins.extend((next.max(newest.saturating_sub(ALL_KEPT))..=newest).map(Bin::at));
            }
        }
        // Which bins are joined depends on the newest only, and on bins that were added before all others.
        if self.joined == newest && !moved {
            return false;
        }
        self.joined = newest;
        moved | self.join(newest)
    }

    /// When `roll` will next join bins, as far as no visit comes before.
    pub fn next_joining(&self) -> Option<f64> {
        let fine = self.bins.iter().enumerate().find(|&(index, _)| self.width(index) < DAY)?.1;
        Some(f64::from(day_of(fine.start) + DAY + FINE_KEPT) / PER_DAY)
    }

    fn join(&mut self, newest: u32) -> bool {
        let last = self.bins.len().saturating_sub(1);
        let block_of = |start: u32| {
            let (day, block) = (day_of(start), start / FOUR_DAYS * FOUR_DAYS);
            match newest {
                newest if block + FOUR_DAYS + DAYS_KEPT <= newest => block,
                newest if day + DAY + FINE_KEPT <= newest => day,
                _ => start,
            }
        };
        let dropped = self.bins.iter().take_while(|bin| block_of(bin.start) + ALL_KEPT + FOUR_DAYS <= newest).count();
        let must =
            dropped > 0 || self.bins[..last].windows(2).any(|two| block_of(two[0].start) == block_of(two[1].start));
        if !must {
            return false;
        }
        let mut joined: Vec<Bin> = Vec::with_capacity(self.bins.len());
        for bin in self.bins.drain(..).skip(dropped) {
            match joined.last_mut().filter(|before| block_of(before.start) == block_of(bin.start) && bin.start < newest)
            {
                Some(before) => before.take(&bin),
                None => joined.push(bin),
            }
        }
        self.bins = joined;
        self.settle_pace();
        true
    }

    /// In bins of 6 hours.
    fn width(&self, index: usize) -> u32 {
        self.bins.get(index + 1).map_or(1, |next| next.start - self.bins[index].start)
    }

    /// How far each clock is trusted; they sum up to 1.
    pub fn weights(&self) -> [f64; 4] {
        let best = self.record.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let odds = self.record.map(|record| (record - best).exp());
        let sum: f64 = odds.iter().sum();
        odds.map(|odds| odds / sum)
    }

    /// Changes expected over changes laid, of all bins.
    fn settle_pace(&mut self) {
        let (mut exposure, mut counts) = (0.0, [0.0; 3]);
        for bin in &self.bins {
            exposure += f64::from(bin.exposure);
            (0..3).for_each(|clock| counts[clock] += f64::from(bin.counts[clock]));
        }
        self.pace = match exposure < PACE_CHANGES {
            true => [1.0; 3],
            false => counts.map(|count| three_quarters((PACE_CHANGES + exposure) / (PACE_CHANGES + count))),
        };
    }

    fn speeds(&self, bin: &Bin, width: f64) -> [f64; 3] {
        let speed = |clock: usize| {
            let prior = STIFFNESS[clock] * width;
            (prior + self.pace[clock] * f64::from(bin.counts[clock])) / (prior + f64::from(bin.exposure))
        };
        [speed(0), speed(1), speed(2)]
    }

    /// The operational time from `last` until `now` on each of the three clocks.
    pub fn times(&self, last: f64, now: f64) -> [f64; 3] {
        let mut times = [0.0; 3];
        let mut covered = 0.0;
        for (index, bin) in self.bins.iter().enumerate().rev() {
            let (overlap, width) = self.overlap(index, last, now);
            if overlap > 0.0 {
                covered += overlap;
                let speeds = self.speeds(bin, width);
                (0..3).for_each(|clock| times[clock] += speeds[clock] * overlap);
            } else if f64::from(bin.start) / PER_DAY + width <= last {
                break;
            }
        }
        times.map(|time| time + (now - last - covered).max(0.0))
    }

    /// How much of a bin lies between two instants, and its width.
    fn overlap(&self, index: usize, from: f64, until: f64) -> (f64, f64) {
        let start = f64::from(self.bins[index].start) / PER_DAY;
        let width = f64::from(self.width(index)) / PER_DAY;
        (until.min(start + width) - from.max(start), width)
    }

    /// The operational time of a page of this site that was last visited at `last`.
    pub fn operational(&self, last: f64, now: f64) -> f64 {
        self.mixed(self.times(last, now), now - last)
    }

    fn mixed(&self, times: [f64; 3], elapsed: f64) -> f64 {
        let weights = self.weights();
        let shared: f64 = (0..3).map(|clock| weights[clock] * times[clock]).sum::<f64>() + weights[3] * elapsed;
        OWN_SHARE * elapsed + (1.0 - OWN_SHARE) * shared
    }

    /// Hears of a visit at `now` to a page last visited at `last`. `before` is what was believed of its rate before the
    /// visit, `rate` its mean after it. The bins must have been rolled to `now`.
    pub fn hear(&mut self, before: Gamma, rate: f64, last: f64, now: f64, changed: bool) {
        let times = self.times(last, now);
        let foretold = |time: f64| {
            let unchanged = before.survival(time);
            let probability = if changed { 1.0 - unchanged } else { unchanged };
            probability.max(1e-12).ln()
        };
        let [sharp, middle, mild] = times;
        for (record, time) in self.record.iter_mut().zip([sharp, middle, mild, now - last]) {
            *record = RECORD_KEPT * *record + foretold(time);
        }
        // How many changes stand behind the one that was seen, over the time in which they are laid.
        let laid = times.map(|time| {
            let probability = 1.0 - before.survival(time);
            let changes = if probability > 0.0 { (before.mean() * time / probability).max(1.0) } else { 1.0 };
            if changed && time > 0.0 { changes / time } else { 0.0 }
        });
        for index in (0..self.bins.len()).rev() {
            let (overlap, width) = self.overlap(index, last, now);
            if overlap <= 0.0 {
                if f64::from(self.bins[index].start) / PER_DAY < last {
                    break;
                }
                continue;
            }
            let speeds = self.speeds(&self.bins[index], width);
            let bin = &mut self.bins[index];
            (0..3).for_each(|clock| bin.counts[clock] += (laid[clock] * speeds[clock] * overlap) as f32);
            bin.exposure += (rate * overlap) as f32;
        }
        self.settle_pace();
    }

    /// Reads the clock at one instant.
    pub fn read(&self, now: f64, reading: &mut Reading) {
        let weights = self.weights().map(|weight| (1.0 - OWN_SHARE) * weight);
        let plain = OWN_SHARE + weights[3];
        reading.now = now;
        reading.bins.clear();
        let mut ends = f64::NAN;
        for bin in self.bins.iter().rev() {
            let start = f64::from(bin.start) / PER_DAY;
            let width = if ends.is_nan() { 1.0 / PER_DAY } else { ends - start };
            ends = start;
            let speeds = self.speeds(bin, width);
            let shared = weights[0] * speeds[0] + weights[1] * speeds[1] + weights[2] * speeds[2];
            reading.bins.push(ReadBin { start, width, speed: plain + shared, until_now: 0.0 });
        }
        reading.add_up();
    }

    /// The bytes: format (1), record (4 × 8), bins (2, then for each: start 4, exposure 4, counts 3 × 4), little-endian.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(FORMAT);
        self.record.iter().for_each(|record| bytes.extend(record.to_le_bytes()));
        bytes.extend((self.bins.len() as u16).to_le_bytes());
        for bin in &self.bins {
            bytes.extend(bin.start.to_le_bytes());
            bytes.extend(bin.exposure.to_le_bytes());
            bin.counts.iter().for_each(|count| bytes.extend(count.to_le_bytes()));
        }
    }

    /// `None` if the bytes are not a clock of ours, to the last one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&format, mut rest) = bytes.split_first()?;
        let mut clock = SiteClock::default();
        for record in &mut clock.record {
            *record = f64::from_le_bytes(take(&mut rest)?);
        }
        let bins = usize::from(u16::from_le_bytes(take(&mut rest)?));
        if format != FORMAT || bins > BINS_MAX || rest.len() != bins * 20 {
            return None;
        }
        for _ in 0..bins {
            let mut bin = Bin::at(u32::from_le_bytes(take(&mut rest)?));
            bin.exposure = f32::from_le_bytes(take(&mut rest)?);
            for count in &mut bin.counts {
                *count = f32::from_le_bytes(take(&mut rest)?);
            }
            clock.bins.push(bin);
        }
        clock.settle_pace();
        let sound = |bin: &Bin| bin.counts.iter().chain([&bin.exposure]).all(|part| part.is_finite() && *part >= 0.0);
        let ordered = clock.bins.windows(2).all(|two| two[0].start < two[1].start);
        let known = clock.record.iter().all(|record| record.is_finite());
        (ordered && known && clock.bins.iter().all(sound)).then_some(clock)
    }
}

impl Bin {
    fn at(start: u32) -> Self {
        Bin { start, ..Bin::default() }
    }

    fn take(&mut self, other: &Bin) {
        self.exposure += other.exposure;
        (0..3).for_each(|clock| self.counts[clock] += other.counts[clock]);
    }
}

impl Reading {
    /// Adds up the speeds, newest bin first, and then turns them round.
    fn add_up(&mut self) {
        let (mut until_now, mut end) = (0.0, self.now);
        for bin in &mut self.bins {
            let closes = bin.start + bin.width;
            // Time after the newest bin has no evidence yet.
            until_now += (end - closes).max(0.0) + bin.speed * (end.min(closes) - bin.start).max(0.0);
            end = end.min(bin.start);
            bin.until_now = until_now;
        }
        self.bins.reverse();
        self.edge = end;
        self.since_edge = until_now;
    }

    pub fn now(&self) -> f64 {
        self.now
    }

    pub fn bins(&self) -> &[ReadBin] {
        &self.bins
    }

    /// The bin in which an instant lies; `None` for those before all bins and after the newest.
    pub fn bin_of(&self, instant: f64) -> Option<&ReadBin> {
        let after = self.bins.partition_point(|bin| bin.start <= instant);
        let bin = self.bins.get(after.checked_sub(1)?)?;
        (instant < bin.start + bin.width).then_some(bin)
    }

    /// What the operational time of a page is that was last visited at `last`.
    pub fn operational(&self, last: f64) -> f64 {
        if last < self.edge || self.bins.is_empty() {
            return self.since_origin() - last;
        }
        match self.bin_of(last) {
            Some(bin) => bin.until_now - bin.speed * (last - bin.start),
            None => self.now - last,
        }
    }

    /// The hour that it is by this clock for those who last looked before all bins.
    pub fn since_origin(&self) -> f64 {
        if self.bins.is_empty() { self.now } else { self.edge + self.since_edge }
    }

    /// When this much more operational time will have passed, if no visit comes before: the newest bin goes on at its
    /// speed to its end, and the time after it has no evidence yet.
    pub fn when_passed(&self, more: f64) -> f64 {
        let Some(newest) = self.bins.last() else { return self.now + more };
        let rest = (newest.start + newest.width - self.now).max(0.0);
        let passed = rest * newest.speed;
        if more <= passed { self.now + more / newest.speed } else { self.now + rest + (more - passed) }
    }

    /// Reads no clock at all: time as it is.
    pub fn plain(&mut self, now: f64) {
        self.now = now;
        self.edge = now;
        self.since_edge = 0.0;
        self.bins.clear();
    }
}

/// How much of its gain a clock gives back, as a power: all of it costs freshness on sites that publish together, three
/// quarters cost none and are as good where pages change on their own.
fn three_quarters(pace: f64) -> f64 {
    pace.sqrt() * pace.sqrt().sqrt()
}

fn quarter(instant: f64) -> u32 {
    (instant * PER_DAY).max(0.0) as u32
}

fn day_of(quarter: u32) -> u32 {
    quarter / DAY * DAY
}

/// What was joined when follows from the rest.
impl PartialEq for SiteClock {
    fn eq(&self, other: &Self) -> bool {
        self.bins == other.bins && self.record == other.record && self.pace == other.pace
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
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
    fn a_clock_stays_short_and_keeps_its_evidence_while_bins_are_joined() {
        let mut clock = SiteClock::default();
        for day in 0..400 {
            let now = f64::from(day) + 0.6;
            visit(&mut clock, (now - 3.0).max(0.0), now, day % 7 == 0);
            assert!(clock.bins.len() <= 100, "{} bins on day {day}", clock.bins.len());
        }
        assert!(clock.bins[0].start >= (400 - 168) * 4);
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
