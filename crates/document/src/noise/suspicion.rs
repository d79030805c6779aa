//! Handles differences that no rule explains: each is compared with earlier differences at its place and becomes a rule when they
//! prove it to be noise.

use std::borrow::Cow;

use vernal_model::{Kind, NoisePattern, PageNoise, Role, RuleReach, RuleState, Suspect};
use xxhash_rust::xxh3::xxh3_64;

use super::active_rules::ActiveRules;
use super::changed_spots::{Spot, paragraph};
use super::evidence::{
    Effect, QUIET_MAX, SLOT_PARAGRAPHS_MAX, WHOLE_KINDS, kind_differed, proof, remember, slot_differed, was_quiet,
    words_differed, words_suspect,
};
use super::learned::NoiseInput;
use super::shape::{Shape, is_plain};
use super::shape_word::is_number;
use crate::parse::links::limited;

/// The length limit of the words before a slot.
const ANCHOR_BYTES_MAX: usize = 100;
/// A replaced paragraph of main text that is no longer than this and has a number may be a price or a date.
const SHORT_WORDS_MAX: usize = 8;

/// The suspects of this page that differed this time. Each counts once.
#[derive(Default)]
pub(super) struct Touched(Vec<(NoisePattern, u64)>);

impl Touched {
    fn has(&self, suspect: &Suspect) -> bool {
        self.0.iter().any(|(what, digest)| same_suspect(what, &suspect.what) && *digest == suspect.digest)
    }

    fn add(&mut self, suspect: &Suspect) {
        self.0.push((suspect.what.clone(), suspect.digest));
    }
}

pub(super) enum Suspicion {
    Proven(u32),
    Noted,
    /// Too few words stayed.
    Replaced,
}

pub(super) fn suspect_words(rules_in_force: &mut ActiveRules<'_>, spot: &Spot<'_>, touched: &mut Touched) -> Suspicion {
    let same_text = spot.before.digest == spot.after.digest && spot.before.digest != 0;
    if !spot.is_pair() || same_text {
        return Suspicion::Replaced;
    }
    let at = suspect_of(&rules_in_force.page, spot, touched);
    let mut numbers = false;
    let (suspect, steady) = match at {
        Some(at) => {
            match words_differed(&mut rules_in_force.page.suspects[at], spot, rules_in_force.seen, &mut numbers) {
                Effect::Lost => {
                    rules_in_force.page.suspects.remove(at);
                    return Suspicion::Replaced;
                }
                step => (rules_in_force.page.suspects.remove(at), matches!(step, Effect::Expected)),
            }
        }
        None => {
            match (broken(rules_in_force, spot, &mut numbers), words_suspect(spot, rules_in_force.seen, &mut numbers)) {
                (Some(suspect), _) => (suspect, false),
                (None, Some(suspect)) => return first_words(rules_in_force, suspect, spot, numbers, touched),
                (None, None) => return Suspicion::Replaced,
            }
        }
    };
    conclude(rules_in_force, suspect, steady, spot, numbers, touched)
}

/// Handles a paragraph that differs for the first time. On one page only a second look can prove noise; many pages can as well.
fn first_words(
    rules_in_force: &mut ActiveRules<'_>,
    suspect: Suspect,
    spot: &Spot<'_>,
    numbers: bool,
    touched: &mut Touched,
) -> Suspicion {
    let NoisePattern::Words { shape, .. } = &suspect.what else { return Suspicion::Replaced };
    let shape = Shape::parse(shape);
    if !shape.is_bare() && (!spot.is_main() || shape.is_token_only()) {
        let mark = mark_of(&[spot.before.digest, spot.after.digest]);
        if let Some(id) =
            rules_in_force.suspect_of_template(&suspect, mark, text_of(&spot.before.text), text_of(&spot.after.text))
        {
            return Suspicion::Proven(id);
        }
    }
    conclude(rules_in_force, suspect, true, spot, numbers, touched)
}

/// Makes a rule from the suspect if it is proven, otherwise keeps it.
fn conclude(
    rules_in_force: &mut ActiveRules<'_>,
    suspect: Suspect,
    steady: bool,
    spot: &Spot<'_>,
    numbers: bool,
    touched: &mut Touched,
) -> Suspicion {
    let reason = proof(&suspect, numbers).filter(|_| steady);
    let learned = reason.and_then(|reason| {
        rules_in_force.learn(&suspect, &reason, text_of(&spot.before.text), text_of(&spot.after.text))
    });
    if let Some(id) = learned {
        return Suspicion::Proven(id);
    }
    touched.add(&suspect);
    keep(&mut rules_in_force.page, suspect);
    Suspicion::Noted
}

/// The suspect that replaces a rule whose fixed words changed: the wildcards are known, the words are new.
fn broken(rules_in_force: &mut ActiveRules<'_>, spot: &Spot<'_>, numbers: &mut bool) -> Option<Suspect> {
    let (id, rule) = rules_in_force.broken_by(spot)?;
    let of_page = matches!(rule.on, RuleReach::Page(_));
    let mut suspect = rules_in_force.seen.suspect(rule.what.clone(), spot.role, spot.before.digest);
    (suspect.differed, suspect.compared) = match rule.differed {
        // One second look shows little about which words are fixed.
        0..=1 => (1, 1),
        _ => (2, 2),
    };
    let step = words_differed(&mut suspect, spot, rules_in_force.seen, numbers);
    if of_page {
        rules_in_force.turn(id, "its fixed words changed");
    }
    (!matches!(step, Effect::Lost)).then_some(suspect)
}

/// The suspect for this spot: the one with this paragraph, otherwise one whose words match and that did not differ yet.
fn suspect_of(page: &PageNoise, spot: &Spot<'_>, touched: &Touched) -> Option<usize> {
    let open = |suspect: &&Suspect| matches!(suspect.what, NoisePattern::Words { .. }) && !touched.has(suspect);
    let is_it = |suspect: &Suspect| suspect.digest == spot.before.digest && suspect.digest != 0;
    let held = |suspect: &Suspect| {
        let NoisePattern::Words { shape, .. } = &suspect.what else { return false };
        let shape = Shape::parse(shape);
        let before = spot.before.text.as_ref();
        suspect.role == spot.role && !shape.is_bare() && before.is_some_and(|before| shape.matches(before))
    };
    let find =
        |wanted: &dyn Fn(&Suspect) -> bool| page.suspects.iter().position(|suspect| open(&suspect) && wanted(suspect));
    find(&is_it).or_else(|| find(&held))
}

/// Handles everything that was replaced after one anchor. Returns the rule that explains it, and how far.
pub(super) fn suspect_slot(
    rules_in_force: &mut ActiveRules<'_>,
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
    let what = NoisePattern::Slot {
        place: first.place,
        after: first.anchor,
        count: reach,
        words: limited(anchor_words, ANCHOR_BYTES_MAX).into(),
    };
    let at = rules_in_force.page.suspects.iter().position(|suspect| same_suspect(&suspect.what, &what));
    let (suspect, steady) = match at {
        Some(at) => {
            let mut suspect = rules_in_force.page.suspects.remove(at);
            let step = slot_differed(&mut suspect, &gone, &came, reach, rules_in_force.seen);
            (suspect, matches!(step, Effect::Expected))
        }
        None => {
            let known = rules_in_force.narrower(&what).map(|rule| (rule.since, rule.differed, rule.compared));
            let mut suspect = rules_in_force.seen.suspect(what, first.role, 0);
            remember(&mut suspect, &gone, &came);
            if let Some((since, differed, compared)) = known {
                // The same slot reaches further than was known. Once may be an edit; twice is noise.
                suspect.since = since;
                suspect.differed = suspect.differed.saturating_add(differed.min(u16::MAX.into()) as u16);
                suspect.compared = suspect.compared.saturating_add(compared.min(u16::MAX.into()) as u16);
            }
            (suspect, known.is_none())
        }
    };
    let quoted = (text_of(&first.before.text), text_of(&first.after.text));
    let NoisePattern::Slot { count, .. } = suspect.what else { return None };
    if at.is_none() && !first.is_main() && first.anchor != 0 {
        let mark = mark_of(&[&gone[..], &came[..]].concat());
        if let Some(id) = rules_in_force.suspect_of_template(&suspect, mark, quoted.0, quoted.1) {
            return Some((id, count));
        }
    }
    let reason = proof(&suspect, numbers).filter(|_| steady);
    let learned = reason.and_then(|reason| rules_in_force.learn(&suspect, &reason, quoted.0, quoted.1));
    if learned.is_none() {
        touched.add(&suspect);
        keep(&mut rules_in_force.page, suspect);
    }
    learned.map(|id| (id, count))
}

pub(super) fn is_short_number(spot: &Spot<'_>) -> bool {
    let of = |text: &str| match is_plain(text) {
        true => has_number_in_few(text.split_ascii_whitespace()),
        false => has_number_in_few(text.split_whitespace()),
    };
    spot.is_main() && (of(text_of(&spot.before.text)) || of(text_of(&spot.after.text)))
}

fn has_number_in_few<'t>(mut words: impl Iterator<Item = &'t str> + Clone) -> bool {
    words.clone().nth(SHORT_WORDS_MAX).is_none() && words.any(is_number)
}

pub(super) struct SuppressedKind {
    pub kind: Kind,
    pub rule: u32,
    /// Names of notes that the rule does not cover. They stay.
    pub beyond: Vec<Box<str>>,
}

pub(super) fn suspect_kinds(
    rules_in_force: &mut ActiveRules<'_>,
    input: &NoiseInput<'_>,
    touched: &mut Touched,
) -> Vec<SuppressedKind> {
    let mut suppressed = Vec::new();
    for kind in WHOLE_KINDS.into_iter().filter(|kind| input.change.left.contains(*kind)) {
        let mut told: Vec<Box<str>> =
            input.change.notes.iter().filter(|note| note.kind == kind).map(|note| note.what.clone()).collect();
        told.sort_unstable();
        told.dedup();
        if let Some((rule, row)) = rules_in_force.on_kind(kind) {
            let NoisePattern::Kind { notes, .. } = &row.what else { continue };
            let beyond: Vec<Box<str>> = told.iter().filter(|what| !notes.contains(what)).cloned().collect();
            if row.standing == RuleState::Allowed {
                continue;
            }
            rules_in_force.used(rule);
            suppressed.push(SuppressedKind { kind, rule, beyond });
            continue;
        }
        let what = NoisePattern::Kind { kind, notes: told.clone() };
        let at = rules_in_force.page.suspects.iter().position(|suspect| same_suspect(&suspect.what, &what));
        let (suspect, steady) = match at {
            Some(at) => {
                let mut suspect = rules_in_force.page.suspects.remove(at);
                let step = kind_differed(&mut suspect, &told, rules_in_force.seen);
                (suspect, matches!(step, Effect::Expected))
            }
            None => (rules_in_force.seen.suspect(what, Role::Navigation, 0), true),
        };
        let reason = proof(&suspect, false).filter(|_| steady);
        match reason.and_then(|reason| rules_in_force.learn(&suspect, &reason, "", "")) {
            Some(rule) => suppressed.push(SuppressedKind { kind, rule, beyond: Vec::new() }),
            None => {
                touched.add(&suspect);
                keep(&mut rules_in_force.page, suspect);
            }
        }
    }
    suppressed
}

/// Updates suspects that could have differed this time and did not.
pub(super) fn settle(rules_in_force: &mut ActiveRules<'_>, touched: &Touched, is_present: impl Fn(u64) -> bool) {
    let seen = rules_in_force.seen;
    for suspect in rules_in_force.page.suspects.iter_mut().filter(|suspect| !touched.has(suspect)) {
        let present = match &suspect.what {
            NoisePattern::Words { .. } => is_present(suspect.digest),
            NoisePattern::Slot { after, .. } => *after == 0 || is_present(*after),
            NoisePattern::Kind { .. } => true,
        };
        was_quiet(suspect, present, seen);
    }
    rules_in_force.page.suspects.retain(|suspect| suspect.quiet < QUIET_MAX);
    rules_in_force.rest(is_present);
}

fn keep(page: &mut PageNoise, suspect: Suspect) {
    page.suspects.push(suspect);
    if page.suspects.len() > PageNoise::SUSPECTS_MAX {
        // The suspect with the least evidence.
        let rank = |suspect: &Suspect| (suspect.differed, std::cmp::Reverse(suspect.quiet), suspect.since);
        let weakest = page.suspects.iter().enumerate().min_by_key(|(_, suspect)| rank(suspect)).map(|(at, _)| at);
        weakest.map(|at| page.suspects.remove(at));
    }
}

fn same_suspect(one: &NoisePattern, other: &NoisePattern) -> bool {
    match (one, other) {
        (NoisePattern::Slot { place, after, .. }, NoisePattern::Slot { place: at, after: behind, .. }) => {
            (place, after) == (at, behind)
        }
        (NoisePattern::Kind { kind, .. }, NoisePattern::Kind { kind: of, .. }) => kind == of,
        (one, other) => one == other,
    }
}

fn text_of<'t>(text: &'t Option<Cow<'_, str>>) -> &'t str {
    text.as_deref().unwrap_or_default()
}

fn mark_of(digests: &[u64]) -> u64 {
    let bytes: Vec<u8> = digests.iter().flat_map(|digest| digest.to_le_bytes()).collect();
    xxh3_64(&bytes)
}
