//! The share of the visits to one page that found a change: the papers' p_c, and D over V.

/// Whether each of the last visits found a change, at most [`RecentVisits::MAX`] of them.
///
/// The bytes: the two lowest of the bits, the count, then the other bytes of the bits that the count needs (0 to 11).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RecentVisits {
    /// One bit per visit, the newest lowest.
    bits: [u64; 2],
    count: u8,
}

impl RecentVisits {
    /// How many visits are remembered unless somebody says otherwise: "6 times out of its 10 visits" is the paper's own
    /// example; older visits say little about today.
    pub const KEPT: u8 = 10;
    /// How many can be remembered at most: a hundred, and one more for what was known before the last visit.
    pub const MAX: u8 = 101;
    pub const BYTES_MAX: usize = 14;

    pub fn push(&mut self, changed: bool) {
        self.push_among(changed, Self::KEPT);
    }

    /// Remembers a visit among the newest `kept`.
    pub fn push_among(&mut self, changed: bool, kept: u8) {
        let bits = self.number() << 1 | u128::from(changed);
        *self = Self::of(bits, self.count.min(Self::MAX - 1) + 1).newest(kept);
    }

    /// V: the visits remembered.
    pub fn visits(self) -> u32 {
        u32::from(self.count)
    }

    /// D: those of them that found a change.
    pub fn changes(self) -> u32 {
        self.number().count_ones()
    }

    /// D / V; `None` before the first visit that could be compared.
    pub fn degree_of_success(self) -> Option<f64> {
        (self.count > 0).then(|| f64::from(self.changes()) / f64::from(self.visits()))
    }

    /// The newest of them only.
    #[must_use]
    pub fn newest(self, visits: u8) -> Self {
        Self::of(self.number(), self.count.min(visits).min(Self::MAX))
    }

    /// As it was before the last visit, but for the one that the last visit may have pushed out.
    #[must_use]
    pub fn before_last(self) -> Self {
        Self::of(self.number() >> 1, self.count.saturating_sub(1))
    }

    /// Whether the last visit found a change.
    pub fn last(self) -> Option<bool> {
        (self.count > 0).then_some(self.number() & 1 == 1)
    }

    /// Writes the history into the bytes and gives back how many it took.
    pub fn write(self, bytes: &mut [u8]) -> usize {
        let all = self.number().to_le_bytes();
        let (low, rest) = all.split_at(2);
        let rest = &rest[..Self::rest_bytes(self.count)];
        bytes[..2].copy_from_slice(low);
        bytes[2] = self.count;
        bytes[3..3 + rest.len()].copy_from_slice(rest);
        3 + rest.len()
    }

    /// `None` if the bytes are not a history of ours.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (&[low, high, count], rest) = bytes.split_first_chunk()?;
        if count > Self::MAX || rest.len() != Self::rest_bytes(count) {
            return None;
        }
        let mut all = [0; 16];
        (all[0], all[1]) = (low, high);
        all[2..2 + rest.len()].copy_from_slice(rest);
        let bits = u128::from_le_bytes(all);
        (bits >> count == 0).then(|| Self::of(bits, count))
    }

    fn rest_bytes(count: u8) -> usize {
        usize::from(count.saturating_sub(16)).div_ceil(8)
    }

    fn number(self) -> u128 {
        u128::from(self.bits[1]) << 64 | u128::from(self.bits[0])
    }

    fn of(bits: u128, count: u8) -> Self {
        let bits = bits & ((1 << count) - 1);
        RecentVisits { bits: [bits as u64, (bits >> 64) as u64], count }
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
    fn more_visits_count_where_more_are_kept_and_fewer_where_fewer_are() {
        let mut visits = RecentVisits::default();
        (0..250).for_each(|number| visits.push_among(number % 4 == 0, 100));
        assert_eq!((visits.visits(), visits.changes()), (100, 25));
        visits.push_among(true, 3);
        assert_eq!((visits.visits(), visits.changes()), (3, 2));
    }

    #[test]
    fn bytes_are_read_back_and_nonsense_is_refused() {
        let read = |visits: RecentVisits| {
            let mut bytes = [0; RecentVisits::BYTES_MAX];
            let length = visits.write(&mut bytes);
            RecentVisits::read(&bytes[..length])
        };
        let mut visits = RecentVisits::default();
        for number in 0..150u32 {
            assert_eq!(read(visits), Some(visits));
            visits.push_among(number.is_multiple_of(3), 100);
        }
        let few = |visits: u8| RecentVisits::of(0b101, visits);
        let mut bytes = [0; RecentVisits::BYTES_MAX];
        assert_eq!((few(3).write(&mut bytes), bytes[..3].to_vec()), (3, vec![0b101, 0, 3]), "as it always was");
        assert_eq!(RecentVisits::read(&[0, 0, 102]), None);
        assert_eq!(RecentVisits::read(&[0, 0, 17]), None);
        assert_eq!(RecentVisits::read(&[0, 0, 10, 0]), None);
        assert_eq!(RecentVisits::read(&[0b100, 0, 2]), None);
    }
}
