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

pub(super) fn level_of(step: u64) -> u16 {
    u16::MAX - (step >> 32) as u16
}

pub(super) fn number_of(step: u64) -> u32 {
    gathered(step as u32)
}

/// The pages of one site that stand on rungs, best first.
#[derive(Clone, Debug, Default)]
pub(super) struct Ladder {
    steps: Steps,
    /// The best step as it was last shown; 0, which is no step, if there was none.
    shown: u64,
}

/// Most sites have few pages on rungs, and these lie side by side in a line or two of memory.
#[derive(Clone, Debug)]
enum Steps {
    /// Last first.
    Few(Vec<u64>),
    #[expect(clippy::box_collection, reason = "the few need no more room in a site for it")]
    Many(Box<BTreeSet<u64>>),
}

/// No step, in place of one that was shown.
const HIDDEN: u64 = u64::MAX;
/// No more than this are few, and no more than half of it are few again.
const FEW_MAX: usize = 64;
/// Steps in a line of memory.
const STEPS_PER_LINE: usize = 8;
/// There is room for one in so many more than there are.
const STEPS_SPARE: usize = 4;

impl Default for Steps {
    fn default() -> Self {
        Steps::Few(Vec::new())
    }
}

impl Steps {
    fn insert(&mut self, step: u64) {
        match self {
            Steps::Few(few) if few.len() < FEW_MAX => {
                if few.len() == few.capacity() {
                    few.reserve_exact(1 + few.len() / STEPS_SPARE);
                }
                few.insert(few.partition_point(|&other| other > step), step);
            }
            Steps::Few(few) => *self = Steps::Many(Box::new(few.drain(..).chain([step]).collect())),
            Steps::Many(many) => _ = many.insert(step),
        }
    }

    fn remove(&mut self, step: u64) {
        match self {
            Steps::Few(few) => {
                let found = few.binary_search_by(|other| step.cmp(other));
                found.into_iter().for_each(|index| _ = few.remove(index));
                if few.capacity() > 2 * (few.len() + STEPS_SPARE) {
                    few.shrink_to(few.len() + few.len() / STEPS_SPARE);
                }
            }
            Steps::Many(many) => {
                many.remove(&step);
                if many.len() <= FEW_MAX / 2 {
                    *self = Steps::Few(many.iter().rev().copied().collect());
                }
            }
        }
    }
}

impl Ladder {
    pub fn head(&self) -> Option<u64> {
        match &self.steps {
            Steps::Few(few) => few.last().copied(),
            Steps::Many(many) => many.first().copied(),
        }
    }

    /// How many pages stand on it.
    pub fn standing(&self) -> u32 {
        match &self.steps {
            Steps::Few(few) => few.len() as u32,
            Steps::Many(many) => many.len() as u32,
        }
    }

    /// A step of each line of memory, where they are few.
    pub fn lines(&self) -> impl Iterator<Item = &u64> {
        let few = self.few();
        few.iter().step_by(STEPS_PER_LINE).chain(few.last())
    }

    /// If the best step is another than was last shown: that one, and the one that it is now. Nothing while they are hidden.
    pub fn show(&mut self) -> Option<[Option<u64>; 2]> {
        if self.shown == HIDDEN {
            return None;
        }
        let head = self.head();
        let shown = std::mem::replace(&mut self.shown, head.unwrap_or(0));
        (shown != self.shown).then_some([(shown > 0).then_some(shown), head])
    }

    /// The best step was taken from those that are shown, and none is until the ladder is revealed.
    pub fn hide(&mut self) {
        self.shown = HIDDEN;
    }

    pub fn reveal(&mut self) {
        self.shown = 0;
    }

    /// Steps that are no worse than one, best first; not all of them, where they are many.
    pub fn some_until(&self, last: u64) -> impl Iterator<Item = u64> {
        let many = match &self.steps {
            Steps::Few(_) => None,
            Steps::Many(many) => Some(many),
        };
        let all = self.few().iter().rev().chain(many.into_iter().flat_map(|many| many.iter()));
        all.copied().take_while(move |&step| step <= last).take(FEW_MAX)
    }

    fn few(&self) -> &[u64] {
        match &self.steps {
            Steps::Few(few) => few,
            Steps::Many(_) => &[],
        }
    }

    /// A page moves, from a rung to a rung; 0 is below all.
    pub fn climb(&mut self, number: u32, before: u16, after: u16) {
        if before > 0 {
            self.steps.remove(step(before, number));
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
        fn a_ladder_shows_the_best_of_those_that_stand_on_it_be_they_few_or_many(
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
