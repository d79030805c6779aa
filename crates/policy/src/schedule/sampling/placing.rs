//! Which strata a page is in: one of its site, path or history, or one for each of its topics. A page that was sampled
//! counts in all of them (seed 001, Algorithm 4).

use vernal_model::{Chance, PageKey};

use super::cycle::Cycle;
use super::entry::{By, Entry, Place, count, features};
use super::policy::Sampling;
use super::stratum::{Stratum, topic_key};
use crate::schedule::words::lot;

/// A page whose reputation on its topic is next to none is drawn all the same, in the end.
const REPUTATION_MIN: f64 = 1e-9;

impl Sampling {
    /// Gives a page its strata and its lot in this cycle.
    pub(super) fn place(&mut self, page: PageKey, entry: &mut Entry, cycle: Cycle) {
        entry.lot = self.lot_in(page, entry, cycle);
        let topics: Vec<u64> =
            self.topics.find(page).into_iter().flatten().map(|topic| topic_key(topic.topic)).collect();
        let first = topics.first().copied().unwrap_or_else(|| match self.by {
            By::Site => u64::from(entry.site),
            By::Path | By::Topic => u64::from(entry.site) << 32 | u64::from(entry.path),
            By::Features => features(entry, cycle),
        });
        entry.stratum = self.stratum(first, cycle);
        if topics.len() > 1 {
            let more = topics[1..].iter().map(|&key| self.stratum(key, cycle)).collect();
            self.more.insert(page, more);
        } else {
            self.more.remove(page);
        }
    }

    /// The stratum of a key; made if it is new.
    fn stratum(&mut self, key: u64, cycle: Cycle) -> u32 {
        let next = self.strata.len() as u32;
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            let lot = Chance::new(cycle.number).numbered(key).bits();
            // A site that comes in the middle of a cycle is sampled once, so that it is not passed over.
            self.strata.push(Stratum {
                key,
                lot,
                quota: 1,
                is_in_turn: true,
                come_again: self.come_again,
                visits_back: self.terms.visits_back,
                ..Stratum::default()
            });
        }
        place
    }

    /// The place of a page in the random order of a cycle. Where pages may come again each comes at waits of its own, all with
    /// the same mean, so that any draw may be any page, however often it was drawn before.
    pub(super) fn lot_in(&self, page: PageKey, entry: &Entry, cycle: Cycle) -> u64 {
        if !self.come_again {
            return lot(page, cycle.number);
        }
        let visits = if entry.last_visit < cycle.start { 0 } else { 1 + u64::from(entry.again) };
        let wait = |nth: u64| {
            let share = Chance::new(cycle.number).numbered(lot(page, nth)).share();
            -(1.0 - share).max(f64::MIN_POSITIVE).ln()
        };
        (0..=visits).map(wait).sum::<f64>().to_bits()
    }

    /// The strata of a page, one after the other.
    pub(super) fn stratum_at(&self, page: PageKey, entry: &Entry, nth: usize) -> Option<u32> {
        match nth.checked_sub(1) {
            None => Some(entry.stratum),
            Some(nth) => self.more.find(page)?.get(nth).copied(),
        }
    }

    /// The place of a page in the order in which a stratum of its is drawn. By authority it is the first of waits whose
    /// rates are the reputations, which draws in proportion to them (Efraimidis and Spirakis 2006).
    pub(super) fn lot_at(&self, page: PageKey, entry: &Entry, nth: usize) -> u64 {
        let topic = self.topics.find(page).filter(|_| self.by_authority).and_then(|topics| topics.get(nth));
        let Some(topic) = topic else { return entry.lot };
        let share = (entry.lot as f64 + 1.0) / 2f64.powi(64);
        (-share.min(1.0).ln() / f64::from(topic.reputation).max(REPUTATION_MIN)).max(0.0).to_bits()
    }

    /// Counts a page in its strata.
    pub(super) fn settle(&mut self, page: PageKey, entry: &mut Entry) {
        let Some(cycle) = self.cycle else { return };
        self.place(page, entry, cycle);
        self.count_in_all(page, entry, cycle, 1);
    }

    /// Takes a page out of the counts of its strata.
    pub(super) fn unsettle(&mut self, page: PageKey, entry: &Entry) {
        if let Some(cycle) = self.cycle {
            self.count_in_all(page, entry, cycle, -1);
        }
        self.more.remove(page);
    }

    fn count_in_all(&mut self, page: PageKey, entry: &Entry, cycle: Cycle, sign: i64) {
        let mut nth = 0;
        while let Some(at) = self.stratum_at(page, entry, nth) {
            let place = Place { nth, lot: self.lot_at(page, entry, nth) };
            count(&mut self.strata[at as usize], page, entry, place, cycle, sign);
            self.rank(at);
            nth += 1;
        }
    }
}
