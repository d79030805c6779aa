//! The rungs of value: each is worth a fixed share more than the one below.

use std::collections::BTreeSet;

use super::page::{gathered, spread};

/// The rung of value 1; rungs are counted from 1.
const RUNG_OF_ONE: f64 = 16_384.0;
/// For pages that waited as long as any may.
pub(super) const TOPMOST: u16 = 32_767;

#[derive(Copy, Clone, Debug)]
pub(super) struct Rungs {
    /// The logarithm of what a rung is worth over the one below.
    log: f64,
    per_log: f64,
}

impl Rungs {
    pub fn apart(ratio: f64) -> Self {
        Rungs { log: ratio.ln(), per_log: 1.0 / ratio.ln() }
    }

    /// The highest rung that a value has reached.
    pub fn level_of(&self, value: f64) -> u16 {
        self.level_at(value.ln())
    }

    /// The same for those who have the logarithm of the value; that of nothing is on the lowest.
    pub fn level_at(&self, log: f64) -> u16 {
        (log * self.per_log + RUNG_OF_ONE).clamp(1.0, f64::from(TOPMOST - 1)) as u16
    }

    /// The logarithm of what a rung is worth.
    pub fn log_of(&self, level: u16) -> f64 {
        (f64::from(level) - RUNG_OF_ONE) * self.log
    }

    pub fn worth_of(&self, level: u16) -> f64 {
        self.log_of(level).exp()
    }
}

/// The place of a page on a ladder: best rung first, then the order of spread numbers.
pub(super) fn step(level: u16, number: u32) -> u64 {
    u64::from(u16::MAX - level) << 32 | u64::from(spread(number))
}

pub(super) fn number_of(step: u64) -> u32 {
    gathered(step as u32)
}

/// The pages of one site that stand on rungs, best first.
#[derive(Clone, Debug, Default)]
pub(super) struct Ladder {
    steps: BTreeSet<u64>,
    /// The best step as it was last shown; 0, which is no step, if there was none.
    shown: u64,
}

impl Ladder {
    pub fn head(&self) -> Option<u64> {
        self.steps.first().copied()
    }

    /// How many pages stand on it.
    pub fn standing(&self) -> u32 {
        self.steps.len() as u32
    }

    /// If the best step is another than was last shown: that one, and the one that it is now.
    pub fn show(&mut self) -> Option<[Option<u64>; 2]> {
        let head = self.head();
        let shown = std::mem::replace(&mut self.shown, head.unwrap_or(0));
        (shown != self.shown).then_some([(shown > 0).then_some(shown), head])
    }

    /// A page moves, from a rung to a rung; 0 is below all.
    pub fn climb(&mut self, number: u32, before: u16, after: u16) {
        if before > 0 {
            self.steps.remove(&step(before, number));
        }
        if after > 0 {
            self.steps.insert(step(after, number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_ladder_shows_the_best_of_those_that_stand_on_it_(
            moves in prop::collection::vec((0u32..150, 0u16..5), 0..600),
        ) {
            let (mut ladder, mut levels) = (Ladder::default(), [0; 150]);
            for (number, level) in moves {
                let before = std::mem::replace(&mut levels[number as usize], level);
                ladder.climb(number, before, level);
                let standing = || (0u32..).zip(levels).filter(|&(_, level)| level > 0);
                prop_assert_eq!(ladder.standing() as usize, standing().count());
                prop_assert_eq!(ladder.head(), standing().map(|(number, level)| step(level, number)).min());
            }
        }
    }

    #[test]
    fn a_rung_is_reached_with_its_worth_and_not_before() {
        for ratio in [1.05, 1.1] {
            let rungs = Rungs::apart(ratio);
            for level in [12_000, 16_384, 16_400, 20_000] {
                let worth = rungs.worth_of(level);
                assert_eq!(rungs.level_of(worth * 1.000_001), level);
                assert_eq!(rungs.level_of(worth * 0.999_999), level - 1);
            }
            assert_eq!(rungs.level_of(0.0), 1);
            assert!(rungs.level_of(f64::MAX) < TOPMOST);
        }
    }
}
