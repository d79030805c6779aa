//! Value in levels, each worth a fixed share more than the one below. Pages of one level count as equals.

use std::collections::BTreeSet;

use crate::schedule::by_value::page::{gathered, spread};

/// The level of value 1; levels are counted from 1.
const LEVEL_OF_ONE: f64 = 16_384.0;
/// For pages that have waited as long as any may.
pub const TOPMOST: u16 = 32_767;

#[derive(Copy, Clone, Debug)]
pub struct Levels {
    /// The logarithm of what a level is worth over the one below.
    log: f64,
    per_log: f64,
}

impl Levels {
    pub fn apart(ratio: f64) -> Self {
        Levels { log: ratio.ln(), per_log: 1.0 / ratio.ln() }
    }

    /// The highest level that a value has reached.
    pub fn of(&self, value: f64) -> u16 {
        self.of_log(value.ln())
    }

    /// The same by the logarithm of the value; that of nothing is at the lowest.
    pub fn of_log(&self, log: f64) -> u16 {
        (log * self.per_log + LEVEL_OF_ONE).clamp(1.0, f64::from(TOPMOST - 1)) as u16
    }

    /// The logarithm of the least value of a level.
    pub fn log_of(&self, level: u16) -> f64 {
        (f64::from(level) - LEVEL_OF_ONE) * self.log
    }

    pub fn value_of(&self, level: u16) -> f64 {
        self.log_of(level).exp()
    }
}

/// The order in which pages are visited: best level first, and within a level by their spread numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u64);

impl Rank {
    pub const BEST: Rank = Rank(0);

    pub fn of(level: u16, number: u32) -> Self {
        Rank(u64::from(u16::MAX - level) << 32 | u64::from(spread(number)))
    }

    pub fn number(self) -> u32 {
        gathered(self.0 as u32)
    }

    /// The rank after this one.
    pub fn next(self) -> Self {
        Rank(self.0 + 1)
    }
}

/// The pages of one site that have reached a level at or above the threshold, best first.
#[derive(Clone, Debug, Default)]
pub struct RankedPages {
    ranks: BTreeSet<Rank>,
    /// The front runner as it was last told.
    told: Option<Rank>,
}

impl RankedPages {
    pub fn first(&self) -> Option<Rank> {
        self.ranks.first().copied()
    }

    pub fn len(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// If another page is the front runner than was last told: the one before, and the one that is now.
    pub fn new_front_runner(&mut self) -> Option<(Option<Rank>, Option<Rank>)> {
        let first = self.first();
        let before = std::mem::replace(&mut self.told, first);
        (before != first).then_some((before, first))
    }

    /// A page moves from a level to another; 0 is below the threshold.
    pub fn move_page(&mut self, number: u32, before: u16, after: u16) {
        if before > 0 {
            self.ranks.remove(&Rank::of(before, number));
        }
        if after > 0 {
            self.ranks.insert(Rank::of(after, number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_front_runner_is_the_best_of_all_pages_at_levels(
            moves in prop::collection::vec((0u32..150, 0u16..5), 0..600),
        ) {
            let (mut ranked, mut levels, mut told) = (RankedPages::default(), [0; 150], None);
            for (number, level) in moves {
                let before = std::mem::replace(&mut levels[number as usize], level);
                ranked.move_page(number, before, level);
                let standing = || (0u32..).zip(levels).filter(|&(_, level)| level > 0);
                let best = standing().map(|(number, level)| Rank::of(level, number)).min();
                prop_assert_eq!(ranked.len() as usize, standing().count());
                prop_assert_eq!(ranked.first(), best);
                match ranked.new_front_runner() {
                    Some((gone, comes)) => {
                        prop_assert_eq!((gone, comes), (told, best));
                        told = best;
                    }
                    None => prop_assert_eq!(told, best),
                }
            }
        }

        #[test]
        fn a_better_level_goes_first_and_the_number_comes_back(one in any::<u32>(), other in any::<u32>(), level in 1u16..TOPMOST) {
            prop_assert!(Rank::of(level + 1, one) < Rank::of(level, other));
            prop_assert_eq!(Rank::of(level, one).number(), one);
        }
    }

    #[test]
    fn a_level_is_reached_with_its_value_and_not_before() {
        for ratio in [1.05, 1.1] {
            let levels = Levels::apart(ratio);
            for level in [12_000, 16_384, 16_400, 20_000] {
                let value = levels.value_of(level);
                assert_eq!(levels.of(value * 1.000_001), level);
                assert_eq!(levels.of(value * 0.999_999), level - 1);
            }
            assert_eq!(levels.of(0.0), 1);
            assert!(levels.of(f64::MAX) < TOPMOST);
        }
    }
}
