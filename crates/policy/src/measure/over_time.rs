//! How fresh pages were over a period: the visits and changes of each page are recorded, and the means are read at the
//! end. Time is in days, and a page counts by its importance.
//!
//! - freshness: the share of the time that it was up to date;
//! - age: how long ago its first unseen change was, nothing while it was up to date;
//! - harmonic: H_n with n unseen changes (Kolobov and others 2019), so that the tenth counts for less than the first;
//! - divergence: the degree of change missed, summed up over unseen changes and never more than all of the page.

use vernal_model::{Moment, Share};

/// One page between two visits.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct PageLife {
    since: Moment,
    stale_since: Option<Moment>,
    unseen: u32,
    missed: f64,
    visits: u64,
}

/// The sums over all pages and all the measured time.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct OverTime {
    days: f64,
    fresh_days: f64,
    age_days: f64,
    harmonic_days: f64,
    missed_days: f64,
    /// Pages without a recorded visit.
    pub never_visited: u64,
    pub pages: u64,
}

impl PageLife {
    /// A page that is up to date at this Moment.
    pub fn new(now: Moment) -> Self {
        PageLife { since: now, stale_since: None, unseen: 0, missed: 0.0, visits: 0 }
    }

    pub fn is_fresh(&self) -> bool {
        self.unseen == 0
    }

    /// The page changed, by a degree of 0 to 1.
    pub fn changed(&mut self, now: Moment, degree: f64, importance: f64, sums: &mut OverTime) {
        self.advance(now, importance, sums);
        self.stale_since.get_or_insert(now);
        self.unseen += 1;
        self.missed = (self.missed + degree).min(1.0);
    }

    /// Records a visit; returns whether it found a change.
    pub fn visited(&mut self, now: Moment, importance: f64, sums: &mut OverTime) -> bool {
        self.advance(now, importance, sums);
        let found = !self.is_fresh();
        (self.stale_since, self.unseen, self.missed) = (None, 0, 0.0);
        self.visits += 1;
        found
    }

    /// Measures up to this Moment; called at the end of the measurement, and by the two above.
    pub fn advance(&mut self, now: Moment, importance: f64, sums: &mut OverTime) {
        let days = now.since(self.since).days_f64() * importance;
        sums.days += days;
        if let Some(stale_since) = self.stale_since {
            let (from, to) = (self.since.since(stale_since).days_f64(), now.since(stale_since).days_f64());
            sums.age_days += (to * to - from * from) / 2.0 * importance;
            sums.harmonic_days += days * harmonic_number(self.unseen);
            sums.missed_days += days * self.missed;
        } else {
            sums.fresh_days += days;
        }
        self.since = self.since.max(now);
    }

    /// Measures up to the end, and counts the page.
    pub fn close(&mut self, now: Moment, importance: f64, sums: &mut OverTime) {
        self.advance(now, importance, sums);
        sums.pages += 1;
        sums.never_visited += u64::from(self.visits == 0);
    }

    /// Restarts the measurement, as after a warm-up; stale pages stay stale.
    pub fn restart(&mut self, now: Moment) {
        self.since = now;
        self.visits = 0;
    }
}

impl OverTime {
    /// The share of the time that pages were up to date; 1 if no time was measured.
    pub fn freshness(&self) -> Share {
        if self.days <= 0.0 { Share::clamped(1.0) } else { Share::clamped(self.fresh_days / self.days) }
    }

    pub fn age_days(&self) -> f64 {
        self.mean(self.age_days)
    }

    pub fn harmonic(&self) -> f64 {
        self.mean(self.harmonic_days)
    }

    pub fn divergence(&self) -> f64 {
        self.mean(self.missed_days)
    }

    pub fn join(&mut self, other: &OverTime) {
        self.days += other.days;
        self.fresh_days += other.fresh_days;
        self.age_days += other.age_days;
        self.harmonic_days += other.harmonic_days;
        self.missed_days += other.missed_days;
        self.never_visited += other.never_visited;
        self.pages += other.pages;
    }

    fn mean(&self, sum: f64) -> f64 {
        if self.days <= 0.0 { 0.0 } else { sum / self.days }
    }
}

/// H_n = 1 + 1/2 + … + 1/n.
pub fn harmonic_number(n: u32) -> f64 {
    const EXACT_MAX: u32 = 64;
    if n <= EXACT_MAX {
        return (1..=n).map(|k| 1.0 / f64::from(k)).sum();
    }
    let n = f64::from(n);
    n.ln() + EULER + 1.0 / (2.0 * n) - 1.0 / (12.0 * n * n)
}

const EULER: f64 = 0.577_215_664_901_532_9;

#[cfg(test)]
mod tests {
    use super::*;
    use vernal_model::Span;

    #[test]
    fn one_page_told_by_hand() {
        let at = |days: u64| Moment::from_secs(0) + Span::from_days(days);
        let (mut page, mut sums) = (PageLife::new(at(0)), OverTime::default());
        page.changed(at(4), 0.5, 1.0, &mut sums);
        page.changed(at(6), 0.2, 1.0, &mut sums);
        assert!(page.visited(at(8), 1.0, &mut sums));
        assert!(!page.visited(at(9), 1.0, &mut sums));
        page.close(at(10), 1.0, &mut sums);
        assert!((sums.freshness().value() - 0.6).abs() < 1e-12);
        // Age runs from 0 to 4 days over four days: 8 page days of age.
        assert!((sums.age_days() - 0.8).abs() < 1e-12);
        // H_1 for two days, H_2 for two: 2 + 3.
        assert!((sums.harmonic() - 0.5).abs() < 1e-12);
        assert!((sums.divergence() - (2.0 * 0.5 + 2.0 * 0.7) / 10.0).abs() < 1e-12);
        assert_eq!((sums.pages, sums.never_visited), (1, 0));
    }

    #[test]
    fn measuring_in_steps_changes_nothing() {
        let at = |hours: u64| Moment::from_secs(0) + Span::from_hours(hours);
        let (mut once, mut often) = (OverTime::default(), OverTime::default());
        let mut page = PageLife::new(at(0));
        page.changed(at(5), 0.3, 2.0, &mut once);
        page.close(at(50), 2.0, &mut once);
        let mut page = PageLife::new(at(0));
        page.changed(at(5), 0.3, 2.0, &mut often);
        for hour in 6..50 {
            page.advance(at(hour), 2.0, &mut often);
        }
        page.close(at(50), 2.0, &mut often);
        assert!((once.age_days() - often.age_days()).abs() < 1e-9);
        assert!((once.freshness().value() - often.freshness().value()).abs() < 1e-9);
        assert_eq!((often.pages, often.never_visited), (1, 1));
    }

    #[test]
    fn harmonic_numbers_go_on_smoothly() {
        assert_eq!((harmonic_number(0), harmonic_number(1), harmonic_number(2)), (0.0, 1.0, 1.5));
        assert!((harmonic_number(65) - harmonic_number(64) - 1.0 / 65.0).abs() < 1e-9);
    }
}
