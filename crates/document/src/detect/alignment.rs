//! Aligns the paragraphs of two versions: those that stayed in order, and those that moved.
//!
//! Common beginnings and ends first, then the longest increasing run of paragraphs that occur once on each side
//! (patience), then, between those, an exact longest common subsequence while it is small. Where it is not small the
//! rest is matched by digest alone, in order of occurrence. Cost: n log n, plus at most `CELLS_MAX` cells per gap, and never
//! more than `STEPS_MAX`.

use std::ops::Range;

use super::digest_map::DigestMap;
use crate::diff::{STEPS_MAX, Steps};

/// The largest table of the exact method; about a quarter of a millisecond.
const CELLS_MAX: usize = 250_000;

/// Up to so many pairs of removed and added paragraphs are compared one by one, because a map would take longer.
const PAIRS_TRIED_MAX: usize = 512;

/// The fate of each paragraph, by index.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    /// For each old paragraph, the new place of the one that stayed.
    pub stayed: Vec<Option<usize>>,
    /// Old and new place of each that moved, in new order.
    pub moved: Vec<(usize, usize)>,
    pub removed: Vec<usize>,
    pub added: Vec<usize>,
}

pub fn align(old: &[u64], new: &[u64]) -> Alignment {
    align_within(old, new, &mut Steps::new(STEPS_MAX))
}

pub fn align_within(old: &[u64], new: &[u64], steps: &mut Steps) -> Alignment {
    let stayed = in_order(old, new, steps);
    let mut alignment = Alignment { stayed, ..Alignment::default() };
    meet_the_rest(old, new, &mut alignment);
    alignment
}

/// For each old item, the new place of the one that stayed. When the steps are used up, fewer stay than could.
pub fn in_order(old: &[u64], new: &[u64], steps: &mut Steps) -> Vec<Option<usize>> {
    let mut stayed = vec![None; old.len()];
    let mut waiting = vec![(0..old.len(), 0..new.len())];
    while let Some((old_range, new_range)) = waiting.pop() {
        if steps.spend(old_range.len() + new_range.len()) {
            split(old, new, old_range, new_range, &mut stayed, &mut waiting, steps);
        }
    }
    stayed
}

type Gap = (Range<usize>, Range<usize>);

/// Settles what can be settled in one gap and leaves the smaller gaps in `waiting`.
fn split(
    old: &[u64],
    new: &[u64],
    mut a: Range<usize>,
    mut b: Range<usize>,
    stayed: &mut [Option<usize>],
    waiting: &mut Vec<Gap>,
    steps: &mut Steps,
) {
    while !a.is_empty() && !b.is_empty() && old[a.start] == new[b.start] {
        stayed[a.start] = Some(b.start);
        a.start += 1;
        b.start += 1;
    }
    while !a.is_empty() && !b.is_empty() && old[a.end - 1] == new[b.end - 1] {
        a.end -= 1;
        b.end -= 1;
        stayed[a.end] = Some(b.end);
    }
    if a.is_empty() || b.is_empty() {
        return;
    }
    if a.len() == 1 || b.len() == 1 {
        // A single paragraph matches the first of its equals. Both methods below would find the same.
        let pair = a.clone().find_map(|x| b.clone().find(|&y| old[x] == new[y]).map(|y| (x, y)));
        pair.into_iter().for_each(|(x, y)| stayed[x] = Some(y));
        return;
    }
    let anchors = unique_in_order(old, new, &a, &b);
    if anchors.is_empty() {
        if a.len() * b.len() <= CELLS_MAX && steps.spend(a.len() * b.len()) {
            exact(old, new, a, b, stayed);
        }
        return;
    }
    for &(x, y) in &anchors {
        stayed[x] = Some(y);
        // Most equals are neighbours.
        if (a.start, b.start) != (x, y) {
            waiting.push((a.start..x, b.start..y));
        }
        (a.start, b.start) = (x + 1, y + 1);
    }
    waiting.push((a, b));
}

/// Paragraphs that occur once in each range, reduced to the longest run that is in order on both sides.
fn unique_in_order(old: &[u64], new: &[u64], a: &Range<usize>, b: &Range<usize>) -> Vec<(usize, usize)> {
    #[derive(Copy, Clone, Default)]
    struct Presence {
        old: u32,
        new: u32,
        place: usize,
    }
    let range = &old[a.clone()];
    let mut firsts = FirstEquals::with_room_for(range.len());
    // By the first of its equals in the old range.
    let mut seen = vec![Presence::default(); range.len()];
    for place in 0..range.len() {
        seen[firsts.of(range, place)].old += 1;
    }
    for place in b.clone() {
        if let Some(first) = firsts.find(range, new[place]) {
            seen[first].new += 1;
            seen[first].place = place;
        }
    }
    let is_unique = |(_, seen): &(usize, &Presence)| seen.old == 1 && seen.new == 1;
    let mut unique = Vec::with_capacity(range.len());
    unique.extend(seen.iter().enumerate().filter(is_unique).map(|(place, seen)| (a.start + place, seen.place)));
    // Paragraphs seldom move.
    if unique.is_sorted_by_key(|pair| pair.1) { unique } else { longest_increasing(&unique) }
}

/// Finds the first of equal items in a list that is processed once. It does less than a map.
struct FirstEquals {
    /// Indices in the list, from 1; 0 is free.
    slots: Vec<u32>,
    shift: u32,
}

impl FirstEquals {
    fn with_room_for(items: usize) -> Self {
        let slots = (items * 2).next_power_of_two().max(2);
        FirstEquals { slots: vec![0; slots], shift: 64 - slots.ilog2() }
    }

    /// The first item equal to the one at this index. A new item is remembered.
    fn of(&mut self, items: &[u64], place: usize) -> usize {
        let slot = self.slot(items, items[place]);
        if self.slots[slot] == 0 {
            self.slots[slot] = place as u32 + 1;
        }
        self.slots[slot] as usize - 1
    }

    fn find(&self, items: &[u64], item: u64) -> Option<usize> {
        (self.slots[self.slot(items, item)] as usize).checked_sub(1)
    }

    /// The slot of the item, or the free slot for it. Half of the slots are free, so the probe ends.
    fn slot(&self, items: &[u64], item: u64) -> usize {
        // Tests use consecutive numbers, so the bits are mixed.
        let mut slot = (item.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize;
        while self.slots[slot] != 0 && items[self.slots[slot] as usize - 1] != item {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }
}

/// The longest subsequence whose second places increase; the first ones do already.
pub fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // ends[k] is the index of the pair that ends the best run of length k + 1.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(index);
        } else {
            ends[length] = index;
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        run.push(pairs[index]);
        next = before[index];
    }
    run.reverse();
    run
}

/// The longest common subsequence by dynamic programming.
fn exact(old: &[u64], new: &[u64], a: Range<usize>, b: Range<usize>, stayed: &mut [Option<usize>]) {
    let width = b.len() + 1;
    let mut table = vec![0u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i * width + j] = if old[a.start + i] == new[b.start + j] {
                table[(i + 1) * width + j + 1] + 1
            } else {
                table[(i + 1) * width + j].max(table[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if old[a.start + i] == new[b.start + j] {
            stayed[a.start + i] = Some(b.start + j);
            (i, j) = (i + 1, j + 1);
        } else if table[(i + 1) * width + j] >= table[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
}

/// Of the paragraphs that did not stay, equal digests moved, each counted once. The others were added or removed.
fn meet_the_rest(old: &[u64], new: &[u64], alignment: &mut Alignment) {
    let Alignment { stayed, moved, removed, added } = alignment;
    removed.extend((0..old.len()).filter(|&place| stayed[place].is_none()));
    let mut next = 0;
    for place in stayed.iter().flatten().copied().chain([new.len()]) {
        added.extend(next..place);
        next = place + 1;
    }
    if removed.is_empty() || added.is_empty() {
        return;
    }
    let mut gone = vec![false; removed.len()];
    let is_small = removed.len() * added.len() <= PAIRS_TRIED_MAX;
    let mut waiting = if is_small { Unpaired::default() } else { Unpaired::of(old, removed) };
    added.retain(|&place| {
        let equal = match is_small {
            true => (0..gone.len()).find(|&index| !gone[index] && old[removed[index]] == new[place]),
            false => waiting.take(new[place]),
        };
        if let Some(index) = equal {
            gone[index] = true;
            moved.push((removed[index], place));
        }
        equal.is_none()
    });
    if !moved.is_empty() {
        let mut gone = gone.into_iter();
        removed.retain(|_| !gone.next().unwrap_or_default());
    }
}

/// The removed paragraphs by digest, the first of equals first.
#[derive(Default)]
struct Unpaired {
    first: DigestMap<Option<usize>>,
    /// For each the next one with the same digest.
    next: Vec<Option<usize>>,
}

impl Unpaired {
    fn of(old: &[u64], removed: &[usize]) -> Self {
        let mut waiting = Unpaired { first: DigestMap::default(), next: vec![None; removed.len()] };
        for (index, &place) in removed.iter().enumerate().rev() {
            waiting.next[index] = waiting.first.insert(old[place], Some(index)).flatten();
        }
        waiting
    }

    fn take(&mut self, digest: u64) -> Option<usize> {
        let left = self.first.get_mut(&digest)?;
        let index = left.take()?;
        *left = self.next[index];
        Some(index)
    }
}

/// For each item the number of items before it that stayed. Items with equal numbers are in the same gap.
pub fn gaps(stayed: impl Iterator<Item = bool>) -> Vec<usize> {
    stayed
        .scan(0, |count, stays| {
            let place = *count;
            *count += usize::from(stays);
            Some(place)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_swap_is_one_move() {
        let alignment = align(&[1, 2, 3, 4], &[1, 3, 2, 4]);
        assert_eq!(alignment.moved.len(), 1);
        assert!(alignment.added.is_empty() && alignment.removed.is_empty());
    }

    #[test]
    fn repeats_between_changes_are_no_moves() {
        // `7` is between all the others, as a "read more" is.
        let alignment = align(&[9, 1, 7, 2, 7, 3, 7, 5], &[8, 2, 7, 3, 7, 6]);
        assert!(alignment.moved.is_empty(), "{alignment:?}");
        assert_eq!(alignment.removed.len(), 4);
        assert_eq!(alignment.added.len(), 2);
    }

    /// Matches the paragraphs that did not stay, as the definition says.
    fn met(old: &[u64], new: &[u64], stayed: &[Option<usize>]) -> Vec<(usize, usize)> {
        let mut left: Vec<usize> = (0..old.len()).filter(|&place| stayed[place].is_none()).collect();
        let mut moved = Vec::new();
        for place in (0..new.len()).filter(|place| !stayed.contains(&Some(*place))) {
            if let Some(at) = left.iter().position(|&from| old[from] == new[place]) {
                moved.push((left.remove(at), place));
            }
        }
        moved
    }

    proptest! {
        #[test]
        fn few_and_many_are_met_in_order_of_occurrence(old in prop::collection::vec(0u64..40, 0..90), new in prop::collection::vec(0u64..40, 0..90)) {
            let alignment = align(&old, &new);
            prop_assert_eq!(&alignment.moved, &met(&old, &new, &alignment.stayed));
        }

        #[test]
        fn what_occurs_once_on_both_sides_is_found(old in prop::collection::vec(0u64..30, 0..40), new in prop::collection::vec(0u64..30, 0..40)) {
            let count = |items: &[u64], item: u64| items.iter().filter(|&&other| other == item).count();
            let is_unique = |item: u64| count(&old, item) == 1 && count(&new, item) == 1;
            let place = |item: u64| new.iter().position(|&other| other == item).unwrap();
            let unique: Vec<(usize, usize)> =
                (0..old.len()).filter(|&x| is_unique(old[x])).map(|x| (x, place(old[x]))).collect();
            prop_assert_eq!(
                unique_in_order(&old, &new, &(0..old.len()), &(0..new.len())),
                longest_increasing(&unique)
            );
        }

        #[test]
        fn every_paragraph_is_accounted_for_once(old in prop::collection::vec(0u64..12, 0..60), new in prop::collection::vec(0u64..12, 0..60)) {
            let alignment = align(&old, &new);
            let stayed: Vec<(usize, usize)> =
                alignment.stayed.iter().enumerate().filter_map(|(from, to)| to.map(|to| (from, to))).collect();
            prop_assert!(stayed.windows(2).all(|pair| pair[0].1 < pair[1].1));
            for &(from, to) in stayed.iter().chain(&alignment.moved) {
                prop_assert_eq!(old[from], new[to]);
            }
            let mut from: Vec<usize> = stayed.iter().chain(&alignment.moved).map(|pair| pair.0).chain(alignment.removed.iter().copied()).collect();
            let mut to: Vec<usize> = stayed.iter().chain(&alignment.moved).map(|pair| pair.1).chain(alignment.added.iter().copied()).collect();
            from.sort_unstable();
            to.sort_unstable();
            prop_assert_eq!(from, (0..old.len()).collect::<Vec<_>>());
            prop_assert_eq!(to, (0..new.len()).collect::<Vec<_>>());
        }
    }
}
