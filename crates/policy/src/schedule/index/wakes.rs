//! When sites are to be woken: later ones stand in slots that are not sorted before their time comes. Most entries are
//! overtaken before that, and to put one to the others of its slot touches nothing else.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BinaryHeap};

/// Slots are short enough that one fits the nearest caches, and long enough that there are few of them.
const SLOTS_PER_DAY: f64 = 96.0;

/// When a site is to be woken.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wake {
    /// As bits, which are in the order of the instants.
    bits: u64,
    pub site: u32,
}

impl Wake {
    fn of(instant: f64, site: u32) -> Self {
        Wake { bits: instant.to_bits(), site }
    }

    /// In days.
    pub fn instant(self) -> f64 {
        f64::from_bits(self.bits)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Wakes {
    /// The slot that has begun, last instant first.
    near: Vec<Wake>,
    /// What came to it after it was put in order.
    late: BinaryHeap<Reverse<Wake>>,
    /// By slot; none of them has begun.
    later: BTreeMap<u32, Vec<Wake>>,
    /// The first slot that has not begun.
    ends: u32,
}

impl Wakes {
    /// Wakes a site at an instant, in days.
    pub fn push(&mut self, wake: f64, site: u32) {
        let entry = Wake::of(wake, site);
        match slot_of(wake) {
            slot if slot < self.ends => self.late.push(Reverse(entry)),
            slot => self.later.entry(slot).or_default().push(entry),
        }
    }

    /// Takes out some of the sites that are to be woken by now, and when each was to be; `None` if there are no more of them.
    /// They come in no order: nobody asks for one, and where many sites wake at once a heap of all of them costs more than to
    /// attend to some. So slots that have passed are given as they are, and only the one that has just begun is sorted.
    pub fn take_until(&mut self, now: f64) -> Option<Vec<Wake>> {
        let begun = slot_of(now);
        if self.ends <= begun {
            // What had begun has passed.
            let mut past = std::mem::take(&mut self.near);
            past.extend(self.late.drain().map(|Reverse(wake)| wake));
            let next = self.later.first_entry().filter(|slot| *slot.key() <= begun);
            self.ends = next.as_ref().map_or(begun + 1, |slot| slot.key() + 1);
            self.near = next.map(|slot| slot.remove()).unwrap_or_default();
            if self.ends > begun {
                self.near.sort_unstable_by_key(|&wake| Reverse(wake));
            }
            return Some(past);
        }
        let is_due = |wake: &Wake| wake.instant() <= now;
        let mut due: Vec<Wake> = std::iter::from_fn(|| self.near.pop_if(|wake| is_due(wake))).collect();
        while let Some(late) = self.late.peek_mut().filter(|late| is_due(&late.0)) {
            due.push(PeekMut::pop(late).0);
        }
        (!due.is_empty()).then_some(due)
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
                let woken = std::iter::from_fn(|| wakes.take_until(now)).flatten();
                let mut woken: Vec<_> = woken.map(|wake| (wake.instant(), wake.site)).collect();
                due.sort_by(in_order);
                woken.sort_by(in_order);
                prop_assert_eq!(woken, due);
            }
        }
    }
}
