//! When sites are to be woken: later ones stand in slots that are not sorted before their time comes. Most entries are
//! overtaken before that, and to put one to the others of its slot touches nothing else.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Slots are short enough that one fits the nearest caches, and long enough that there are few of them.
const SLOTS_PER_DAY: f64 = 96.0;

/// Instants as bits, which are in the order of the instants, with their sites.
type Entry = (u64, u32);

#[derive(Clone, Debug, Default)]
pub(super) struct Wakes {
    /// The slot that has begun, last instant first.
    near: Vec<Entry>,
    /// What came to it after it was put in order.
    late: BinaryHeap<Reverse<Entry>>,
    /// By slot; none of them has begun.
    later: BTreeMap<u32, Vec<Entry>>,
    /// The first slot that has not begun.
    ends: u32,
}

impl Wakes {
    /// Wakes a site at an instant, in days.
    pub fn push(&mut self, wake: f64, site: u32) {
        let entry = (wake.to_bits(), site);
        match slot_of(wake) {
            slot if slot < self.ends => self.late.push(Reverse(entry)),
            slot => self.later.entry(slot).or_default().push(entry),
        }
    }

    /// Takes out the sites that are to be woken by now, and when each was to be. They come in no order: nobody asks for one,
    /// and where many sites wake at once a heap of all of them costs more than to attend to some. So slots that have passed are
    /// given as they are, and only the one that has just begun is sorted.
    pub fn take_until(&mut self, now: f64) -> Vec<(f64, u32)> {
        let mut due = Vec::new();
        let begun = slot_of(now);
        while let Some(slot) = self.later.first_entry().filter(|slot| *slot.key() <= begun) {
            let is_past = *slot.key() < begun;
            self.ends = *slot.key() + 1;
            if is_past {
                due.append(&mut slot.remove());
            } else {
                self.near.append(&mut slot.remove());
                self.near.sort_unstable_by_key(|&entry| Reverse(entry));
            }
        }
        let is_due = |entry: &Entry| f64::from_bits(entry.0) <= now;
        due.extend(std::iter::from_fn(|| self.near.pop_if(|entry| is_due(entry))));
        while let Some(&Reverse(entry)) = self.late.peek().filter(|entry| is_due(&entry.0)) {
            due.push(entry);
            self.late.pop();
        }
        due.into_iter().map(|(wake, site)| (f64::from_bits(wake), site)).collect()
    }
}

fn slot_of(instant: f64) -> u32 {
    (instant * SLOTS_PER_DAY) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sites_are_woken_when_their_instants_have_come_and_not_before(
            rounds in prop::collection::vec((0.0f64..0.3, prop::collection::vec((0.0f64..3.0, 0u32..5), 0..8)), 1..30),
            shorter in prop::bool::ANY,
        ) {
            // Rounds that are shorter than a slot, and longer ones.
            let times = if shorter { 0.01 } else { 1.0 };
            let (mut wakes, mut waiting, mut now) = (Wakes::default(), Vec::new(), 19_000.0);
            for (passed, pushed) in rounds {
                now += passed * times;
                for (more, site) in pushed {
                    wakes.push(now + more * times, site);
                    waiting.push((now + more * times, site));
                }
                let in_order = |a: &(f64, u32), b: &(f64, u32)| a.partial_cmp(b).unwrap();
                let mut due: Vec<_> = waiting.extract_if(.., |&mut (wake, _)| wake <= now).collect();
                let mut woken = wakes.take_until(now);
                due.sort_by(in_order);
                woken.sort_by(in_order);
                prop_assert_eq!(woken, due);
            }
        }
    }
}
