//! Time divided into bins: narrow ones for the last days, wider ones before.

/// Bins per day at the finest resolution.
pub(super) const PER_DAY: f64 = 4.0;
/// A bin of 6 hours joins its day when the day is this old, a day its four days when they are this old, and four days
/// are dropped when they are this old; in bins of 6 hours.
const FINE_KEPT: u32 = 8 * 4;
const DAYS_KEPT: u32 = 40 * 4;
const ALL_KEPT: u32 = 160 * 4;
const DAY: u32 = 4;
const FOUR_DAYS: u32 = 16;

#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(super) struct Bin {
    /// In bins of 6 hours since 1970.
    pub start: u32,
    /// First the exposure: changes expected of the visited pages if time ran at speed 1. Then the changes assigned to
    /// this bin by each of the three clocks. They are stored together so that all are computed at once.
    pub held: [f32; 4],
}

impl Bin {
    pub fn at(start: u32) -> Self {
        Bin { start, ..Bin::default() }
    }

    fn take(&mut self, other: &Bin) {
        (0..4).for_each(|part| self.held[part] += other.held[part]);
    }

    pub fn exposure(&self) -> f32 {
        self.held[0]
    }

    /// In days since 1970.
    pub fn starts(&self) -> f64 {
        f64::from(self.start) * (1.0 / PER_DAY)
    }
}

/// Oldest first, without gaps; the last one has the finest width.
#[derive(Clone, Debug, Default)]
pub(super) struct Bins {
    all: Vec<Bin>,
    /// The newest day for which old bins were merged.
    joined: u32,
}

impl Bins {
    /// The bins as they were stored.
    pub fn of(all: Vec<Bin>) -> Self {
        Bins { all, joined: 0 }
    }

    pub fn all(&self) -> &[Bin] {
        &self.all
    }

    /// Newest first, each with its start, its end, and mutable access.
    pub fn newest_first_mut(&mut self) -> impl Iterator<Item = (f64, f64, &mut Bin)> {
        let mut ends = self.all.last().map_or(0.0, |bin| f64::from(bin.start + 1) / PER_DAY);
        self.all.iter_mut().rev().map(move |bin| {
            let starts = bin.starts();
            (starts, std::mem::replace(&mut ends, starts), bin)
        })
    }

    /// Newest first, each with its start and its end.
    pub fn newest_first(&self) -> impl Iterator<Item = (f64, f64, &Bin)> {
        let mut ends = self.all.last().map_or(0.0, |bin| f64::from(bin.start + 1) / PER_DAY);
        self.all.iter().rev().map(move |bin| {
            let starts = bin.starts();
            (starts, std::mem::replace(&mut ends, starts), bin)
        })
    }

    /// Divides the time from `last` until `now` into bins, merges old bins and drops the oldest. Returns whether any
    /// were merged or dropped.
    pub fn roll(&mut self, last: f64, now: f64) -> bool {
        let newest = quarter(now);
        let oldest = quarter(last).max(newest.saturating_sub(ALL_KEPT)).min(newest);
        let mut moved = false;
        match self.all.first() {
            None => self.all.extend((oldest..=newest).map(Bin::at)),
            Some(first) => {
                if oldest < first.start {
                    let start = first.start;
                    self.all.splice(..0, (oldest..start).map(Bin::at));
                    moved = true;
                }
                let next = self.all.last().map_or(newest, |bin| bin.start + 1);
                self.all.extend((next.max(newest.saturating_sub(ALL_KEPT))..=newest).map(Bin::at));
            }
        }
        // Which bins are merged depends only on the newest day, and on bins that were added before all others.
        if self.joined == newest / DAY && !moved {
            return false;
        }
        self.joined = newest / DAY;
        self.join(newest)
    }

    fn join(&mut self, newest: u32) -> bool {
        let last = self.all.len().saturating_sub(1);
        let block_of = |start: u32| {
            let (day, block) = (start / DAY * DAY, start / FOUR_DAYS * FOUR_DAYS);
            match newest {
                newest if block + FOUR_DAYS + DAYS_KEPT <= newest => block,
                newest if day + DAY + FINE_KEPT <= newest => day,
                _ => start,
            }
        };
        let dropped = self.all.iter().take_while(|bin| block_of(bin.start) + ALL_KEPT + FOUR_DAYS <= newest).count();
        let must =
            dropped > 0 || self.all[..last].windows(2).any(|two| block_of(two[0].start) == block_of(two[1].start));
        if !must {
            return false;
        }
        let mut joined: Vec<Bin> = Vec::with_capacity(self.all.len());
        for bin in self.all.drain(..).skip(dropped) {
            match joined.last_mut().filter(|before| block_of(before.start) == block_of(bin.start) && bin.start < newest)
            {
                Some(before) => before.take(&bin),
                None => joined.push(bin),
            }
        }
        self.all = joined;
        true
    }
}

/// `joined` follows from the other fields.
impl PartialEq for Bins {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

fn quarter(instant: f64) -> u32 {
    (instant * PER_DAY).max(0.0) as u32
}
