//! The best result of a policy that knows every change beforehand. Every version can be visited from its change to the
//! next one, the earlier the better, and each slot has a number of visits. Versions are independent of each other, so
//! the result holds for every web.
//!
//! - With equal importance, taking the version that lasts longest first is best, slot by slot (swap any two visits to
//!   see it).
//! - With unequal importance a price for visits gives a bound that no schedule exceeds.
//! - The most changes that visits can find come from taking the version that ends first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Steps in the search for the one price of all slots.
const PRICE_STEPS: usize = 80;
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// Steps that improve each slot's own price, as long as versions times slots stay below a limit.
const SLOT_PRICE_STEPS: u32 = 200;
const SLOT_PRICE_PAIRS_MAX: usize = 1 << 20;

/// One version of a page: published at `from`, worth keeping until `until`. Times are in days since any instant.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Version {
    pub from: f64,
    pub until: f64,
    pub importance: f64,
}

/// An instant at which visits are available, and how many.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Slot {
    pub at: f64,
    pub visits: usize,
}

/// Versions in the order in which they appear, the slots in the order of time, and when counting begins.
#[derive(Clone, Debug)]
pub struct Clairvoyant {
    versions: Vec<Version>,
    slots: Vec<Slot>,
    counted_from: f64,
}

impl Clairvoyant {
    /// Versions that end before counting begins are worth nothing and are left out.
    pub fn new(versions: impl Iterator<Item = Version>, slots: Vec<Slot>, counted_from: f64) -> Self {
        let mut versions: Vec<Version> = versions.filter(|version| version.until > counted_from).collect();
        versions.sort_by(|a, b| a.from.total_cmp(&b.from));
        Clairvoyant { versions, slots, counted_from }
    }

    /// Days times importance that can be gained: exact for equal importance, else a bound.
    pub fn won(&self) -> f64 {
        let equal = self.versions.windows(2).all(|pair| pair[0].importance == pair[1].importance);
        if equal { self.longest_first() } else { self.bound() }
    }

    fn longest_first(&self) -> f64 {
        let (mut waiting, mut next, mut won) = (BinaryHeap::new(), 0, 0.0);
        let importance = self.versions.first().map_or(0.0, |version| version.importance);
        for slot in &self.slots {
            while let Some(version) = self.versions.get(next).filter(|version| version.from <= slot.at) {
                waiting.push(Time(version.until));
                next += 1;
            }
            for _ in 0..slot.visits {
                let Some(Time(until)) = waiting.pop() else { break };
                if until <= slot.at {
                    waiting.clear();
                    break;
                }
                won += importance * (until - slot.at.max(self.counted_from));
            }
        }
        won
    }

    /// For any prices y ≥ 0 of slots, Σ visits·y + Σ versions max(0, max over slots of value − y) is an upper bound.
    pub fn bound(&self) -> f64 {
        let price = self.best_price();
        let one = self.bound_at(price);
        match self.versions.len() * self.slots.len() <= SLOT_PRICE_PAIRS_MAX {
            true => self.bettered(price).min(one),
            false => one,
        }
    }

    /// The value of visiting a version in this slot.
    fn worth(&self, version: &Version, slot: usize) -> f64 {
        version.importance * (version.until - self.slots[slot].at.max(self.counted_from))
    }

    /// The slots in which a version can be visited.
    fn slots_of(&self, version: &Version) -> std::ops::Range<usize> {
        let first = self.slots.partition_point(|slot| slot.at < version.from);
        first..self.slots.partition_point(|slot| slot.at < version.until).max(first)
    }

    /// The bound with one price for all slots: a version is then visited as early as possible.
    fn bound_at(&self, price: f64) -> f64 {
        let visits: f64 = self.slots.iter().map(|slot| slot.visits as f64).sum();
        let gain = |version: &Version| match self.slots_of(version) {
            slots if slots.is_empty() => 0.0,
            slots => (self.worth(version, slots.start) - price).max(0.0),
        };
        visits * price + self.versions.iter().map(gain).sum::<f64>()
    }

    fn best_price(&self) -> f64 {
        let most = self.versions.iter().map(|version| version.importance * (version.until - version.from));
        let (mut low, mut high) = (0.0, most.fold(0.0, f64::max));
        for _ in 0..PRICE_STEPS {
            let (left, right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
            if self.bound_at(left) < self.bound_at(right) { high = right } else { low = left }
        }
        (low + high) / 2.0
    }

    /// Raises the price of a slot with more demand than visits, and lowers it where demand is less. Each step gives a
    /// valid bound, and more steps give a sharper one.
    fn bettered(&self, price: f64) -> f64 {
        let mut prices = vec![price; self.slots.len()];
        let mut best = f64::INFINITY;
        for step in 0..SLOT_PRICE_STEPS {
            let mut taken = vec![0i64; self.slots.len()];
            let mut bound: f64 = self.slots.iter().zip(&prices).map(|(slot, price)| slot.visits as f64 * price).sum();
            for version in &self.versions {
                let gain = |slot: usize| self.worth(version, slot) - prices[slot];
                let slots = self.slots_of(version);
                let wanted = slots.max_by(|&a, &b| gain(a).total_cmp(&gain(b)).then(b.cmp(&a)));
                if let Some(slot) = wanted.filter(|&slot| gain(slot) > 0.0) {
                    bound += gain(slot);
                    taken[slot] += 1;
                }
            }
            best = best.min(bound);
            let stride = price.max(1e-9) / (1.0 + f64::from(step));
            for (slot, price) in prices.iter_mut().enumerate() {
                let over = taken[slot] - self.slots[slot].visits as i64;
                *price = (*price + stride * over.signum() as f64).max(0.0);
            }
        }
        best
    }

    /// The most visits from the beginning of counting on that can find a change, and how many visits there are.
    pub fn most_found(&self) -> (u64, u64) {
        let (mut waiting, mut next, mut found, mut visits) = (BinaryHeap::new(), 0, 0, 0);
        for slot in self.slots.iter().filter(|slot| slot.at >= self.counted_from) {
            while let Some(version) = self.versions.get(next).filter(|version| version.from <= slot.at) {
                waiting.push(Reverse(Time(version.until)));
                next += 1;
            }
            visits += slot.visits as u64;
            while waiting.peek().is_some_and(|Reverse(Time(until))| *until <= slot.at) {
                waiting.pop();
            }
            found += (0..slot.visits).filter(|_| waiting.pop().is_some()).count() as u64;
        }
        (found, visits)
    }
}

/// A time that can be sorted by.
#[derive(Copy, Clone, Debug)]
struct Time(f64);

impl PartialEq for Time {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every schedule there is, tried.
    fn exhaustive(versions: &[Version], slots: &[Slot], taken: &mut Vec<bool>) -> (f64, u64) {
        let Some((slot, later)) = slots.split_first() else { return (0.0, 0) };
        let mut best = exhaustive(versions, later, taken);
        for index in 0..versions.len() {
            let version = versions[index];
            if taken[index] || version.from > slot.at || version.until <= slot.at {
                continue;
            }
            taken[index] = true;
            let (won, found) = exhaustive(versions, later, taken);
            taken[index] = false;
            best = (best.0.max(won + version.importance * (version.until - slot.at)), best.1.max(found + 1));
        }
        best
    }

    fn slots() -> Vec<Slot> {
        (0..5).map(|slot| Slot { at: f64::from(slot), visits: 1 }).collect()
    }

    fn versions() -> impl Strategy<Value = Vec<Version>> {
        let page = (prop::collection::btree_set(1u32..40, 0..4), 1u32..4);
        prop::collection::vec(page, 1..4).prop_map(|pages| {
            let mut versions = Vec::new();
            for (changes, importance) in pages {
                let times: Vec<f64> = changes.into_iter().map(|eighth| f64::from(eighth) / 8.0).collect();
                let untils = times.iter().copied().skip(1).chain([5.0]);
                let importance = f64::from(importance);
                versions.extend(times.iter().zip(untils).map(|(&from, until)| Version { from, until, importance }));
            }
            versions
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn it_is_exact_for_equal_importance_and_for_changes(mut versions in versions()) {
            versions.iter_mut().for_each(|version| version.importance = 1.0);
            let (won, found) = exhaustive(&versions, &slots(), &mut vec![false; versions.len()]);
            let clairvoyant = Clairvoyant::new(versions.into_iter(), slots(), 0.0);
            prop_assert!((clairvoyant.won() - won).abs() < 1e-9);
            prop_assert!(clairvoyant.bound() >= won - 1e-9);
            prop_assert_eq!(clairvoyant.most_found(), (found, 5));
        }

        #[test]
        fn the_bound_by_prices_is_never_beaten(versions in versions()) {
            let (won, _) = exhaustive(&versions, &slots(), &mut vec![false; versions.len()]);
            prop_assert!(Clairvoyant::new(versions.into_iter(), slots(), 0.0).won() >= won - 1e-9);
        }

        #[test]
        fn what_was_before_counting_began_wins_nothing(mut versions in versions()) {
            let from = |versions: &[Version], counted_from| {
                Clairvoyant::new(versions.iter().copied(), slots(), counted_from)
            };
            prop_assert_eq!(from(&versions, 6.0).bound(), 0.0);
            // The bound by prices is as sharp as its steps; with equal importance what can be won is exact.
            versions.iter_mut().for_each(|version| version.importance = 1.0);
            prop_assert!(from(&versions, 2.0).won() <= from(&versions, 0.0).won() + 1e-9);
        }
    }
}
