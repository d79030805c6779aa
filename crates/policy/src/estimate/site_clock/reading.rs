//! All of a clock at one instant, added up, so that many pages are read at once.

use super::bins::PER_DAY;

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

impl Reading {
    /// Takes the speeds, newest bin first, adds them up and then turns them round.
    pub(super) fn take(&mut self, now: f64, bins: impl Iterator<Item = ReadBin>) {
        self.now = now;
        self.bins.clear();
        let (mut until_now, mut end) = (0.0, now);
        for mut bin in bins {
            let closes = bin.start + bin.width;
            // Time after the newest bin has no evidence yet.
            until_now += (end - closes).max(0.0) + bin.speed * (end.min(closes) - bin.start).max(0.0);
            end = end.min(bin.start);
            bin.until_now = until_now;
            self.bins.push(bin);
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

    /// The bin in which an instant lies; `None` for those before all bins. After the newest there is no evidence yet: time
    /// runs at speed 1, in bins as fine as any.
    pub fn bin_of(&self, instant: f64) -> Option<ReadBin> {
        let after = self.bins.partition_point(|bin| bin.start <= instant);
        let bin = self.bins.get(after.checked_sub(1)?)?;
        if instant < bin.start + bin.width {
            return Some(*bin);
        }
        let start = (instant * PER_DAY).floor() / PER_DAY;
        Some(ReadBin { start, width: 1.0 / PER_DAY, speed: 1.0, until_now: self.now - start })
    }

    /// What the operational time of a page is that was last visited at `last`.
    pub fn operational(&self, last: f64) -> f64 {
        match self.bin_of(last) {
            Some(bin) => bin.until_now - bin.speed * (last - bin.start),
            None => self.since_origin() - last,
        }
    }

    /// The hour that it is by this clock for those who last looked before all bins.
    pub fn since_origin(&self) -> f64 {
        if self.bins.is_empty() { self.now } else { self.edge + self.since_edge }
    }
}
