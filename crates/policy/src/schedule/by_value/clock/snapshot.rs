//! What was last read off a site's clock, and how it goes on by itself until new evidence comes.

use crate::estimate::Reading;

/// A site without a clock has a snapshot too: it was taken at the beginning of time, and shows plain time.
#[derive(Copy, Clone, Debug)]
pub struct ClockSnapshot {
    /// When the clock was read, in days since 1970.
    at: f64,
    /// The end of the bin that was the newest then, and its speed; time after it has no evidence yet.
    ends: f64,
    speed: f64,
    /// Where the bins begin.
    pub edge: f64,
    /// Operational time since the epoch of this clock, for visits before all bins.
    hour: f64,
}

impl Default for ClockSnapshot {
    fn default() -> Self {
        ClockSnapshot { at: 0.0, ends: 0.0, speed: 1.0, edge: f64::INFINITY, hour: 0.0 }
    }
}

impl ClockSnapshot {
    pub fn of(reading: &Reading) -> Self {
        let newest = reading.bins().last();
        ClockSnapshot {
            at: reading.now(),
            ends: newest.map_or(reading.now(), |bin| (bin.start + bin.width).max(reading.now())),
            speed: newest.map_or(1.0, |bin| bin.speed),
            edge: reading.bins().first().map_or(f64::INFINITY, |bin| bin.start),
            hour: reading.since_origin(),
        }
    }

    /// Operational time that has passed since it was taken.
    pub fn passed(&self, now: f64) -> f64 {
        if now <= self.ends {
            (now - self.at) * self.speed
        } else {
            (self.ends - self.at) * self.speed + (now - self.ends)
        }
    }

    /// When so much operational time will have passed since it was taken; in days.
    pub fn when(&self, passed: f64) -> f64 {
        let until_end = (self.ends - self.at) * self.speed;
        if passed <= until_end { self.at + passed / self.speed } else { self.ends + (passed - until_end) }
    }

    /// The operational hour that visits before all bins are counted by.
    pub fn hour(&self, now: f64) -> f64 {
        self.hour + self.passed(now)
    }

    /// What will have passed since it was taken when it is that operational hour.
    pub fn passed_at(&self, hour: f64) -> f64 {
        hour - self.hour
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Gamma, SiteClock};
    use proptest::prelude::*;

    fn snapshot(visits: &[(f64, f64, bool)]) -> (ClockSnapshot, Reading, f64) {
        let (mut clock, mut reading, mut now) = (SiteClock::default(), Reading::default(), 19_000.0);
        for &(waited, passed, changed) in visits {
            now += passed;
            clock.roll(now - waited, now);
            clock.hear(Gamma { a: 1.0, b: 50.0 }, 0.02, now - waited, now, changed);
        }
        clock.read(now, &mut reading);
        (ClockSnapshot::of(&reading), reading, now)
    }

    proptest! {
        #[test]
        fn a_snapshot_says_when_an_operational_time_will_have_passed(
            visits in prop::collection::vec((0.1f64..20.0, 0.0f64..2.0, any::<bool>()), 1..20),
            more in 0.0f64..30.0,
        ) {
            let (snapshot, _, now) = snapshot(&visits);
            let when = snapshot.when(more);
            prop_assert!(when >= now - 1e-9);
            prop_assert!((snapshot.passed(when) - more).abs() < 1e-6, "{} for {more}", snapshot.passed(when));
            prop_assert!((snapshot.passed_at(snapshot.hour(when)) - more).abs() < 1e-6);
        }

        #[test]
        fn visits_before_all_bins_are_counted_as_the_reading_counts_them(
            visits in prop::collection::vec((0.1f64..20.0, 0.0f64..2.0, any::<bool>()), 1..20),
            before in 0.1f64..50.0,
        ) {
            let (snapshot, reading, now) = snapshot(&visits);
            let last = snapshot.edge - before;
            prop_assert!((snapshot.hour(now) - last - reading.operational(last)).abs() < 1e-6);
        }
    }

    #[test]
    fn without_a_clock_time_passes_as_it_is() {
        let snapshot = ClockSnapshot::default();
        assert_eq!((snapshot.passed(19_000.5), snapshot.when(7.0), snapshot.hour(3.0)), (19_000.5, 7.0, 3.0));
    }
}
