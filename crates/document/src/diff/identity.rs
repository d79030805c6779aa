//! Passes paragraph numbers on from version to version.
//!
//! A number belongs to one paragraph of a page for ever: it survives edits and moves, in a split the largest part keeps
//! it, in a merge that of the largest source stays, and the number of a removed paragraph is never reused, because `next` only
//! grows. Within a version each number occurs once. 0 means no number.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use vernal_model::{Operation, ParagraphChange, ParagraphMark, Role};

use crate::detect::alignment::{Alignment, align, gaps};

/// Gives every paragraph of the new version its number and writes the numbers into the operations, which are those that
/// `explain` gave for the two versions. Operations may be missing, as those of noise are: paragraphs without an operation are
/// matched by digest and place.
pub fn carry_ids(old: &[ParagraphMark], new: &mut [ParagraphMark], operations: &mut [ParagraphChange], next: &mut u32) {
    let mut origins: Vec<Option<usize>> = vec![None; new.len()];
    let mut named = Named { old: vec![false; old.len()], new: vec![false; new.len()] };
    for change in operations.iter() {
        let (position, from) = (change.position as usize, change.from.map(|from| from as usize));
        match change.operation {
            Operation::Removed => named.take_old(position),
            Operation::Added => named.take_new(position),
            _ => {
                if let (Some(slot), Some(from)) = (origins.get_mut(position), from) {
                    *slot = Some(from);
                }
                named.take_new(position);
                from.into_iter().for_each(|from| named.take_old(from));
            }
        }
        for &other in &change.others {
            match change.operation {
                Operation::Merged => named.take_old(other as usize),
                Operation::Split => named.take_new(other as usize),
                _ => {}
            }
        }
    }
    fill(old, new, &named, &mut origins);
    give(old, new, &origins, next);
    for change in operations {
        let marks = if change.operation == Operation::Removed { old } else { &*new };
        change.id = marks.get(change.position as usize).map_or(0, |mark| mark.id);
    }
}

/// Passes the numbers on when only the marks of the two versions are known. Paragraphs with equal digests are the same, in
/// place or moved. Between them, if as many of one role and template place were removed as were added, they were edited.
pub fn carry_ids_by_marks(old: &[ParagraphMark], new: &mut [ParagraphMark], next: &mut u32) {
    carry_ids(old, new, &mut [], next);
}

/// The paragraphs of an operation.
struct Named {
    old: Vec<bool>,
    new: Vec<bool>,
}

impl Named {
    fn take_old(&mut self, place: usize) {
        self.old.get_mut(place).into_iter().for_each(|named| *named = true);
    }

    fn take_new(&mut self, place: usize) {
        self.new.get_mut(place).into_iter().for_each(|named| *named = true);
    }
}

/// Finds the old index of every new paragraph without an operation.
fn fill(old: &[ParagraphMark], new: &[ParagraphMark], named: &Named, origins: &mut [Option<usize>]) {
    if old.is_empty() {
        return;
    }
    let free = |flags: &[bool]| -> Vec<usize> {
        let mut places = Vec::with_capacity(flags.len());
        places.extend((0..flags.len()).filter(|&place| !flags[place]));
        places
    };
    let (old_free, new_free) = (free(&named.old), free(&named.new));
    // When operations name all differences, the remaining paragraphs are equal on both sides.
    let same = |(&from, &to): (&usize, &usize)| old[from].digest == new[to].digest;
    if old_free.len() == new_free.len() && old_free.iter().zip(&new_free).all(same) {
        return old_free.into_iter().zip(new_free).for_each(|(from, to)| origins[to] = Some(from));
    }
    let digests = |marks: &[ParagraphMark], places: &[usize]| -> Vec<u64> {
        places.iter().map(|&place| marks[place].digest).collect()
    };
    let alignment = align(&digests(old, &old_free), &digests(new, &new_free));
    let stayed = alignment.stayed.iter().enumerate().filter_map(|(from, to)| Some((from, (*to)?)));
    for (from, to) in stayed.chain(alignment.moved.iter().copied()) {
        origins[new_free[to]] = Some(old_free[from]);
    }
    for (from, to) in pair_in_gaps(old, new, &old_free, &new_free, &alignment) {
        origins[to] = Some(from);
    }
}

/// Pairs removed with added paragraphs of the same gap where role and template place have equal counts.
fn pair_in_gaps(
    old: &[ParagraphMark],
    new: &[ParagraphMark],
    old_free: &[usize],
    new_free: &[usize],
    alignment: &Alignment,
) -> Vec<(usize, usize)> {
    type Kind = (usize, Role, u16);
    if alignment.removed.is_empty() || alignment.added.is_empty() {
        return Vec::new();
    }
    let mut stays = vec![false; new_free.len()];
    alignment.stayed.iter().flatten().for_each(|&place| stays[place] = true);
    let old_gaps = gaps(alignment.stayed.iter().map(Option::is_some));
    let new_gaps = gaps(stays.into_iter());
    let mut groups: HashMap<Kind, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for &index in &alignment.removed {
        let mark = old[old_free[index]];
        groups.entry((old_gaps[index], mark.role, mark.place)).or_default().0.push(old_free[index]);
    }
    for &index in &alignment.added {
        let mark = new[new_free[index]];
        if let Some(group) = groups.get_mut(&(new_gaps[index], mark.role, mark.place)) {
            group.1.push(new_free[index]);
        }
    }
    groups
        .into_values()
        .filter(|(went, came)| went.len() == came.len())
        .flat_map(|(w, c)| w.into_iter().zip(c))
        .collect()
}

/// Writes the numbers: the old number where it exists and is unused, otherwise a new one.
fn give(old: &[ParagraphMark], new: &mut [ParagraphMark], origins: &[Option<usize>], next: &mut u32) {
    let highest = old.iter().map(|mark| mark.id).max().unwrap_or(0);
    *next = (*next).max(highest.saturating_add(1));
    let mut taken = UsedNumbers::up_to(highest, new.len());
    for (mark, origin) in new.iter_mut().zip(origins) {
        let known = origin.and_then(|from| old.get(from)).map_or(0, |mark| mark.id);
        mark.id = if known != 0 && taken.insert(known) { known } else { fresh(next) };
    }
}

/// The used numbers.
enum UsedNumbers {
    /// A bit for each number; the numbers of most pages are small.
    Bits(Vec<u64>),
    Set(HashSet<u32>),
}

impl UsedNumbers {
    const BITS_MAX: u32 = 1 << 16;

    fn up_to(highest: u32, count: usize) -> Self {
        match highest {
            highest if highest < Self::BITS_MAX => UsedNumbers::Bits(vec![0; highest as usize / 64 + 1]),
            _ => UsedNumbers::Set(HashSet::with_capacity(count)),
        }
    }

    /// Marks a number as used. Returns whether it was unused.
    fn insert(&mut self, number: u32) -> bool {
        match self {
            UsedNumbers::Set(set) => set.insert(number),
            UsedNumbers::Bits(bits) => {
                let (word, bit) = (&mut bits[number as usize / 64], 1 << (number % 64));
                let is_free = *word & bit == 0;
                *word |= bit;
                is_free
            }
        }
    }
}

/// The next number; `None` when all four billion are used.
fn fresh(next: &mut u32) -> u32 {
    if *next == u32::MAX {
        return 0;
    }
    let id = (*next).max(1);
    *next = id + 1;
    id
}
