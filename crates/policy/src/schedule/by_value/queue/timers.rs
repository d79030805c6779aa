//! When each site must be looked at again: one timer per site.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// With more entries than so many for each site, and no fewer than `ENTRIES_MIN`, those that are void are thrown out.
const ENTRIES_PER_SITE: usize = 2;
const ENTRIES_MIN: usize = 64;

#[derive(Clone, Debug, Default)]
pub struct Timers {
    /// By site, in days; infinite where none is set.
    instants: Vec<f64>,
    /// The earliest first. Bits of positive numbers are in the order of the numbers. A timer that is set anew leaves its old
    /// entry behind, void: among very many it would be far away in memory.
    entries: BinaryHeap<Entry>,
}

/// The instant's bits and the site.
type Entry = Reverse<(u64, u32)>;

impl Timers {
    /// Sets the timer of a site; an infinite instant clears it.
    pub fn set(&mut self, site: u32, instant: f64) {
        let index = site as usize;
        if self.instants.len() <= index {
            self.instants.resize(index + 1, f64::INFINITY);
        }
        let before = std::mem::replace(&mut self.instants[index], instant);
        if before == instant || instant.is_infinite() {
            return;
        }
        match self.entries.len() < (ENTRIES_PER_SITE * self.instants.len()).max(ENTRIES_MIN) {
            true => self.entries.push(entry(site, instant)),
            false => self.entries = entries_of(&self.instants),
        }
    }

    /// Sets the timer of a site unless it is set to an earlier instant.
    pub fn set_no_later(&mut self, site: u32, instant: f64) {
        if self.instants.get(site as usize).is_none_or(|&set| instant < set) {
            self.set(site, instant);
        }
    }

    /// Clears the timers that have come; their sites, the earliest first.
    pub fn take_until(&mut self, now: f64) -> Vec<u32> {
        let mut due = Vec::new();
        while let Some(&Reverse((bits, site))) = self.entries.peek().filter(|first| f64::from_bits(first.0.0) <= now) {
            self.entries.pop();
            let set = &mut self.instants[site as usize];
            if set.to_bits() == bits {
                *set = f64::INFINITY;
                due.push(site);
            }
        }
        due
    }
}

fn entry(site: u32, instant: f64) -> Entry {
    Reverse((instant.to_bits(), site))
}

/// One entry for each timer that is set.
fn entries_of(instants: &[f64]) -> BinaryHeap<Entry> {
    let set = (0u32..).zip(instants).filter(|(_, instant)| instant.is_finite());
    set.map(|(site, &instant)| entry(site, instant)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_site_is_told_when_the_timer_that_was_set_last_has_come(
            rounds in prop::collection::vec(
                (0.0f64..0.3, prop::collection::vec((0u32..5, prop::option::of(0.0f64..3.0), any::<bool>()), 0..8)),
                1..30,
            ),
        ) {
            let (mut timers, mut plain, mut now) = (Timers::default(), [f64::INFINITY; 5], 19_000.0);
            for (passed, sets) in rounds {
                now += passed;
                for (site, more, no_later) in sets {
                    let (instant, set) = (more.map_or(f64::INFINITY, |more| now + more), &mut plain[site as usize]);
                    if no_later {
                        timers.set_no_later(site, instant);
                        *set = set.min(instant);
                    } else {
                        timers.set(site, instant);
                        *set = instant;
                    }
                }
                let mut due = timers.take_until(now);
                due.sort_unstable();
                let mut expected = Vec::new();
                for (site, set) in (0u32..).zip(&mut plain) {
                    if *set <= now {
                        *set = f64::INFINITY;
                        expected.push(site);
                    }
                }
                prop_assert_eq!(due, expected);
            }
        }
    }

    #[test]
    fn timers_that_are_set_again_and_again_take_no_more_room() {
        let mut timers = Timers::default();
        for round in 0..1_000u32 {
            (0..100).for_each(|site| timers.set(site, f64::from(round * 100 + (site * 37) % 100)));
        }
        assert!(timers.entries.len() <= ENTRIES_PER_SITE * 100);
        assert!(timers.take_until(99_899.0).is_empty(), "only what was set last counts");
        let in_turn: Vec<u32> = timers.take_until(99_950.0);
        assert!(in_turn.len() == 51 && in_turn.is_sorted_by_key(|site| (site * 37) % 100));
    }
}
