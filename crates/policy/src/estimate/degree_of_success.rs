//! The share of the visits to one page that found a change: the papers' p_c, and D over V.

/// Whether each of the last visits found a change, at most [`RecentVisits::MAX`] of them, in three bytes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RecentVisits {
    /// One bit per visit, the newest lowest.
    bits: u16,
    count: u8,
}

impl RecentVisits {
    /// "6 times out of its 10 visits" is the paper's own example; older visits say little about today.
    pub const MAX: u8 = 10;

    pub fn push(&mut self, changed: bool) {
        let kept = (1 << Self::MAX) - 1;
        self.bits = (self.bits << 1 | u16::from(changed)) & kept;
        self.count = (self.count + 1).min(Self::MAX);
    }

    /// V: the visits remembered.
    pub fn visits(self) -> u32 {
        u32::from(self.count)
    }

    /// D: those of them that found a change.
    pub fn changes(self) -> u32 {
        self.bits.count_ones()
    }

    /// D / V; `None` before the first visit that could be compared.
    pub fn degree_of_success(self) -> Option<f64> {
        (self.count > 0).then(|| f64::from(self.changes()) / f64::from(self.visits()))
    }

    /// The newest of them only.
    pub fn newest(self, visits: u8) -> Self {
        let count = self.count.min(visits).min(Self::MAX);
        RecentVisits { bits: self.bits & ((1 << count) - 1), count }
    }

    /// As it was before the last visit, but for the one that the last visit may have pushed out.
    pub fn before_last(self) -> Self {
        RecentVisits { bits: self.bits >> 1, count: self.count.saturating_sub(1) }
    }

    /// Whether the last visit found a change.
    pub fn last(self) -> Option<bool> {
        (self.count > 0).then_some(self.bits & 1 == 1)
    }

    pub fn bytes(self) -> [u8; 3] {
        let [low, high] = self.bits.to_le_bytes();
        [low, high, self.count]
    }

    /// `None` if the bytes are not a history of ours.
    pub fn from_bytes([low, high, count]: [u8; 3]) -> Option<Self> {
        let bits = u16::from_le_bytes([low, high]);
        let fits = count <= Self::MAX && u32::from(bits) >> count == 0;
        fits.then_some(RecentVisits { bits, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_changes_in_ten_visits_are_a_degree_of_six_tenths() {
        let mut visits = RecentVisits::default();
        assert_eq!(visits.degree_of_success(), None);
        for changed in [true, false, true, true, false, true, false, true, false, true] {
            visits.push(changed);
        }
        assert_eq!(visits.degree_of_success(), Some(0.6));
    }

    #[test]
    fn only_the_last_ten_visits_count() {
        let mut visits = RecentVisits::default();
        for _ in 0..30 {
            visits.push(true);
        }
        for _ in 0..10 {
            visits.push(false);
        }
        assert_eq!((visits.visits(), visits.changes()), (10, 0));
    }

    #[test]
    fn the_newest_and_the_older_visits_are_told_apart() {
        let mut visits = RecentVisits::default();
        for changed in [true, true, false, true] {
            visits.push(changed);
        }
        assert_eq!((visits.newest(2).visits(), visits.newest(2).changes()), (2, 1));
        assert_eq!((visits.before_last().visits(), visits.before_last().changes()), (3, 2));
        assert_eq!((visits.last(), visits.before_last().last()), (Some(true), Some(false)));
    }

    #[test]
    fn bytes_are_read_back_and_nonsense_is_refused() {
        let mut visits = RecentVisits::default();
        for changed in [true, false, true] {
            visits.push(changed);
            assert_eq!(RecentVisits::from_bytes(visits.bytes()), Some(visits));
        }
        assert_eq!(RecentVisits::from_bytes([0, 0, 11]), None);
        assert_eq!(RecentVisits::from_bytes([0b100, 0, 2]), None);
    }
}
