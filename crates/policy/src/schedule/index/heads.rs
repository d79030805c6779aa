//! The best step of each site's ladder, in the order of steps.

use std::collections::BTreeSet;

/// When more than one step in so many comes or goes, all are put in order anew: one walk through memory, and not one for each.
const MANY_OVER: usize = 4;

/// Steps that come and go while many sites are attended to are noted, and put in their order all together. Whoever asks must
/// have settled before.
///
/// Most steps that come while pages are drawn lie behind all that are drawn. So there is a horizon, which is where the last
/// draw ended: what comes or goes beyond it is noted as well, and nobody waits for memory to put it in its place.
#[derive(Clone, Debug)]
pub(super) struct Heads {
    /// True up to the horizon.
    steps: BTreeSet<u64>,
    noted: Turns,
    horizon: u64,
    beyond: Turns,
    /// The last step that anybody asked for since all were put in order.
    furthest: u64,
}

/// Steps that went, and steps that came.
#[derive(Clone, Debug, Default)]
struct Turns {
    gone: Vec<u64>,
    come: Vec<u64>,
}

impl Default for Heads {
    fn default() -> Self {
        Heads {
            steps: BTreeSet::new(),
            noted: Turns::default(),
            horizon: u64::MAX,
            beyond: Turns::default(),
            furthest: 0,
        }
    }
}

impl Heads {
    /// The best step at or after one.
    pub fn first_from(&mut self, step: u64) -> Option<u64> {
        let mut first = self.likely_from(step).next();
        if first.is_none_or(|first| first >= self.horizon) {
            self.put_in_order();
            self.horizon = u64::MAX;
            first = self.likely_from(step).next();
        }
        self.furthest = self.furthest.max(first.unwrap_or(0));
        first
    }

    /// Steps at or after one, best first; beyond the horizon some of them may have gone and others come.
    pub fn likely_from(&self, step: u64) -> impl Iterator<Item = u64> {
        self.steps.range(step..).copied()
    }

    /// A site's best step is another one, at once.
    pub fn turn(&mut self, [gone, come]: [Option<u64>; 2]) {
        gone.into_iter().for_each(|step| self.remove(step));
        come.into_iter().for_each(|step| self.insert(step));
    }

    /// The same, from when they are settled on.
    pub fn note(&mut self, [gone, come]: [Option<u64>; 2]) {
        self.noted.gone.extend(gone);
        self.noted.come.extend(come);
    }

    /// Lets what was noted stand.
    pub fn settle(&mut self) {
        if self.is_many(self.noted.len()) {
            return self.put_in_order();
        }
        let mut noted = std::mem::take(&mut self.noted);
        noted.sort();
        noted.gone.drain(..).for_each(|step| self.remove(step));
        noted.come.drain(..).for_each(|step| self.insert(step));
        self.noted = noted;
    }

    /// The same before pages are drawn; likely they are drawn from as far as the last ones were.
    pub fn settle_for_drawing(&mut self) {
        self.put_in_order();
        self.horizon = match std::mem::take(&mut self.furthest) {
            0 => u64::MAX,
            furthest => end_of_rung(furthest),
        };
    }

    /// Lets everything stand, beyond the horizon as well.
    fn put_in_order(&mut self) {
        let mut turns = std::mem::take(&mut self.noted);
        turns.gone.append(&mut self.beyond.gone);
        turns.come.append(&mut self.beyond.come);
        turns.sort();
        if self.is_many(turns.len()) {
            let mut gone = turns.gone.drain(..).peekable();
            let stays = |step: &u64| {
                while gone.next_if(|gone| gone < step).is_some() {}
                gone.next_if_eq(step).is_none()
            };
            // A set is made of two rows that are sorted each by one walk along both.
            let stayed = std::mem::take(&mut self.steps).into_iter().filter(stays);
            self.steps = stayed.collect::<Vec<u64>>().into_iter().chain(turns.come.drain(..)).collect();
            drop(gone);
        } else {
            for step in turns.gone.drain(..) {
                self.steps.remove(&step);
            }
            self.steps.extend(turns.come.drain(..));
        }
        self.noted = turns;
    }

    fn is_many(&self, turns: usize) -> bool {
        turns * MANY_OVER > self.steps.len()
    }

    fn insert(&mut self, step: u64) {
        if step < self.horizon {
            self.steps.insert(step);
        } else {
            self.beyond.come.push(step);
        }
    }

    fn remove(&mut self, step: u64) {
        if step < self.horizon {
            self.steps.remove(&step);
        } else {
            self.beyond.gone.push(step);
        }
    }
}

impl Turns {
    fn len(&self) -> usize {
        self.gone.len() + self.come.len()
    }

    /// Puts them in order; a step that came and went as often stays as it was, and is left out.
    fn sort(&mut self) {
        self.gone.sort_unstable();
        self.come.sort_unstable();
        let (mut kept, mut from) = (0, 0);
        let come = &mut self.come;
        self.gone.retain(|&gone| {
            while come.get(from).is_some_and(|&come| come < gone) {
                come[kept] = come[from];
                (kept, from) = (kept + 1, from + 1);
            }
            let came = come.get(from) == Some(&gone);
            from += usize::from(came);
            !came
        });
        come.drain(kept..from);
    }
}

/// The first step of the rung below.
fn end_of_rung(step: u64) -> u64 {
    ((step >> 32) + 1) << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LADDERS: u64 = 5;

    /// What the ladder shows from now on, whether it is settled by notes, and after that from where somebody asks, or draws anew.
    type Turn = (u64, Option<u64>, bool, Option<u64>, bool);

    fn turns() -> impl Strategy<Value = Vec<Turn>> {
        let asked = || prop::option::weighted(0.3, 0u64..5);
        let turn = (0..LADDERS, prop::option::of(1u64..5), any::<bool>(), asked(), prop::bool::weighted(0.2));
        prop::collection::vec(turn, 0..80)
    }

    proptest! {
        /// Each of five ladders shows one step or none at a time, on one of four rungs.
        #[test]
        fn steps_stand_as_if_each_had_been_put_at_once(turns in turns(), others in 0u64..60) {
            // Others that stay behind make what comes and goes few among many.
            let others = (0..others).map(|other| 9 << 32 | other);
            let (mut heads, mut at_once): (Heads, BTreeSet<u64>) = (Heads::default(), others.clone().collect());
            others.for_each(|step| heads.turn([None, Some(step)]));
            let mut shown = [None; LADDERS as usize];
            for (ladder, rung, is_noted, asked, draws_anew) in turns {
                let now = rung.map(|rung| rung << 32 | ladder);
                let before = std::mem::replace(&mut shown[ladder as usize], now);
                if before != now {
                    before.map(|step| at_once.remove(&step));
                    now.map(|step| at_once.insert(step));
                    match is_noted {
                        true => heads.note([before, now]),
                        false => heads.turn([before, now]),
                    }
                }
                if is_noted {
                    heads.settle();
                }
                if draws_anew {
                    heads.settle_for_drawing();
                }
                if let Some(from) = asked.map(|rung| rung << 32) {
                    prop_assert_eq!(heads.first_from(from), at_once.range(from..).next().copied());
                }
            }
            heads.settle_for_drawing();
            prop_assert_eq!(&heads.steps, &at_once);
        }

        /// Many are noted before they are settled.
        #[test]
        fn a_step_that_came_and_went_as_often_stays_as_it_was(
            rungs in prop::collection::vec((0..LADDERS, prop::option::of(1u64..4)), 0..60),
        ) {
            let (mut heads, mut shown) = (Heads::default(), [None; LADDERS as usize]);
            for (turn, &(ladder, rung)) in rungs.iter().enumerate() {
                let now = rung.map(|rung| rung << 32 | ladder);
                let before = std::mem::replace(&mut shown[ladder as usize], now);
                if before != now {
                    heads.note([before, now]);
                }
                if turn % 7 == 6 {
                    heads.settle();
                    let standing: BTreeSet<u64> = shown.into_iter().flatten().collect();
                    prop_assert_eq!(&heads.steps, &standing);
                }
            }
        }
    }

    #[test]
    fn what_lies_beyond_the_last_draw_is_put_in_its_place_later() {
        let mut heads = Heads::default();
        (1..100).for_each(|rung| heads.turn([None, Some(rung << 32)]));
        heads.settle_for_drawing();
        assert_eq!(heads.first_from(0), Some(1 << 32));
        heads.settle_for_drawing();
        heads.turn([Some(1 << 32), Some(2 << 32 | 7)]);
        assert_eq!((heads.steps.len(), heads.beyond.come.len()), (98, 1));
        heads.turn([None, Some(1 << 32 | 7)]);
        assert_eq!(heads.first_from(0), Some(1 << 32 | 7));
        assert_eq!(heads.first_from(2 << 32 | 1), Some(2 << 32 | 7));
        assert!(heads.beyond.come.is_empty());
    }
}
