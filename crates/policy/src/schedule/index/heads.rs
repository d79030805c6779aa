//! The best step of each site's ladder, in the order of steps.

use std::collections::BTreeSet;

/// Steps that come and go while many sites are attended to are noted, and put in their order all together: neighbours
/// then share the way through memory. Whoever asks must have settled before.
#[derive(Clone, Debug, Default)]
pub(super) struct Heads {
    steps: BTreeSet<u64>,
    come: Vec<u64>,
    gone: Vec<u64>,
}

impl Heads {
    /// The steps at or after one, best first.
    pub fn from(&self, step: u64) -> impl Iterator<Item = u64> {
        self.steps.range(step..).copied()
    }

    /// A site's best step is another one, at once.
    pub fn turn(&mut self, [gone, come]: [Option<u64>; 2]) {
        gone.map(|step| self.steps.remove(&step));
        come.map(|step| self.steps.insert(step));
    }

    /// The same, from when they are settled on.
    pub fn note(&mut self, [gone, come]: [Option<u64>; 2]) {
        self.gone.extend(gone);
        self.come.extend(come);
    }

    /// A step that came and went as often stays as it was.
    pub fn settle(&mut self) {
        self.gone.sort_unstable();
        self.come.sort_unstable();
        let (mut gone, mut come) = (self.gone.drain(..).peekable(), self.come.drain(..).peekable());
        loop {
            match (gone.peek().copied(), come.peek().copied()) {
                (Some(left), Some(new)) if left == new => {
                    gone.next();
                    come.next();
                }
                (Some(left), new) if new.is_none_or(|new| left < new) => {
                    self.steps.remove(&left);
                    gone.next();
                }
                (_, Some(new)) => {
                    self.steps.insert(new);
                    come.next();
                }
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each of five ladders shows one step or none at a time.
        #[test]
        fn noted_steps_stand_as_if_each_had_been_put_at_once(
            turns in prop::collection::vec((0usize..5, prop::option::of(1u64..4)), 0..60),
        ) {
            let (mut noted, mut at_once) = (Heads::default(), Heads::default());
            let mut shown = [None; 5];
            for (turn, &(ladder, step)) in turns.iter().enumerate() {
                let now = step.map(|step| step * 5 + ladder as u64);
                let before = std::mem::replace(&mut shown[ladder], now);
                if before != now {
                    noted.note([before, now]);
                    at_once.turn([before, now]);
                }
                if turn % 7 == 6 {
                    noted.settle();
                    prop_assert_eq!(&noted.steps, &at_once.steps);
                }
            }
            noted.settle();
            prop_assert_eq!(noted.from(7).collect::<Vec<_>>(), at_once.from(7).collect::<Vec<_>>());
        }
    }
}
