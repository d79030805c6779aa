//! A clock's state at one instant as cumulative sums, so that many pages can be read fast.

use super::bins::PER_DAY;

/// The speeds of a clock at one instant as cumulative sums, so that many pages can be read fast.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    now: f64,
    /// The start of the first bin; earlier time runs at speed 1.
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
    /// Sums up the speeds, newest bin first, and then reverses the order.
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

    /// The bin that contains an instant; `None` for instants before all bins. After the newest bin there is no evidence
    /// yet: time runs at speed 1, in bins of the finest width.
    pub fn bin_of(&self, instant: f64) -> Option<ReadBin> {
        let after = self.bins.partition_point(|bin| bin.start <= instant);
        let bin = self.bins.get(after.checked_sub(1)?)?;
        if instant < bin.start + bin.width {
            return Some(*bin);
        }
        let start = (instant * PER_DAY).floor() / PER_DAY;
        Some(ReadBin { start, width: 1.0 / PER_DAY, speed: 1.0, until_now: self.now - start })
    }

    /// The operational time of a page that was last visited at `last`.
    pub fn operational(&self, last: f64) -> f64 {
        match self.bin_of(last) {
            Some(bin) => bin.until_now - bin.speed * (last - bin.start),
            None => self.since_origin() - last,
        }
    }

    /// The clock's reading now, for pages whose last visit was before all bins.
    pub fn since_origin(&self) -> f64 {
        if self.bins.is_empty() { self.now } else { self.edge + self.since_edge }
    }
}
