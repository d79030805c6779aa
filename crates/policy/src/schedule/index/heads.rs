//! The best step of each site's ladder, in the order of steps.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// When more than one step in so many has come or gone since a stretch was put in order, that is done anew: one walk through
/// memory, and not one for each.
const MANY_OVER: usize = 4;
/// A stretch is not put in order anew for fewer than this.
const MANY_MIN: usize = 64;
/// A rung with more steps than this for each of its stretches is cut into so many times as many.
const STRETCH_STEPS_MAX: usize = 4_096;
const CUT_IN: usize = 4;

/// Steps are kept by their rungs, and there by stretches of places, each with its site. What comes to a stretch or goes from it is noted there, and
/// finds its place when somebody asks for that stretch: pages are drawn from the first stretches of the best rungs alone, and
/// nobody waits for memory to keep the others in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Heads {
    /// Best first. The upper half of a step is its rung, and the lower one its place there.
    rungs: BTreeMap<u32, Rung>,
}

#[derive(Clone, Debug)]
struct Rung {
    /// Each holds as many places as another; one, where few steps stand.
    stretches: Vec<Stretch>,
    /// So many of the first of them are empty.
    empty: usize,
    standing: usize,
}

#[derive(Clone, Debug, Default)]
struct Stretch {
    /// As they stood when they were last put in order, last first, so that who is drawn goes from the end.
    row: Vec<Spot>,
    /// Who came and who went since then; few beside the row, so that they lie near.
    late: BTreeSet<Spot>,
    left: BTreeSet<Spot>,
    /// The same since somebody asked.
    noted: Turns,
}

/// Steps of a stretch that went, and steps that came.
#[derive(Clone, Debug, Default)]
struct Turns {
    gone: Vec<Spot>,
    come: Vec<Spot>,
}

/// A place on a rung, and in the lower half the site whose best step stands there.
type Spot = u64;

impl Heads {
    /// The best step at or after one.
    pub fn first_from(&mut self, step: u64) -> Option<u64> {
        let (mut from, mut place) = parts(step);
        loop {
            let (&rung, steps) = self.rungs.range_mut(from..).next()?;
            // Of a rung after the one that was asked for all places count.
            if let Some(first) = steps.first_from(if rung == from { place } else { 0 }) {
                return Some(step_of(rung, place_of(first)));
            }
            if steps.standing == 0 {
                self.rungs.remove(&rung);
            }
            (from, place) = (rung + 1, 0);
        }
    }

    /// Steps at or after one, best first; where nobody asked yet some of them may have gone and others come.
    pub fn likely_from(&self, step: u64) -> impl Iterator<Item = u64> {
        let (from, place) = parts(step);
        self.rungs.range(from..).flat_map(move |(&rung, steps)| {
            let spots = steps.spots_from(if rung == from { place } else { 0 });
            spots.map(move |spot| step_of(rung, place_of(spot)))
        })
    }

    /// How many steps stand on the rung of this one.
    pub fn standing_with(&self, step: u64) -> usize {
        self.rungs.get(&parts(step).0).map_or(0, |steps| steps.standing)
    }

    /// Takes out the best steps of one rung at or after this one, at most so many: the last of them, and their sites.
    pub fn take_from(&mut self, step: u64, most: usize) -> Option<(u64, Vec<u32>)> {
        let (rung, place) = parts(step);
        let taken = self.rungs.get_mut(&rung)?.take_from(place, most);
        let last = step_of(rung, place_of(*taken.last()?));
        Some((last, taken.into_iter().map(|spot| spot as u32).collect()))
    }

    /// A site's best step is another one.
    pub fn turn(&mut self, site: u32, [gone, come]: [Option<u64>; 2]) {
        if let Some((rung, place)) = gone.map(parts) {
            self.rungs.entry(rung).or_default().lose(spot_of(place, site));
        }
        if let Some((rung, place)) = come.map(parts) {
            self.rungs.entry(rung).or_default().gain(spot_of(place, site));
        }
    }
}

impl Default for Rung {
    fn default() -> Self {
        Rung { stretches: vec![Stretch::default()], empty: 0, standing: 0 }
    }
}

impl Rung {
    fn stretch_of(&self, place: u32) -> usize {
        ((u64::from(place) * self.stretches.len() as u64) >> u32::BITS) as usize
    }

    fn lose(&mut self, spot: Spot) {
        let stretch = self.stretch_of(place_of(spot));
        self.standing -= 1;
        self.stretches[stretch].noted.gone.push(spot);
        self.stretches[stretch].tidy();
    }

    fn gain(&mut self, spot: Spot) {
        self.standing += 1;
        if self.standing > STRETCH_STEPS_MAX * self.stretches.len() {
            self.cut();
        }
        let stretch = self.stretch_of(place_of(spot));
        self.empty = self.empty.min(stretch);
        self.stretches[stretch].noted.come.push(spot);
        self.stretches[stretch].tidy();
    }

    fn cut(&mut self) {
        self.empty = 0;
        let stretches = vec![Stretch::default(); self.stretches.len() * CUT_IN];
        for mut stretch in std::mem::replace(&mut self.stretches, stretches) {
            stretch.put_in_order();
            for spot in stretch.row {
                let shorter = self.stretch_of(place_of(spot));
                self.stretches[shorter].row.push(spot);
            }
        }
    }

    /// The first spot at or after a place.
    fn first_from(&mut self, place: u32) -> Option<Spot> {
        while let Some(stretch) = self.stretches.get_mut(self.empty) {
            stretch.settle();
            if !stretch.is_empty() {
                break;
            }
            self.empty += 1;
        }
        let from = self.stretch_of(place).max(self.empty);
        self.stretches[from..].iter_mut().find_map(|stretch| {
            stretch.settle();
            stretch.spots_from(place).next()
        })
    }

    /// Takes out the spots at or after a place, at most so many.
    fn take_from(&mut self, place: u32, most: usize) -> Vec<Spot> {
        let from = self.stretch_of(place).max(self.empty);
        let mut taken = Vec::with_capacity(most.min(self.standing));
        for stretch in &mut self.stretches[from..] {
            stretch.put_in_order();
            let until = stretch.row.partition_point(|&spot| place_of(spot) >= place);
            let some = until - (most - taken.len()).min(until)..until;
            taken.extend(stretch.row.drain(some).rev());
            if taken.len() == most {
                break;
            }
        }
        self.standing -= taken.len();
        taken
    }

    fn spots_from(&self, place: u32) -> impl Iterator<Item = Spot> {
        let from = self.stretch_of(place).max(self.empty);
        self.stretches[from..].iter().flat_map(move |stretch| stretch.spots_from(place))
    }
}

impl Stretch {
    /// Where nothing is noted.
    fn is_empty(&self) -> bool {
        self.row.is_empty() && self.late.is_empty()
    }

    /// Spots at or after a place, in order; those that were settled.
    fn spots_from(&self, place: u32) -> impl Iterator<Item = Spot> {
        let from = spot_of(place, 0);
        let until = match self.row.last() {
            Some(&first) if first >= from => self.row.len(),
            _ => self.row.partition_point(|&other| other >= from),
        };
        let stays = |spot: &Spot| self.left.is_empty() || !self.left.contains(spot);
        let mut row = self.row[..until].iter().rev().copied().filter(stays).peekable();
        let mut late = self.late.range(from..).copied().peekable();
        std::iter::from_fn(move || match (row.peek(), late.peek()) {
            (Some(one), Some(other)) if one < other => row.next(),
            (Some(_), None) => row.next(),
            _ => late.next(),
        })
    }

    /// Where nobody asks, what is noted must not grow without end.
    fn tidy(&mut self) {
        if self.noted.len() > MANY_MIN + 2 * self.row.len() {
            self.settle();
        }
    }

    /// Lets what was noted stand.
    fn settle(&mut self) {
        if self.noted.len() == 0 {
            return;
        }
        let turned = self.noted.len() + self.late.len() + self.left.len();
        if turned > MANY_MIN && turned * MANY_OVER > self.row.len() {
            return self.put_in_order();
        }
        self.noted.sort();
        for spot in self.noted.gone.drain(..) {
            // Mostly it was the best.
            if self.row.last() == Some(&spot) {
                self.row.pop();
            } else if !self.late.remove(&spot) {
                self.left.insert(spot);
            }
        }
        for spot in self.noted.come.drain(..) {
            if !self.left.remove(&spot) {
                self.late.insert(spot);
            }
        }
        while self.row.last().is_some_and(|spot| self.left.remove(spot)) {
            self.row.pop();
        }
    }

    fn put_in_order(&mut self) {
        self.noted.gone.extend(std::mem::take(&mut self.left));
        self.noted.come.extend(std::mem::take(&mut self.late));
        self.noted.sort();
        let mut gone = self.noted.gone.drain(..).rev().peekable();
        self.row.retain(|spot| {
            while gone.next_if(|gone| gone > spot).is_some() {}
            gone.next_if_eq(spot).is_none()
        });
        drop(gone);
        self.row.extend(self.noted.come.drain(..).rev());
        // Two rows that are sorted each, which one walk along both makes one.
        self.row.sort_by_key(|&spot| Reverse(spot));
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

/// The rung of a step, and its place there.
fn parts(step: u64) -> (u32, u32) {
    ((step >> 32) as u32, step as u32)
}

fn step_of(rung: u32, place: u32) -> u64 {
    u64::from(rung) << 32 | u64::from(place)
}

fn spot_of(place: u32, site: u32) -> Spot {
    u64::from(place) << 32 | u64::from(site)
}

fn place_of(spot: Spot) -> u32 {
    (spot >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use vernal_model::Chance;

    const LADDERS: u64 = 5;

    /// What the ladder shows from now on, and after that from where somebody asks.
    type Turn = (u64, Option<u64>, Option<u64>);

    fn turns() -> impl Strategy<Value = Vec<Turn>> {
        let turn = (0..LADDERS, prop::option::of(1u64..5), prop::option::weighted(0.3, 0u64..5));
        prop::collection::vec(turn, 0..80)
    }

    fn all(heads: &mut Heads) -> BTreeSet<u64> {
        let mut from = 0;
        let next = || heads.first_from(from).inspect(|step| from = step + 1);
        std::iter::from_fn(next).collect()
    }

    fn noted(heads: &Heads, rung: u32) -> usize {
        heads.rungs[&rung].stretches.iter().map(|stretch| stretch.noted.len()).sum()
    }

    proptest! {
        /// Each of five ladders shows one step or none at a time, on one of four rungs.
        #[test]
        fn steps_stand_as_if_each_had_been_put_at_once(turns in turns(), others in 0u64..600, far in 2u64..10) {
            // Others that stay behind, or stand on one of the rungs, make what comes and goes few among many.
            let others = (0..others).map(|other| step_of(far as u32, (LADDERS + other) as u32));
            let (mut heads, mut at_once): (Heads, BTreeSet<u64>) = (Heads::default(), others.clone().collect());
            others.for_each(|step| heads.turn(0, [None, Some(step)]));
            let mut shown = [None; LADDERS as usize];
            for (ladder, rung, asked) in turns {
                let now = rung.map(|rung| rung << 32 | ladder);
                let before = std::mem::replace(&mut shown[ladder as usize], now);
                if before != now {
                    before.map(|step| at_once.remove(&step));
                    now.map(|step| at_once.insert(step));
                    heads.turn(0, [before, now]);
                }
                for from in asked.into_iter().flat_map(|rung| [rung << 32, rung << 32 | 3]) {
                    let first = heads.first_from(from);
                    prop_assert_eq!(first, at_once.range(from..).next().copied());
                    prop_assert_eq!(first, first.and_then(|_| heads.likely_from(from).next()));
                }
            }
            prop_assert_eq!(all(&mut heads), at_once);
        }

        /// Many are noted before anybody asks.
        #[test]
        fn a_step_that_came_and_went_as_often_stays_as_it_was(
            rungs in prop::collection::vec((0..LADDERS, prop::option::of(1u64..4)), 0..60),
        ) {
            let (mut heads, mut shown) = (Heads::default(), [None; LADDERS as usize]);
            for (turn, &(ladder, rung)) in rungs.iter().enumerate() {
                let now = rung.map(|rung| rung << 32 | ladder);
                let before = std::mem::replace(&mut shown[ladder as usize], now);
                if before != now {
                    heads.turn(0, [before, now]);
                }
                if turn % 7 == 6 {
                    let standing: BTreeSet<u64> = shown.into_iter().flatten().collect();
                    prop_assert_eq!(all(&mut heads), standing);
                }
            }
        }
    }

    #[test]
    fn many_steps_of_a_rung_are_cut_into_stretches_and_stand_as_before() {
        let (mut heads, mut at_once, mut chance) = (Heads::default(), BTreeSet::new(), Chance::new(1));
        for turn in 0..8 * STRETCH_STEPS_MAX as u64 {
            let come = step_of(7, chance.below(1 << 32) as u32);
            if at_once.insert(come) {
                heads.turn(0, [None, Some(come)]);
            }
            // One in three goes again, and now and then somebody asks.
            if turn % 3 == 0 {
                let from = step_of(7, chance.below(1 << 32) as u32);
                let gone = at_once.range(from..).next().copied();
                gone.map(|step| at_once.remove(&step));
                heads.turn(0, [gone, None]);
            }
            if turn % 1_000 == 0 {
                let from = step_of(7, chance.below(1 << 32) as u32);
                assert_eq!(heads.first_from(from), at_once.range(from..).next().copied());
                assert_eq!(heads.first_from(0), at_once.first().copied());
            }
        }
        assert!(heads.rungs[&7].stretches.len() > 1);
        // Drawn from the first on; when half of them have gone, others come who stand before all that are left.
        let (half, mut others) = (at_once.len() / 2, 1_000);
        while let Some(first) = at_once.pop_first() {
            assert_eq!(heads.first_from(0), Some(first));
            let comes = at_once.len() < half && others > 0;
            others -= u32::from(comes);
            let come = comes.then(|| step_of(7, chance.below(1 << 31) as u32));
            let come = come.filter(|&come| at_once.insert(come));
            heads.turn(0, [Some(first), come]);
        }
        assert_eq!((heads.first_from(0), heads.rungs.len()), (None, 0));
    }

    #[test]
    fn what_comes_to_a_rung_is_put_in_its_place_when_somebody_asks_for_that_rung() {
        let mut heads = Heads::default();
        (1..100).for_each(|rung| heads.turn(0, [None, Some(rung << 32)]));
        assert_eq!(heads.first_from(0), Some(1 << 32));
        assert_eq!((noted(&heads, 1), noted(&heads, 2)), (0, 1));
        heads.turn(0, [Some(1 << 32), Some(1 << 32 | 7)]);
        assert_eq!(heads.first_from(0), Some(1 << 32 | 7));
        heads.turn(0, [Some(1 << 32 | 7), Some(2 << 32 | 7)]);
        assert_eq!(heads.first_from(0), Some(2 << 32));
        assert_eq!(heads.first_from(2 << 32 | 1), Some(2 << 32 | 7));
        assert!(!heads.rungs.contains_key(&1) && noted(&heads, 3) == 1);
    }

    #[test]
    fn what_comes_and_goes_where_nobody_asks_does_not_pile_up() {
        let mut heads = Heads::default();
        heads.turn(0, [None, Some(1)]);
        for place in 1..1_000 {
            heads.turn(0, [Some(place), Some(place + 1)]);
            assert!(noted(&heads, 0) <= MANY_MIN + 2);
        }
        assert_eq!(all(&mut heads), BTreeSet::from([1_000]));
    }
}
