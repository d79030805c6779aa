//! When each site must be looked at again: one timer per site.

use std::collections::BTreeSet;

#[derive(Clone, Debug, Default)]
pub struct Timers {
    /// By site, in days; infinite where none is set.
    instants: Vec<f64>,
    /// By instant. Bits of positive numbers are in the order of the numbers.
    order: BTreeSet<(u64, u32)>,
}

impl Timers {
    /// Sets the timer of a site; an infinite instant clears it.
    pub fn set(&mut self, site: u32, instant: f64) {
        let index = site as usize;
        if self.instants.len() <= index {
            self.instants.resize(index + 1, f64::INFINITY);
        }
        let before = std::mem::replace(&mut self.instants[index], instant);
        if before == instant {
            return;
        }
        if before.is_finite() {
            self.order.remove(&(before.to_bits(), site));
        }
        if instant.is_finite() {
            self.order.insert((instant.to_bits(), site));
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
        while let Some(&(bits, site)) = self.order.first().filter(|first| f64::from_bits(first.0) <= now) {
            self.order.remove(&(bits, site));
            self.instants[site as usize] = f64::INFINITY;
            due.push(site);
        }
        due
    }
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
}
