//! The judgement on one change: what of it the rules of the site explain, and what the visit adds to the evidence.
//!
//! Masks hold at the level of words: a paragraph whose fixed words change is content, however often its counter varied
//! before. A difference counts as evidence before it is judged, so that the third of three is set aside already.
//!
//! Whoever calls this compares signatures first and judges without the old document; if something is left, the old body
//! is read, the change explained, and the judgement made anew with the words at hand. Only the last one counts.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use vernal_model::{
    Change, Document, Moment, NoiseBook, NoiseRows, Operation, PageKey, PageNoise, ParagraphChange, ParagraphMark,
    Role, Site,
};

use super::aside::{known, told};
use super::ledger::{Cover, Ledger};
use super::spot::{Sides, Spot, spots};
use super::suspicion::{Suspicion, Touched, is_short_number, settle, suspect_kinds, suspect_slot, suspect_words};
use crate::detect::digest_map::DigestSet;

/// Spots of one change that are looked at; a page that differs in more is another page.
const SPOTS_MAX: usize = 512;
/// Paragraphs of prose that go and come without one being edited; with more, the page is another one.
const REPLACED_MAX: usize = 16;
const PROSE_BYTES_MIN: usize = 100;

/// Everything that a judgement depends on.
#[derive(Copy, Clone, Debug)]
pub struct NoiseInput<'a> {
    pub site: &'a Site,
    pub page: PageKey,
    /// See `template_key`, of the new marks.
    pub template: u32,
    pub moment: Moment,
    /// The visit before was minutes ago.
    pub second_look: bool,
    /// Nothing that was learned is set aside at this site; evidence is gathered all the same.
    pub strict: bool,
    pub old_marks: &'a [ParagraphMark],
    pub new_marks: &'a [ParagraphMark],
    /// If it was read.
    pub old: Option<&'a Document>,
    pub new: &'a Document,
    /// As compared, and explained if the old document was read.
    pub change: &'a Change,
    pub book: &'a NoiseBook,
    pub noise: &'a PageNoise,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NoiseJudgement {
    /// The change with what is explained moved from `paragraphs` and `notes` to `noise`.
    pub change: Change,
    /// What the visit taught, to be written in its group; may be empty.
    pub rows: NoiseRows,
}

/// Whether a site about which this is known may explain something of a change before its words are read. If not, a
/// judgement without the old document gives the change as it is.
pub fn may_explain(book: &NoiseBook, noise: &PageNoise, second_look: bool) -> bool {
    // One comparison proves nothing unless it is a second look, or others have come before it.
    second_look || !noise.is_empty() || !book.rules.is_empty()
}

/// Judges one change by the rules of its site, and learns from it.
pub fn judge(input: &NoiseInput<'_>) -> NoiseJudgement {
    let (explained, rows) = explained(input);
    NoiseJudgement { change: explained.unwrap_or_else(|| input.change.clone()), rows }
}

/// The same for those who own the change: `None` if nothing of it is explained, so that it stays as it is.
pub fn explained(input: &NoiseInput<'_>) -> (Option<Change>, NoiseRows) {
    let mut ledger = Ledger::open(input);
    if is_another_page(input) {
        return (None, ledger.rows());
    }
    let sides = Sides { old_marks: input.old_marks, new_marks: input.new_marks, old: input.old, new: input.new };
    let belong = |gone: &Spot<'_>, came: &Spot<'_>| {
        let known = input.noise.known.iter().filter(|known| known.digest == gone.before.digest);
        let mut shapes = known.filter_map(|known| ledger.shape(known.rule));
        came.after.text.as_ref().is_some_and(|text| shapes.any(|shape| shape.matches(text)))
    };
    let slots = ledger.slots();
    let is_slot = |after: u64, place: u16, offset: u16| slots.iter().any(|slot| slot.holds(after, place, offset));
    let mut spots = spots(&sides, input.change, |digest| ledger.is_masked(digest), is_slot, belong);
    spots.truncate(SPOTS_MAX);
    let mut touched = Touched::default();
    let mut aside: Vec<(usize, u32)> = Vec::new();
    let mut slots: BTreeMap<(u64, u16, bool), Vec<usize>> = BTreeMap::new();
    let mut open: Vec<usize> = Vec::new();
    for (index, spot) in spots.iter().enumerate() {
        match ledger.covering(spot) {
            Cover::Allowed => {}
            Cover::Nothing => open.push(index),
            Cover::Rule(id) => {
                ledger.used(id);
                aside.push((index, id));
            }
        }
    }
    let by_slot: Vec<usize> =
        aside.iter().filter(|(_, id)| ledger.shape(*id).is_none()).map(|(index, _)| *index).collect();
    // Without the old words nobody can tell an edit from a replacement, so that nothing is learned.
    let is_readable = |index: &usize| spots[*index].before.offset == 0 || spots[*index].before.text.is_some();
    if !open.iter().all(is_readable) {
        open.clear();
    }
    for index in open {
        let spot = &spots[index];
        match suspect_words(&mut ledger, spot, &mut touched) {
            Suspicion::Proven(id) => aside.push((index, id)),
            Suspicion::Noted => {}
            Suspicion::Replaced => {
                slots.entry((spot.anchor, spot.place, spot.is_main())).or_default().push(index);
            }
        }
    }
    for members in slots.values() {
        let group: Vec<&Spot<'_>> = members.iter().map(|&index| &spots[index]).collect();
        if let Some((id, reach)) = suspect_slot(&mut ledger, input, &group, &mut touched) {
            let within = |index: &usize| {
                let Spot { before, .. } = &spots[*index];
                let is_here = spots[*index].is_here(before) || ledger.slot_over(before).is_some();
                spots[*index].reach() <= reach && is_here
            };
            aside.extend(members.iter().copied().filter(within).map(|index| (index, id)));
        }
    }
    // What was edited stays an anchor, and a price or a date is no item among others.
    let covered = by_slot.into_iter().chain(slots.into_values().flatten()).map(|index| &spots[index]);
    covered.filter(|spot| !is_short_number(spot)).for_each(|spot| ledger.join(&spot.before));
    let kinds = suspect_kinds(&mut ledger, input, &mut touched);
    // Asked for where something is known of the page already.
    let present = LazyCell::new(|| -> DigestSet { input.new_marks.iter().map(|mark| mark.digest).collect() });
    let is_present = |digest: u64| present.contains(&digest);
    settle(&mut ledger, &touched, is_present);
    ledger.page.known = known(&ledger, input, &spots, &aside, is_present);
    let asides = aside.into_iter().filter(|(_, id)| ledger.sets_aside(*id)).collect::<Vec<_>>();
    let kinds = kinds.into_iter().filter(|aside| ledger.sets_aside(aside.rule)).collect::<Vec<_>>();
    let is_explained = !asides.is_empty() || !kinds.is_empty();
    (is_explained.then(|| told(input, &spots, &asides, &kinds)), ledger.rows())
}

/// Whether so much prose went and came that there is nothing to learn and nothing to explain.
fn is_another_page(input: &NoiseInput<'_>) -> bool {
    let is_prose = |change: &&ParagraphChange| {
        let text = change.before.as_ref().or(change.after.as_ref());
        let went_or_came = matches!(change.operation, Operation::Added | Operation::Removed);
        went_or_came && change.role == Role::Main && text.is_some_and(|text| text.len() >= PROSE_BYTES_MIN)
    };
    input.old.is_some() && input.change.paragraphs.iter().filter(is_prose).count() > REPLACED_MAX
}

/// What a visit teaches that found the very same bytes, or was told that nothing changed.
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
    let mut ledger = Ledger::open(&input);
    settle(&mut ledger, &Touched::default(), |_| true);
    ledger.rows()
}
