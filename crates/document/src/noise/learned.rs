//! The judgement on one change: what of it the rules of the site explain, and what the visit adds to the evidence.
//!
//! Masks hold at the level of words: a paragraph whose fixed words change is content, however often its counter varied
//! before. A difference counts as evidence before it is judged, so that the third of three is set aside already.
//!
//! Whoever calls this compares signatures first and judges without the old document; if something is left, the old body
//! is read, the change explained, and the judgement made anew with the words at hand. Only the last one counts.

use std::collections::{BTreeMap, HashSet};

use vernal_model::{
    Change, Degree, Document, Kind, Masked, Moment, NoiseBook, NoiseRows, PageKey, PageNoise, ParagraphMark, SetAside,
    Site, Suspect, Volatile,
};
use xxhash_rust::xxh3::xxh3_64;

use super::evidence::{
    QUIET_MAX, SLOT_PARAGRAPHS_MAX, Step, WHOLE_KINDS, kind_differed, proof, remember, slot_differed, was_quiet,
    words_differed, words_suspect,
};
use super::ledger::{Cover, Ledger};
use super::shape::{Shape, is_number, words};
use super::spot::{Sides, Spot, is_main, paragraph, spots};
use crate::parse::links::limited;

/// What is kept of a text that was set aside.
const QUOTED_BYTES_MAX: usize = 400;
/// Spots of one change that are looked at; a page that differs in more is another page.
const SPOTS_MAX: usize = 512;
/// Paragraphs of prose that go and come without one being edited; with more, the page is another one.
const REPLACED_MAX: usize = 16;
const PROSE_BYTES_MIN: usize = 100;
/// A replaced paragraph of main text so short, with a number in it, may be a price or a date.
const SHORT_WORDS_MAX: usize = 8;

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
    let is_slot = |after: u64, place: u16, offset: u16| ledger.has_slot(after, place, offset);
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
    let present: HashSet<u64> = input.new_marks.iter().map(|mark| mark.digest).collect();
    settle(&mut ledger, &touched, |digest| present.contains(&digest));
    ledger.page.known = known(&ledger, input, &spots, &aside, &present);
    let asides = aside.into_iter().filter(|(_, id)| ledger.sets_aside(*id)).collect::<Vec<_>>();
    let kinds = kinds.into_iter().filter(|aside| ledger.sets_aside(aside.rule)).collect::<Vec<_>>();
    let is_explained = !asides.is_empty() || !kinds.is_empty();
    (is_explained.then(|| told(input, &spots, &asides, &kinds)), ledger.rows())
}

/// Whether so much prose went and came that there is nothing to learn and nothing to explain.
fn is_another_page(input: &NoiseInput<'_>) -> bool {
    let is_prose = |change: &&vernal_model::ParagraphChange| {
        let text = change.before.as_ref().or(change.after.as_ref());
        let went_or_came =
            matches!(change.operation, vernal_model::Operation::Added | vernal_model::Operation::Removed);
        went_or_came
            && change.role == vernal_model::Role::Main
            && text.is_some_and(|text| text.len() >= PROSE_BYTES_MIN)
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

/// A number that pages made from the same template have in common: two least marks of the places in menus and footers,
/// or of all places where there is neither. 0 where nothing is known of places.
pub fn template_key(marks: &[ParagraphMark]) -> u32 {
    const ORDERS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03];
    const FRAME_PLACES_MIN: usize = 3;
    let distinct = |wanted: &dyn Fn(&ParagraphMark) -> bool| {
        let mut places: Vec<u16> =
            marks.iter().filter(|mark| mark.place != 0 && wanted(mark)).map(|mark| mark.place).collect();
        places.sort_unstable();
        places.dedup();
        places
    };
    let mut places = distinct(&|mark| !is_main(mark.role));
    if places.len() < FRAME_PLACES_MIN {
        places = distinct(&|_| true);
    }
    if places.is_empty() {
        return 0;
    }
    let least = |order: u64| places.iter().map(|place| xxh3_64(&(u64::from(*place) ^ order).to_le_bytes())).min();
    let bytes: Vec<u8> = ORDERS.iter().flat_map(|order| least(*order).unwrap_or(0).to_le_bytes()).collect();
    (xxh3_64(&bytes) as u32).max(1)
}

/// Suspects of this page that differed this time; each counts once.
#[derive(Default)]
struct Touched(Vec<(Volatile, u64)>);

impl Touched {
    fn has(&self, suspect: &Suspect) -> bool {
        self.0.iter().any(|(what, digest)| same_suspect(what, &suspect.what) && *digest == suspect.digest)
    }

    fn add(&mut self, suspect: &Suspect) {
        self.0.push((suspect.what.clone(), suspect.digest));
    }
}

enum Suspicion {
    Proven(u32),
    Noted,
    /// Too little of the words stayed.
    Replaced,
}

fn suspect_words(ledger: &mut Ledger<'_>, spot: &Spot<'_>, touched: &mut Touched) -> Suspicion {
    let same_text = spot.before.digest == spot.after.digest && spot.before.digest != 0;
    if !spot.is_pair() || same_text {
        return Suspicion::Replaced;
    }
    let at = suspect_of(&ledger.page, spot, touched);
    let mut numbers = false;
    let (suspect, steady) = match at {
        Some(at) => match words_differed(&mut ledger.page.suspects[at], spot, ledger.seen, &mut numbers) {
            Step::Lost => {
                ledger.page.suspects.remove(at);
                return Suspicion::Replaced;
            }
            step => (ledger.page.suspects.remove(at), matches!(step, Step::Expected)),
        },
        None => match (broken(ledger, spot, &mut numbers), words_suspect(spot, ledger.seen, &mut numbers)) {
            (Some(suspect), _) => (suspect, false),
            (None, Some(suspect)) => return first_words(ledger, suspect, spot, numbers, touched),
            (None, None) => return Suspicion::Replaced,
        },
    };
    conclude(ledger, suspect, steady, spot, numbers, touched)
}

/// A paragraph that differs for the first time: one page proves it only by a second look, many pages may.
fn first_words(
    ledger: &mut Ledger<'_>,
    suspect: Suspect,
    spot: &Spot<'_>,
    numbers: bool,
    touched: &mut Touched,
) -> Suspicion {
    let Volatile::Words { shape, .. } = &suspect.what else { return Suspicion::Replaced };
    let shape = Shape::parse(shape);
    if !shape.is_bare() && (!spot.is_main() || shape.is_token_only()) {
        let mark = mark_of(&[spot.before.digest, spot.after.digest]);
        if let Some(id) = ledger.suspect_of_template(&suspect, mark, text(&spot.before.text), text(&spot.after.text)) {
            return Suspicion::Proven(id);
        }
    }
    conclude(ledger, suspect, true, spot, numbers, touched)
}

/// Makes a rule of the suspect if it is proven, and keeps it otherwise.
fn conclude(
    ledger: &mut Ledger<'_>,
    suspect: Suspect,
    steady: bool,
    spot: &Spot<'_>,
    numbers: bool,
    touched: &mut Touched,
) -> Suspicion {
    let reason = proof(&suspect, numbers).filter(|_| steady);
    let learned =
        reason.and_then(|reason| ledger.learn(&suspect, &reason, text(&spot.before.text), text(&spot.after.text)));
    if let Some(id) = learned {
        return Suspicion::Proven(id);
    }
    touched.add(&suspect);
    keep(&mut ledger.page, suspect);
    Suspicion::Noted
}

/// The suspect that follows a rule whose fixed words changed: the wildcards are known, the words are new.
fn broken(ledger: &mut Ledger<'_>, spot: &Spot<'_>, numbers: &mut bool) -> Option<Suspect> {
    let (id, rule) = ledger.broken_by(spot)?;
    let of_page = matches!(rule.on, vernal_model::Reach::Page(_));
    let mut suspect = ledger.seen.suspect(rule.what.clone(), spot.role, spot.before.digest);
    (suspect.differed, suspect.compared) = match rule.differed {
        // One second look says little of which words are fixed.
        0..=1 => (1, 1),
        _ => (2, 2),
    };
    let step = words_differed(&mut suspect, spot, ledger.seen, numbers);
    if of_page {
        ledger.turn(id, "its fixed words changed");
    }
    (!matches!(step, Step::Lost)).then_some(suspect)
}

/// The suspect that this spot is: the very paragraph, else one whose words held here and that did not differ yet.
fn suspect_of(page: &PageNoise, spot: &Spot<'_>, touched: &Touched) -> Option<usize> {
    let open = |suspect: &&Suspect| matches!(suspect.what, Volatile::Words { .. }) && !touched.has(suspect);
    let is_it = |suspect: &Suspect| suspect.digest == spot.before.digest && suspect.digest != 0;
    let held = |suspect: &Suspect| {
        let Volatile::Words { shape, .. } = &suspect.what else { return false };
        let shape = Shape::parse(shape);
        let before = spot.before.text.as_ref();
        suspect.role == spot.role && !shape.is_bare() && before.is_some_and(|before| shape.matches(before))
    };
    let find =
        |wanted: &dyn Fn(&Suspect) -> bool| page.suspects.iter().position(|suspect| open(&suspect) && wanted(suspect));
    find(&is_it).or_else(|| find(&held))
}

/// All that was replaced behind one anchor; the rule that explains it, and how far.
fn suspect_slot(
    ledger: &mut Ledger<'_>,
    input: &NoiseInput<'_>,
    group: &[&Spot<'_>],
    touched: &mut Touched,
) -> Option<(u32, u16)> {
    let first = *group.first()?;
    let reach = group.iter().map(|spot| spot.whole_reach()).max().unwrap_or(0);
    if reach == 0 || reach > SLOT_PARAGRAPHS_MAX {
        return None;
    }
    let digests = |side: &dyn Fn(&Spot<'_>) -> u64| -> Vec<u64> {
        group.iter().map(|spot| side(spot)).filter(|digest| *digest != 0).collect()
    };
    let (gone, came) = (digests(&|spot| spot.before.digest), digests(&|spot| spot.after.digest));
    let numbers = group.iter().any(|spot| is_short_number(spot));
    let anchor_words = first.anchor_at.and_then(|at| paragraph(input.new, at)).unwrap_or_default();
    let what = Volatile::Slot {
        place: first.place,
        after: first.anchor,
        count: reach,
        words: limited(anchor_words, QUOTED_BYTES_MAX / 4).into(),
    };
    let at = ledger.page.suspects.iter().position(|suspect| same_suspect(&suspect.what, &what));
    let (suspect, steady) = match at {
        Some(at) => {
            let mut suspect = ledger.page.suspects.remove(at);
            let step = slot_differed(&mut suspect, &gone, &came, reach, ledger.seen);
            (suspect, matches!(step, Step::Expected))
        }
        None => {
            let known = ledger.narrower(&what).map(|rule| (rule.since, rule.differed, rule.compared));
            let mut suspect = ledger.seen.suspect(what, first.role, 0);
            remember(&mut suspect, &gone, &came);
            if let Some((since, differed, compared)) = known {
                // It is the same slot that reaches further than was known: once is an edit, twice is noise.
                suspect.since = since;
                suspect.differed = suspect.differed.saturating_add(differed.min(u16::MAX.into()) as u16);
                suspect.compared = suspect.compared.saturating_add(compared.min(u16::MAX.into()) as u16);
            }
            (suspect, known.is_none())
        }
    };
    let quoted = (text(&first.before.text), text(&first.after.text));
    let Volatile::Slot { count, .. } = suspect.what else { return None };
    if at.is_none() && !first.is_main() && first.anchor != 0 {
        let mark = mark_of(&[&gone[..], &came[..]].concat());
        if let Some(id) = ledger.suspect_of_template(&suspect, mark, quoted.0, quoted.1) {
            return Some((id, count));
        }
    }
    let reason = proof(&suspect, numbers).filter(|_| steady);
    let learned = reason.and_then(|reason| ledger.learn(&suspect, &reason, quoted.0, quoted.1));
    if learned.is_none() {
        touched.add(&suspect);
        keep(&mut ledger.page, suspect);
    }
    learned.map(|id| (id, count))
}

fn is_short_number(spot: &Spot<'_>) -> bool {
    let of = |text: &str| {
        let words = words(text);
        words.len() <= SHORT_WORDS_MAX && words.iter().any(|word| is_number(word))
    };
    spot.is_main() && (of(text(&spot.before.text)) || of(text(&spot.after.text)))
}

struct KindAside {
    kind: Kind,
    rule: u32,
    /// Names of notes that the rule does not know: they stay.
    beyond: Vec<Box<str>>,
}

fn suspect_kinds(ledger: &mut Ledger<'_>, input: &NoiseInput<'_>, touched: &mut Touched) -> Vec<KindAside> {
    let mut aside = Vec::new();
    for kind in WHOLE_KINDS.into_iter().filter(|kind| input.change.left.contains(*kind)) {
        let mut told: Vec<Box<str>> =
            input.change.notes.iter().filter(|note| note.kind == kind).map(|note| note.what.clone()).collect();
        told.sort_unstable();
        told.dedup();
        if let Some((rule, row)) = ledger.on_kind(kind) {
            let Volatile::Kind { notes, .. } = &row.what else { continue };
            let beyond: Vec<Box<str>> = told.iter().filter(|what| !notes.contains(what)).cloned().collect();
            if row.standing == vernal_model::RuleStanding::Allowed {
                continue;
            }
            ledger.used(rule);
            aside.push(KindAside { kind, rule, beyond });
            continue;
        }
        let what = Volatile::Kind { kind, notes: told.clone() };
        let at = ledger.page.suspects.iter().position(|suspect| same_suspect(&suspect.what, &what));
        let (suspect, steady) = match at {
            Some(at) => {
                let mut suspect = ledger.page.suspects.remove(at);
                let step = kind_differed(&mut suspect, &told, ledger.seen);
                (suspect, matches!(step, Step::Expected))
            }
            None => (ledger.seen.suspect(what, vernal_model::Role::Navigation, 0), true),
        };
        let reason = proof(&suspect, false).filter(|_| steady);
        match reason.and_then(|reason| ledger.learn(&suspect, &reason, "", "")) {
            Some(rule) => aside.push(KindAside { kind, rule, beyond: Vec::new() }),
            None => {
                touched.add(&suspect);
                keep(&mut ledger.page, suspect);
            }
        }
    }
    aside
}

/// What did not differ this time, though it could have.
fn settle(ledger: &mut Ledger<'_>, touched: &Touched, is_present: impl Fn(u64) -> bool) {
    let seen = ledger.seen;
    for suspect in ledger.page.suspects.iter_mut().filter(|suspect| !touched.has(suspect)) {
        let present = match &suspect.what {
            Volatile::Words { .. } => is_present(suspect.digest),
            Volatile::Slot { after, .. } => *after == 0 || is_present(*after),
            Volatile::Kind { .. } => true,
        };
        was_quiet(suspect, present, seen);
    }
    ledger.page.suspects.retain(|suspect| suspect.quiet < QUIET_MAX);
    ledger.rest(is_present);
}

fn keep(page: &mut PageNoise, suspect: Suspect) {
    page.suspects.push(suspect);
    if page.suspects.len() > PageNoise::SUSPECTS_MAX {
        // The one with the least to show for itself.
        let rank = |suspect: &Suspect| (suspect.differed, std::cmp::Reverse(suspect.quiet), suspect.since);
        let weakest = page.suspects.iter().enumerate().min_by_key(|(_, suspect)| rank(suspect)).map(|(at, _)| at);
        weakest.map(|at| page.suspects.remove(at));
    }
}

fn same_suspect(one: &Volatile, other: &Volatile) -> bool {
    match (one, other) {
        (Volatile::Slot { place, after, .. }, Volatile::Slot { place: at, after: behind, .. }) => {
            (place, after) == (at, behind)
        }
        (Volatile::Kind { kind, .. }, Volatile::Kind { kind: of, .. }) => kind == of,
        (one, other) => one == other,
    }
}

/// The paragraphs of the new version that rules cover, so that the next comparison needs no old words.
fn known(
    ledger: &Ledger<'_>,
    input: &NoiseInput<'_>,
    spots: &[Spot<'_>],
    aside: &[(usize, u32)],
    present: &HashSet<u64>,
) -> Vec<Masked> {
    let rules = ledger.paragraph_rules();
    let mut known: Vec<Masked> = Vec::new();
    let mut add = |digest: u64, rule: u32| {
        let masked = Masked { digest, rule };
        if known.len() < PageNoise::KNOWN_MAX && !known.contains(&masked) {
            known.push(masked);
        }
    };
    for (index, rule) in aside {
        if rules.iter().any(|(id, _, shape)| id == rule && shape.is_some()) {
            add(spots[*index].after.digest, *rule);
        }
    }
    for (id, rule, shape) in &rules {
        let earlier = || input.noise.known.iter().filter(|known| known.rule == *id);
        if matches!(rule.what, Volatile::Kind { .. }) && (ledger.was_used(*id) || earlier().next().is_some()) {
            add(0, *id);
        }
        if let Volatile::Slot { after, .. } = &rule.what
            && (*after == 0 || present.contains(after))
        {
            add(*after, *id);
        }
        let Some(shape) = shape else { continue };
        earlier().filter(|known| present.contains(&known.digest)).for_each(|known| add(known.digest, *id));
        if shape.is_bare() {
            continue;
        }
        let sole = ledger.is_sole(*id);
        for (place, mark) in input.new_marks.iter().enumerate() {
            let certain = sole || !is_main(mark.role) || !shape.has_numbers();
            if certain && paragraph(input.new, place).is_some_and(|text| shape.matches(text)) {
                add(mark.digest, *id);
            }
        }
    }
    known
}

/// The change with everything explained moved to its noise.
fn told(input: &NoiseInput<'_>, spots: &[Spot<'_>], aside: &[(usize, u32)], kinds: &[KindAside]) -> Change {
    let mut change = input.change.clone();
    let total = change.paragraphs.len();
    let mut gone = vec![false; total];
    let mut texts: Vec<&str> = Vec::new();
    for (index, rule) in aside {
        let spot = &spots[*index];
        spot.operations.iter().for_each(|&at| gone[at] = true);
        texts.extend([spot.before.text.as_deref(), spot.after.text.as_deref()].into_iter().flatten());
        change.noise.push(set_aside(Kind::Content, *rule, spot.before.text.as_deref(), spot.after.text.as_deref()));
    }
    let mut place = 0;
    change.paragraphs.retain(|_| {
        place += 1;
        !gone[place - 1]
    });
    let explained = !aside.is_empty();
    if explained {
        let rule = aside[0].1;
        let (stay, go): (Vec<_>, Vec<_>) =
            std::mem::take(&mut change.notes).into_iter().partition(|note| !is_link_of(note, input, &texts));
        change.notes = stay;
        change
            .noise
            .extend(go.iter().map(|note| set_aside(note.kind, rule, note.before.as_deref(), note.after.as_deref())));
        change.magnitude *= change.paragraphs.len() as f32 / total as f32;
    }
    let content_notes = change.notes.iter().any(|note| note.kind == Kind::Content);
    if explained && change.paragraphs.is_empty() && !content_notes {
        change.left.remove(Kind::Content);
    }
    for aside in kinds {
        let (stay, go): (Vec<_>, Vec<_>) = std::mem::take(&mut change.notes)
            .into_iter()
            .partition(|note| note.kind != aside.kind || aside.beyond.contains(&note.what));
        change.notes = stay;
        if go.is_empty() && aside.beyond.is_empty() {
            change.noise.push(set_aside(aside.kind, aside.rule, None, None));
        }
        let told =
            go.iter().map(|note| set_aside(note.kind, aside.rule, note.before.as_deref(), note.after.as_deref()));
        change.noise.extend(told);
        if aside.beyond.is_empty() {
            change.left.remove(aside.kind);
        }
    }
    if change.left != input.change.left {
        change.degree = match change.left.contains(Kind::Content) {
            true => change.degree,
            false if change.left.is_empty() => Degree::None,
            false => Degree::Hidden,
        };
    }
    change
}

fn set_aside(kind: Kind, rule: u32, before: Option<&str>, after: Option<&str>) -> SetAside {
    let quoted = |text: Option<&str>| text.map(|text| Box::from(limited(text, QUOTED_BYTES_MAX)));
    SetAside { kind, detector: "learned".into(), rule: Some(rule), before: quoted(before), after: quoted(after) }
}

/// Whether a note tells of a link whose words were set aside with their paragraph.
fn is_link_of(note: &vernal_model::Note, input: &NoiseInput<'_>, texts: &[&str]) -> bool {
    let within = |target: &Option<Box<str>>, document: Option<&Document>| {
        let Some(target) = target else { return true };
        let links = document.into_iter().flat_map(|document| &document.links);
        let mut named = links.filter(|link| link.target.as_str() == &**target && !link.anchor.is_empty());
        named.any(|link| texts.iter().any(|text| text.contains(&*link.anchor)))
    };
    let told = note.before.is_some() || note.after.is_some();
    note.kind == Kind::Content && told && within(&note.before, input.old) && within(&note.after, Some(input.new))
}

fn text<'t>(text: &'t Option<std::borrow::Cow<'_, str>>) -> &'t str {
    text.as_deref().unwrap_or_default()
}

fn mark_of(digests: &[u64]) -> u64 {
    let bytes: Vec<u8> = digests.iter().flat_map(|digest| digest.to_le_bytes()).collect();
    xxh3_64(&bytes)
}
