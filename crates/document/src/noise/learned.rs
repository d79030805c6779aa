//! Judges one change: the part of it that the rules of the site explain, and the evidence that the visit adds.
//!
//! Rules apply to words: a paragraph whose fixed words change is content, however often its counter varied before. A difference
//! counts as evidence before it is judged, so that the third of three is suppressed already.
//!
//! The caller first compares signatures and judges without the old document. If something is left, it reads the old body,
//! explains the change, and judges again with the words. Only the last judgement counts.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use vernal_model::{
    Change, Document, Moment, NoiseBook, NoiseRows, Operation, PageKey, PageNoise, ParagraphChange, ParagraphMark,
    Role, Site, TextClass,
};

use super::active_rules::{ActiveRules, Cover};
use super::changed_spots::{Sides, Spot, spots};
use super::class;
use super::suppressed::{known, told};
use super::suspicion::{Suspicion, Touched, settle, suspect_kinds, suspect_slot, suspect_words};
use crate::detect::digest_map::DigestSet;

/// With more changed spots a change is not judged: the page has become another one.
const SPOTS_MAX: usize = 512;
/// With more paragraphs of prose removed and added without an edit, the page has become another one.
const REPLACED_MAX: usize = 16;
const PROSE_BYTES_MIN: usize = 100;

/// The input of a judgement.
#[derive(Copy, Clone, Debug)]
pub struct NoiseInput<'a> {
    pub site: &'a Site,
    pub page: PageKey,
    /// The `template_key` of the new marks.
    pub template: u32,
    pub moment: Moment,
    /// The visit before was minutes ago.
    pub second_look: bool,
    /// Learned rules suppress nothing at this site. Evidence is collected all the same.
    pub strict: bool,
    pub old_marks: &'a [ParagraphMark],
    pub new_marks: &'a [ParagraphMark],
    /// The old document, if it was read.
    pub old: Option<&'a Document>,
    pub new: &'a Document,
    /// The change as compared, and explained if the old document was read.
    pub change: &'a Change,
    pub book: &'a NoiseBook,
    pub noise: &'a PageNoise,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NoiseJudgement {
    /// The change, with explained parts moved from `paragraphs` and `notes` to `noise`.
    pub change: Change,
    pub lesson: Lesson,
}

/// What a visit teaches about noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// The evidence rows to write with the visit; may be empty.
    pub rows: NoiseRows,
    /// A visit within minutes could show whether something is noise.
    pub wants_look: bool,
}

/// Whether the rules and evidence may explain a part of a change before its words are read. If not, a judgement without the old
/// document returns the change as it is.
pub fn may_explain(book: &NoiseBook, noise: &PageNoise, second_look: bool) -> bool {
    // A single comparison proves nothing, unless it is a second look or others came before it.
    second_look || !noise.is_empty() || !book.rules.is_empty()
}

/// Judges one change by the rules of its site, and learns from it.
pub fn judge(input: &NoiseInput<'_>) -> NoiseJudgement {
    let (explained, lesson) = explained(input);
    NoiseJudgement { change: explained.unwrap_or_else(|| input.change.clone()), lesson }
}

/// Judges one change like [`judge`], without copying it: `None` if no part of it is explained, so that it stays as it is.
pub fn explained(input: &NoiseInput<'_>) -> (Option<Change>, Lesson) {
    let mut rules_in_force = ActiveRules::open(input);
    if is_another_page(input) {
        return (None, rules_in_force.lesson());
    }
    let sides = Sides { old_marks: input.old_marks, new_marks: input.new_marks, old: input.old, new: input.new };
    let belong = |gone: &Spot<'_>, came: &Spot<'_>| {
        let known = input.noise.known.iter().filter(|known| known.digest == gone.before.digest);
        let mut shapes = known.filter_map(|known| rules_in_force.shape(known.rule));
        came.after.text.as_ref().is_some_and(|text| shapes.any(|shape| shape.matches(text)))
    };
    let slots = rules_in_force.slots();
    let is_slot = |after: u64, place: u16, offset: u16| slots.iter().any(|slot| slot.holds(after, place, offset));
    let mut spots = spots(&sides, input.change, |digest| rules_in_force.is_masked(digest), is_slot, belong);
    spots.truncate(SPOTS_MAX);
    let mut touched = Touched::default();
    let (mut suppressed, mut open) = covered_and_open(&mut rules_in_force, &spots);
    let mut slots: BTreeMap<(u64, u16, bool), Vec<usize>> = BTreeMap::new();
    let by_slot: Vec<usize> =
        suppressed.iter().filter(|(_, id)| rules_in_force.shape(*id).is_none()).map(|(index, _)| *index).collect();
    // Without the old words an edit cannot be distinguished from a replacement, so nothing is learned.
    let is_readable = |index: &usize| spots[*index].before.offset == 0 || spots[*index].before.text.is_some();
    if !open.iter().all(is_readable) {
        open.clear();
    }
    for index in open {
        let spot = &spots[index];
        match suspect_words(&mut rules_in_force, spot, &mut touched) {
            Suspicion::Proven(id) => suppressed.push((index, id)),
            Suspicion::Noted => {}
            Suspicion::Replaced => {
                slots.entry((spot.anchor, spot.place, spot.is_main())).or_default().push(index);
            }
        }
    }
    for members in slots.values() {
        let group: Vec<&Spot<'_>> = members.iter().map(|&index| &spots[index]).collect();
        if let Some((id, reach)) = suspect_slot(&mut rules_in_force, input, &group, &mut touched) {
            let within = |index: &usize| {
                let Spot { before, .. } = &spots[*index];
                let is_here = spots[*index].is_here(before) || rules_in_force.slot_over(before).is_some();
                spots[*index].reach() <= reach && is_here
            };
            suppressed.extend(members.iter().copied().filter(within).map(|index| (index, id)));
        }
    }
    // An edited paragraph remains an anchor, and a price or a date is no list item.
    let covered = by_slot.into_iter().chain(slots.into_values().flatten()).map(|index| &spots[index]);
    covered
        .filter(|spot| class::of_replaced(spot) < TextClass::Figure)
        .for_each(|spot| rules_in_force.join(&spot.before));
    rules_in_force.remember_rotating(suppressed.iter().map(|(index, id)| (&spots[*index], *id)));
    let kinds = suspect_kinds(&mut rules_in_force, input, &mut touched);
    // Only needed where something is known of the page.
    let present = LazyCell::new(|| -> DigestSet { input.new_marks.iter().map(|mark| mark.digest).collect() });
    let is_present = |digest: u64| present.contains(&digest);
    settle(&mut rules_in_force, &touched, is_present);
    rules_in_force.page.known = known(&rules_in_force, input, &spots, &suppressed, is_present);
    let effective = suppressed.into_iter().filter(|(_, id)| rules_in_force.suppresses(*id)).collect::<Vec<_>>();
    let kinds = kinds.into_iter().filter(|suppressed| rules_in_force.suppresses(suppressed.rule)).collect::<Vec<_>>();
    let is_explained = !effective.is_empty() || !kinds.is_empty();
    (is_explained.then(|| told(input, &spots, &effective, &kinds)), rules_in_force.lesson())
}

/// The spots that a rule covers, each with that rule, and the spots that none covers.
fn covered_and_open(rules_in_force: &mut ActiveRules<'_>, spots: &[Spot<'_>]) -> (Vec<(usize, u32)>, Vec<usize>) {
    let (mut covered, mut open) = (Vec::new(), Vec::new());
    for (index, spot) in spots.iter().enumerate() {
        match rules_in_force.covering(spot) {
            Cover::Allowed => {}
            Cover::Nothing => {
                for id in rules_in_force.unproven_for(spot) {
                    rules_in_force.turn(id, "it was learned in main text without looks minutes after a visit");
                }
                open.push(index);
            }
            Cover::Rule(id) => {
                rules_in_force.used(id);
                covered.push((index, id));
            }
        }
    }
    (covered, open)
}

/// Whether so much prose was removed and added that the page has become another one.
fn is_another_page(input: &NoiseInput<'_>) -> bool {
    let is_prose = |change: &&ParagraphChange| {
        let text = change.before.as_ref().or(change.after.as_ref());
        let went_or_came = matches!(change.operation, Operation::Added | Operation::Removed);
        went_or_came && change.role == Role::Main && text.is_some_and(|text| text.len() >= PROSE_BYTES_MIN)
    };
    input.old.is_some() && input.change.paragraphs.iter().filter(is_prose).count() > REPLACED_MAX
}

/// The evidence of a visit that found the same bytes or a 304.
pub fn unchanged(
    site: &Site,
    page: PageKey,
    moment: Moment,
    second_look: bool,
    book: &NoiseBook,
    noise: &PageNoise,
) -> NoiseRows {
    let input = NoiseInput {
        site,
        page,
        template: noise.template,
        moment,
        second_look,
        strict: false,
        old_marks: &[],
        new_marks: &[],
        old: None,
        new: &Document::default(),
        change: &Change::default(),
        book,
        noise,
    };
    let mut rules_in_force = ActiveRules::open(&input);
    settle(&mut rules_in_force, &Touched::default(), |_| true);
    rules_in_force.lesson().rows
}
