//! When sites are to be woken: those of the nearest time in order, later ones in slots that are not sorted before their
//! time comes. Most entries are overtaken before that, and to put one to the others of its slot touches nothing else.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Slots are short enough that one fits the nearest caches, and long enough that there are few of them.
const SLOTS_PER_DAY: f64 = 96.0;

#[derive(Clone, Debug, Default)]
pub(super) struct Wakes {
    /// Instants as bits, which are in the order of the instants, with their sites.
    near: BinaryHeap<Reverse<(u64, u32)>>,
    /// By slot; none lies before the end of what is near.
    later: BTreeMap<u32, Vec<(u64, u32)>>,
    /// The first slot that is not near.
    ends: u32,
}

impl Wakes {
    /// Wakes a site at an instant, in days.
    pub fn push(&mut self, wake: f64, site: u32) {
        let entry = (wake.to_bits(), site);
        match slot_of(wake) {
            slot if slot < self.ends => self.near.push(Reverse(entry)),
            slot => self.later.entry(slot).or_default().push(entry),
        }
    }

    /// The first site to be woken, and when, if that is not after `now`.
    pub fn pop_until(&mut self, now: f64) -> Option<(f64, u32)> {
        while let Some(entry) = self.later.first_entry().filter(|entry| *entry.key() <= slot_of(now)) {
            self.ends = *entry.key() + 1;
            self.near.extend(entry.remove().into_iter().map(Reverse));
        }
        let &Reverse((wake, site)) = self.near.peek()?;
        let wake = f64::from_bits(wake);
        if wake > now {
            return None;
        }
        self.near.pop();
        Some((wake, site))
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
        fn sites_are_woken_in_the_order_of_their_instants(
            rounds in prop::collection::vec((0.0f64..0.3, prop::collection::vec((0.0f64..3.0, 0u32..5), 0..8)), 1..30),
        ) {
            let (mut wakes, mut sorted, mut now) = (Wakes::default(), Vec::new(), 19_000.0);
            for (passed, pushed) in rounds {
                now += passed;
                for (more, site) in pushed {
                    wakes.push(now + more, site);
                    sorted.push((now + more, site));
                }
                sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
                let due: Vec<_> = sorted.extract_if(.., |&mut (wake, _)| wake <= now).collect();
                prop_assert_eq!(std::iter::from_fn(|| wakes.pop_until(now)).collect::<Vec<_>>(), due);
            }
        }
    }
}
