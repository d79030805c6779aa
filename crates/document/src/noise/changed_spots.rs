//! The operations of a change as places of the page: the old text, the new text, and the anchor, which is the paragraph before
//! them that stays.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::HashMap;

use vernal_model::{Change, Document, Operation, ParagraphChange, ParagraphMark, Role};
use xxhash_rust::xxh3::xxh3_64;

use super::shape::words;
use crate::detect::digest_map::DigestMap;

/// So many added paragraphs are tried for a removed one.
const TRIED_MAX: usize = 16;

/// One place of the page that differs.
#[derive(Clone, Debug)]
pub(super) struct Spot<'a> {
    /// The operations of this place, by their indices in the change.
    pub operations: Vec<usize>,
    pub before: Side<'a>,
    pub after: Side<'a>,
    pub role: Role,
    pub place: u16,
    /// The digest of the last paragraph before it that stays; 0 is the beginning of the page.
    pub anchor: u64,
    /// Its index among the new paragraphs.
    pub anchor_at: Option<usize>,
}

/// One version of a spot.
#[derive(Clone, Debug, Default)]
pub(super) struct Side<'a> {
    /// 0 where there is no paragraph, or it is not known.
    pub digest: u64,
    pub text: Option<Cow<'a, str>>,
    /// The distance from the anchor in paragraphs, from 1; 0 where there is no paragraph.
    pub offset: u16,
    /// The anchor and place of this side. A moved paragraph has two.
    pub anchor: u64,
    pub place: u16,
    /// The distance to the end of the list that contains this item, if most of the list varies; otherwise 0.
    pub list_end: u16,
}

impl Spot<'_> {
    pub fn is_pair(&self) -> bool {
        self.before.offset > 0 && self.after.offset > 0
    }

    /// The distance from the anchor, if it comes after it.
    pub fn reach(&self) -> u16 {
        self.farthest(|side| side.offset)
    }

    /// The distance from the anchor to the end of the list that may vary with it.
    pub fn whole_reach(&self) -> u16 {
        self.farthest(|side| side.offset.max(side.list_end))
    }

    fn farthest(&self, reach: impl Fn(&Side<'_>) -> u16) -> u16 {
        let here = |side: &Side<'_>| if self.is_here(side) { reach(side) } else { 0 };
        here(&self.before).max(here(&self.after))
    }

    /// Whether this side is at the place of the spot, or there is no paragraph.
    pub fn is_here(&self, side: &Side<'_>) -> bool {
        side.offset == 0 || (side.anchor, side.place) == (self.anchor, self.place)
    }

    /// Whether the role is neither menu nor footer.
    pub fn is_main(&self) -> bool {
        is_main(self.role)
    }
}

pub(super) fn is_main(role: Role) -> bool {
    !matches!(role, Role::Navigation | Role::Footer)
}

pub(super) struct Sides<'a> {
    pub old_marks: &'a [ParagraphMark],
    pub new_marks: &'a [ParagraphMark],
    pub old: Option<&'a Document>,
    pub new: &'a Document,
}

/// All spots of a change. A paragraph that varies is no anchor: `is_masked` knows its digest, or `is_slot` knows its anchor, place
/// and distance.
pub(super) fn spots<'a>(
    sides: &Sides<'a>,
    change: &'a Change,
    is_masked: impl Fn(u64) -> bool,
    is_slot: impl Fn(u64, u16, u16) -> bool,
    belong: impl Fn(&Spot<'a>, &Spot<'a>) -> bool,
) -> Vec<Spot<'a>> {
    // Most operations have their places.
    let old_places = LazyCell::new(|| -> DigestMap<usize> {
        sides.old_marks.iter().enumerate().rev().map(|(place, mark)| (mark.digest, place)).collect()
    });
    let old_place = |digest: u64| old_places.get(&digest).copied();
    let found: Vec<(Option<usize>, Option<usize>)> =
        change.paragraphs.iter().map(|operation| places(operation, old_place, sides)).collect();
    let (mut old_moves, mut new_moves) = (vec![false; sides.old_marks.len()], vec![false; sides.new_marks.len()]);
    for ((old, new), operation) in found.iter().zip(&change.paragraphs) {
        mark(&mut old_moves, *old);
        mark(&mut new_moves, *new);
        let others = if operation.operation == Operation::Merged { &mut old_moves } else { &mut new_moves };
        operation.others.iter().for_each(|place| mark(others, Some(*place as usize)));
        if operation.operation == Operation::Moved {
            // Only their new places are known.
            let digests = operation.others.iter().filter_map(|place| sides.new_marks.get(*place as usize));
            digests.for_each(|moved| mark(&mut old_moves, old_place(moved.digest)));
        }
    }
    let old_anchors = anchors(sides.old_marks, &old_moves, &is_masked, &is_slot);
    let new_anchors = anchors(sides.new_marks, &new_moves, &is_masked, &is_slot);
    let all = found.iter().enumerate().map(|(index, &(old, new))| {
        let operation = &change.paragraphs[index];
        let anchor_of = |place: Option<usize>, anchors: &[Anchor]| place.and_then(|place| anchors.get(place).copied());
        let (from, to) = (anchor_of(old, &old_anchors), anchor_of(new, &new_anchors));
        let was = old.and_then(|old| sides.old_marks.get(old));
        let is = new.and_then(|new| sides.new_marks.get(new));
        let place = is.or(was).map_or(0, |mark| mark.place);
        let anchor = to.or(from).map_or(0, |anchor| anchor.digest);
        let side = |found: Option<Anchor>, mark: Option<&ParagraphMark>, text| Side {
            anchor: found.map_or(anchor, |found| found.digest),
            place: mark.map_or(place, |mark| mark.place),
            ..side(found, mark.map(|mark| mark.digest), text)
        };
        Spot {
            operations: vec![index],
            before: side(from, was, before(operation, old, sides)),
            after: side(to, is, after(operation, new, sides)),
            role: operation.role,
            place,
            anchor,
            anchor_at: to.and_then(|anchor| anchor.at),
        }
    });
    paired(all.collect(), belong)
}

fn mark(moves: &mut [bool], place: Option<usize>) {
    if let Some(moved) = place.and_then(|place| moves.get_mut(place)) {
        *moved = true;
    }
}

/// The old and new index of the paragraph of an operation, as far as they are known or can be found.
fn places(
    operation: &ParagraphChange,
    old_place: impl Fn(u64) -> Option<usize>,
    sides: &Sides<'_>,
) -> (Option<usize>, Option<usize>) {
    let position = operation.position as usize;
    if operation.operation == Operation::Removed {
        return ((position < sides.old_marks.len()).then_some(position), None);
    }
    let told = operation.from.map(|from| from as usize).filter(|from| *from < sides.old_marks.len());
    let by_words = || operation.before.as_ref().and_then(|text| old_place(xxh3_64(text.as_bytes())));
    let is_moved = operation.operation == Operation::Moved;
    let by_digest = || if is_moved { old_place(operation.digest) } else { None };
    let old = told.or_else(by_words).or_else(by_digest);
    (old, (position < sides.new_marks.len()).then_some(position))
}

#[derive(Copy, Clone)]
struct Anchor {
    digest: u64,
    at: Option<usize>,
    offset: u16,
    /// The distance to the end of its list, where most of the list varies.
    list_end: u16,
}

fn anchors(
    marks: &[ParagraphMark],
    moves: &[bool],
    is_masked: &impl Fn(u64) -> bool,
    is_slot: &impl Fn(u64, u16, u16) -> bool,
) -> Vec<Anchor> {
    let mut last = Anchor { digest: 0, at: None, offset: 0, list_end: 0 };
    let mut anchors = Vec::with_capacity(marks.len());
    let mut list = List { end: 0, varying: 0 };
    let mut varies_until = 0;
    for (place, (mark, moves_here)) in marks.iter().zip(moves).enumerate() {
        last.offset = last.offset.saturating_add(1);
        if place >= list.end && is_listed(mark) {
            list = List::at(marks, moves, place);
        }
        if place >= varies_until && list.varies_from(place) {
            varies_until = list.end;
        }
        let in_list = place < varies_until;
        last.list_end = if in_list { last.offset.saturating_add((varies_until - place - 1) as u16) } else { 0 };
        list.varying -= usize::from(place < list.end && *moves_here);
        anchors.push(last);
        let stays = !moves_here && !in_list && !is_masked(mark.digest);
        if stays && !is_slot(last.digest, mark.place, last.offset) {
            last = Anchor { digest: mark.digest, at: Some(place), offset: 0, list_end: 0 };
        }
    }
    anchors
}

/// Whether this is an item of a list or menu.
fn is_listed(mark: &ParagraphMark) -> bool {
    matches!(mark.role, Role::ListItem | Role::Navigation)
}

/// A run of items with the same template place.
struct List {
    end: usize,
    /// The varying items among those that were not passed yet.
    varying: usize,
}

impl List {
    /// The list that begins here.
    fn at(marks: &[ParagraphMark], moves: &[bool], start: usize) -> List {
        let same = |mark: &&ParagraphMark| is_listed(mark) && mark.place == marks[start].place;
        let end = start + marks[start..].iter().take_while(same).count();
        List { end, varying: moves[start..end].iter().filter(|moves| **moves).count() }
    }

    /// Whether at least half of its items from here on vary. Then the rest of the list counts as varying.
    fn varies_from(&self, place: usize) -> bool {
        let items = self.end.saturating_sub(place);
        items > 1 && self.varying * 2 >= items
    }
}

fn side<'a>(anchor: Option<Anchor>, digest: Option<u64>, text: Option<Cow<'a, str>>) -> Side<'a> {
    let digest = digest.unwrap_or_else(|| text.as_ref().map_or(0, |text| xxh3_64(text.as_bytes())));
    // A text without a known place was still somewhere.
    let offset = anchor.map_or(u16::from(text.is_some()), |anchor| anchor.offset);
    Side { digest, text, offset, list_end: anchor.map_or(0, |anchor| anchor.list_end), ..Side::default() }
}

fn before<'a>(operation: &'a ParagraphChange, old: Option<usize>, sides: &Sides<'a>) -> Option<Cow<'a, str>> {
    if operation.operation == Operation::Added {
        return None;
    }
    let read = sides.old.zip(old).and_then(|(document, place)| paragraph(document, place));
    read.or(operation.before.as_deref()).map(Cow::Borrowed)
}

fn after<'a>(operation: &'a ParagraphChange, new: Option<usize>, sides: &Sides<'a>) -> Option<Cow<'a, str>> {
    if operation.operation == Operation::Removed {
        return None;
    }
    new.and_then(|place| paragraph(sides.new, place)).or(operation.after.as_deref()).map(Cow::Borrowed)
}

pub(super) fn paragraph(document: &Document, place: usize) -> Option<&str> {
    let paragraph = document.paragraphs.get(place)?;
    document.text.get(paragraph.start as usize..paragraph.end as usize)
}

/// Joins removed and added paragraphs at the same place into one spot: first those that `belong` together, then by the words that
/// they share.
fn paired<'a>(mut spots: Vec<Spot<'a>>, belong: impl Fn(&Spot<'a>, &Spot<'a>) -> bool) -> Vec<Spot<'a>> {
    type TemplatePlace = (u64, Role, u16);
    let lone = |spot: &Spot<'_>| spot.before.offset == 0 && spot.after.offset > 0;
    let mut came: HashMap<TemplatePlace, Vec<usize>> = HashMap::new();
    for (index, spot) in spots.iter().enumerate().filter(|(_, spot)| lone(spot)) {
        came.entry((spot.anchor, spot.role, spot.place)).or_default().push(index);
    }
    if came.is_empty() {
        return spots;
    }
    let mut sorted = SortedWords { came: vec![None; spots.len()] };
    // For each spot the one joined to it, and whether it is itself joined to one.
    let mut taken: Vec<Option<usize>> = vec![None; spots.len()];
    let mut is_gone = vec![false; spots.len()];
    for (index, spot) in spots.iter().enumerate().filter(|(_, spot)| spot.after.offset == 0) {
        let Some(candidates) = came.get_mut(&(spot.anchor, spot.role, spot.place)) else { continue };
        let shared = sorted.shared(spot, &candidates[..candidates.len().min(TRIED_MAX)], &spots);
        let scored = candidates.iter().zip(shared).enumerate().map(|(at, (&other, shared))| {
            let near = u16::MAX - spot.before.offset.abs_diff(spots[other].after.offset);
            ((belong(spot, &spots[other]), shared, near), std::cmp::Reverse(at))
        });
        let Some((_, std::cmp::Reverse(best))) = scored.max() else { continue };
        taken[candidates.remove(best)] = Some(index);
        is_gone[index] = true;
    }
    for (index, other) in taken.into_iter().enumerate().filter_map(|(index, other)| Some((index, other?))) {
        let gone = std::mem::take(&mut spots[other].before);
        let operation = spots[other].operations[0];
        spots[index].operations.insert(0, operation);
        spots[index].before = gone;
    }
    let mut gone = is_gone.into_iter();
    spots.retain(|_| !gone.next().unwrap_or_default());
    spots
}

/// The sorted words of added spots. Each is sorted once, however many removed ones it is compared with.
struct SortedWords<'s> {
    came: Vec<Option<Vec<&'s str>>>,
}

impl<'s> SortedWords<'s> {
    /// For each candidate the words shared with the removed text, in per mille of the longer.
    fn shared(&mut self, gone: &'s Spot<'_>, candidates: &[usize], spots: &'s [Spot<'_>]) -> Vec<usize> {
        let Some(old) = &gone.before.text else { return vec![0; candidates.len()] };
        // A single candidate is taken whatever it shares.
        if candidates.len() < 2 {
            return vec![0; candidates.len()];
        }
        let old = sorted_words(old);
        let of = |&other: &usize| {
            let Some(new) = &spots[other].after.text else { return 0 };
            shared(&old, self.came[other].get_or_insert_with(|| sorted_words(new)))
        };
        candidates.iter().map(of).collect()
    }
}

fn sorted_words(text: &str) -> Vec<&str> {
    let mut words = words(text);
    words.sort_unstable();
    words
}

/// Shared words, in per mille of the longer list.
fn shared(old: &[&str], new: &[&str]) -> usize {
    let (mut i, mut j, mut same) = (0, 0, 0);
    while i < old.len() && j < new.len() {
        match old[i].cmp(new[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, same) = (i + 1, j + 1, same + 1),
        }
    }
    same * 1_000 / old.len().max(new.len()).max(1)
}
