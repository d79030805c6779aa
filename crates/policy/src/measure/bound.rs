//! What no policy can beat, to hold the measured freshness against.
//!
//! - With known rates and changes that are independent: the optimum of Cho and Garcia-Molina, for a window without end
//!   and, certified, for one of finite length.
//! - On a recorded history: the schedule of somebody who knows the future.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::schedule::allocation::{Allocation, Wanted, missed_inverse};

/// Steps in which slot prices are bettered for pages of unequal importance.
const PRICE_STEPS: u32 = 200;

/// F*: the best mean freshness, weighted by importance, that `per_day` visits a day can keep in the long run.
pub fn freshness_bound(pages: &[Wanted], per_day: f64) -> f64 {
    let importance: f64 = pages.iter().map(|page| page.importance).sum();
    if importance <= 0.0 {
        return 1.0;
    }
    let price = Allocation::Optimal.price(pages, per_day);
    let fresh = |page: &Wanted| {
        let visits = Allocation::Optimal.visits(*page, price);
        let share = match () {
            () if page.rate <= 0.0 => 1.0,
            () if visits <= 0.0 => 0.0,
            () => visits / page.rate * -(-page.rate / visits).exp_m1(),
        };
        page.importance * share
    };
    pages.iter().map(fresh).sum::<f64>() / importance
}

/// The certified bound for a window of so many days that begins fresh: n visits make at most n + 1 intervals.
pub fn freshness_bound_of_window(pages: &[Wanted], per_day: f64, days: f64) -> f64 {
    freshness_bound(pages, per_day + pages.len() as f64 / days)
}

/// CR* = 1 − exp(−ΣΔ/R): the best change ratio, reached by visits in proportion to the rates.
pub fn change_ratio_bound(rates: impl Iterator<Item = f64>, per_day: f64) -> f64 {
    -(-rates.sum::<f64>() / per_day).exp_m1()
}

/// The same with each visit counted by importance: Σ w·f·(1 − e^(−Δ/f)) / Σ w·f over the visits that maximise the sum.
/// At the optimum w·h(x) is the same for all pages that are visited, x = Δ/f.
pub fn weighted_change_ratio_bound(pages: &[Wanted], per_day: f64) -> f64 {
    let visits = |page: &Wanted, price: f64| match price < page.importance && page.rate > 0.0 {
        true => page.rate / missed_inverse(price / page.importance),
        false => 0.0,
    };
    let highest = pages.iter().map(|page| page.importance).fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, highest);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        let spent: f64 = pages.iter().map(|page| visits(page, middle)).sum();
        if spent > per_day { low = middle } else { high = middle }
    }
    let (mut changed, mut all) = (0.0, 0.0);
    for page in pages {
        let visits = visits(page, high);
        if visits > 0.0 {
            changed += page.importance * visits * -(-page.rate / visits).exp_m1();
            all += page.importance * visits;
        }
    }
    if all > 0.0 { changed / all } else { 0.0 }
}

/// A page of a recorded history: when it was online and when it changed, in slots since the window began. It is held
/// fresh from the start of its time online.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    pub online: (f64, f64),
    /// In order, within the time online.
    pub changes: Vec<f64>,
    pub importance: f64,
}

/// One version of a page: published at `from`, worth keeping until `until`.
#[derive(Copy, Clone, Debug)]
struct Version {
    from: f64,
    until: f64,
    importance: f64,
}

impl History {
    /// The versions that must be fetched; the first is given.
    fn versions(&self) -> impl Iterator<Item = Version> + '_ {
        self.changes.iter().enumerate().map(|(index, &from)| Version {
            from,
            until: self.changes.get(index + 1).copied().unwrap_or(self.online.1),
            importance: self.importance,
        })
    }

    /// Fresh time that costs nothing.
    fn given(&self) -> f64 {
        self.importance * (self.changes.first().copied().unwrap_or(self.online.1) - self.online.0)
    }

    fn weighted_time(&self) -> f64 {
        self.importance * (self.online.1 - self.online.0)
    }
}

/// The freshness of the clairvoyant with `per_slot` visits in each of `slots` slots, who takes in each slot the versions
/// that will last longest. For pages of equal importance nothing is better (swap any two visits to see it).
pub fn clairvoyant_freshness(pages: &[History], per_slot: impl Fn(usize) -> usize, slots: usize) -> f64 {
    let mut versions: Vec<Version> = pages.iter().flat_map(History::versions).collect();
    versions.sort_by(|a, b| a.from.total_cmp(&b.from));
    let mut released = versions.into_iter().peekable();
    let mut waiting: BinaryHeap<(u64, u64)> = BinaryHeap::new();
    let mut fresh: f64 = pages.iter().map(History::given).sum();
    for slot in 0..slots {
        let now = slot as f64;
        while let Some(version) = released.next_if(|version| version.from <= now) {
            waiting.push((version.until.max(0.0).to_bits(), version.importance.to_bits()));
        }
        for _ in 0..per_slot(slot) {
            let Some((until, importance)) = waiting.pop() else { break };
            let lasting = f64::from_bits(until) - now;
            if lasting <= 0.0 {
                waiting.clear();
                break;
            }
            fresh += f64::from_bits(importance) * lasting;
        }
    }
    share_of_time(fresh, pages)
}

/// A bound on the freshness of anybody with `per_slot` visits in each slot, whatever the importances: for any prices
/// y ≥ 0 of slots, Σ visits·y + Σ versions max(0, max over slots of value − y) is not exceeded. The prices are bettered
/// step by step, so that more steps give a sharper bound and each gives a true one.
pub fn clairvoyant_bound(pages: &[History], per_slot: impl Fn(usize) -> usize, slots: usize) -> f64 {
    let versions: Vec<Version> = pages.iter().flat_map(History::versions).collect();
    let given: f64 = pages.iter().map(History::given).sum();
    let highest =
        versions.iter().map(|version| version.importance * (version.until - version.from)).fold(0.0, f64::max);
    let mut prices = vec![0.0; slots];
    let mut best = f64::INFINITY;
    for step in 0..PRICE_STEPS {
        let mut taken = vec![0i64; slots];
        let mut bound: f64 = (0..slots).map(|slot| per_slot(slot) as f64 * prices[slot]).sum();
        for version in &versions {
            let (first, last) = (version.from.ceil().max(0.0) as usize, (version.until.ceil() as usize).min(slots));
            let gain = |slot: usize| version.importance * (version.until - slot as f64) - prices[slot];
            let Some(slot) = (first..last).max_by(|&a, &b| gain(a).total_cmp(&gain(b)).then(b.cmp(&a))) else {
                continue;
            };
            if gain(slot) > 0.0 {
                bound += gain(slot);
                taken[slot] += 1;
            }
        }
        best = best.min(bound);
        let stride = highest / 10.0 / (1.0 + f64::from(step));
        for slot in 0..slots {
            let over = taken[slot] - per_slot(slot) as i64;
            prices[slot] = (prices[slot] + stride * over.signum() as f64).max(0.0);
        }
    }
    share_of_time(given + best, pages).min(1.0)
}

/// The most changed visits that anybody can make: the version that goes first is taken first (earliest deadline).
pub fn clairvoyant_changes(pages: &[History], per_slot: impl Fn(usize) -> usize, slots: usize) -> u64 {
    let mut versions: Vec<Version> = pages.iter().flat_map(History::versions).collect();
    versions.sort_by(|a, b| a.from.total_cmp(&b.from));
    let mut released = versions.into_iter().peekable();
    let mut waiting: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let mut found = 0;
    for slot in 0..slots {
        let now = slot as f64;
        while let Some(version) = released.next_if(|version| version.from <= now) {
            waiting.push(Reverse(version.until.max(0.0).to_bits()));
        }
        while waiting.peek().is_some_and(|Reverse(until)| f64::from_bits(*until) <= now) {
            waiting.pop();
        }
        for _ in 0..per_slot(slot) {
            found += u64::from(waiting.pop().is_some());
        }
    }
    found
}

fn share_of_time(fresh: f64, pages: &[History]) -> f64 {
    let all: f64 = pages.iter().map(History::weighted_time).sum();
    if all > 0.0 { fresh / all } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn five() -> Vec<Wanted> {
        (1..=5).map(|rate| Wanted { rate: f64::from(rate), importance: 1.0 }).collect()
    }

    #[test]
    fn the_bounds_are_those_in_print() {
        assert!((freshness_bound(&five(), 5.0) - 0.37389).abs() < 1e-5);
        assert!((freshness_bound_of_window(&five(), 4.0, 5.0) - 0.37389).abs() < 1e-5);
        let ratio = change_ratio_bound(five().iter().map(|page| page.rate), 5.0);
        assert!((ratio - (1.0 - (-3.0f64).exp())).abs() < 1e-12);
        assert!((weighted_change_ratio_bound(&five(), 5.0) - ratio).abs() < 1e-6);
    }

    /// Every schedule there is, tried: one visit a slot.
    fn exhaustive(pages: &[History], slots: usize) -> (f64, u64) {
        let versions: Vec<Version> = pages.iter().flat_map(History::versions).collect();
        fn go(versions: &[Version], taken: &mut Vec<bool>, slot: usize, slots: usize) -> (f64, u64) {
            if slot == slots {
                return (0.0, 0);
            }
            let mut best = go(versions, taken, slot + 1, slots);
            for index in 0..versions.len() {
                let version = versions[index];
                if taken[index] || version.from > slot as f64 || version.until <= slot as f64 {
                    continue;
                }
                taken[index] = true;
                let (fresh, found) = go(versions, taken, slot + 1, slots);
                taken[index] = false;
                best.0 = best.0.max(fresh + version.importance * (version.until - slot as f64));
                best.1 = best.1.max(found + 1);
            }
            best
        }
        let (fresh, found) = go(&versions, &mut vec![false; versions.len()], 0, slots);
        (share_of_time(fresh + pages.iter().map(History::given).sum::<f64>(), pages), found)
    }

    fn histories() -> impl Strategy<Value = Vec<History>> {
        let page = (prop::collection::btree_set(1u32..40, 0..4), 1u32..4);
        prop::collection::vec(page, 1..4).prop_map(|pages| {
            let history = |(changes, importance): (std::collections::BTreeSet<u32>, u32)| History {
                online: (0.0, 5.0),
                changes: changes.into_iter().map(|tenth| f64::from(tenth) / 8.0).collect(),
                importance: f64::from(importance),
            };
            pages.into_iter().map(history).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn the_clairvoyant_is_exact_for_equal_importance_and_for_changes(pages in histories()) {
            let equal: Vec<History> = pages.iter().map(|page| History { importance: 1.0, ..page.clone() }).collect();
            let (fresh, found) = exhaustive(&equal, 5);
            prop_assert!((clairvoyant_freshness(&equal, |_| 1, 5) - fresh).abs() < 1e-9);
            prop_assert_eq!(clairvoyant_changes(&equal, |_| 1, 5), found);
        }

        #[test]
        fn the_bound_by_slot_prices_is_never_beaten(pages in histories()) {
            let (fresh, _) = exhaustive(&pages, 5);
            prop_assert!(clairvoyant_bound(&pages, |_| 1, 5) >= fresh - 1e-9);
        }
    }
}
