//! Handles differences that no rule explains: each is compared with earlier differences at its place and becomes a rule when they
//! prove it to be noise.

use std::borrow::Cow;

use vernal_model::{Kind, NoisePattern, PageNoise, Role, RuleReach, RuleState, Suspect, TextClass};
use xxhash_rust::xxh3::xxh3_64;

use super::active_rules::ActiveRules;
use super::changed_spots::{Spot, paragraph};
use super::class;
use super::evidence::{
    Effect, QUIET_MAX, SLOT_PARAGRAPHS_MAX, WHOLE_KINDS, kind_differed, needs_look, proof, slot_differed, was_quiet,
    words_differed, words_suspect,
};
use super::learned::NoiseInput;
use super::shape::Shape;
use crate::parse::links::limited;

/// The length limit of the words before a slot.
const ANCHOR_BYTES_MAX: usize = 100;

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
    let seen = rules_in_force.seen;
    let (suspect, steady) = match at {
        Some(at) => match words_differed(&mut rules_in_force.page.suspects[at], spot, seen) {
            Effect::Lost => {
                rules_in_force.page.suspects.remove(at);
                return Suspicion::Replaced;
            }
            step => (rules_in_force.page.suspects.remove(at), matches!(step, Effect::Expected)),
        },
        None => match (broken(rules_in_force, spot), words_suspect(spot, seen)) {
            (Some(suspect), _) => (suspect, false),
            (None, Some(suspect)) => return first_words(rules_in_force, suspect, spot, touched),
            (None, None) => return Suspicion::Replaced,
        },
    };
    conclude(rules_in_force, suspect, steady, spot, touched)
}

/// Handles a paragraph that differs for the first time. On one page only looks can prove noise; in the frame many pages can as well.
fn first_words(
    rules_in_force: &mut ActiveRules<'_>,
    suspect: Suspect,
    spot: &Spot<'_>,
    touched: &mut Touched,
) -> Suspicion {
    let NoisePattern::Words { shape, .. } = &suspect.what else { return Suspicion::Replaced };
    if !Shape::parse(shape).is_bare() && suspect.class == TextClass::Frame {
        let mark = mark_of(&[spot.before.digest, spot.after.digest]);
        if let Some(id) =
            rules_in_force.suspect_of_template(&suspect, mark, text_of(&spot.before.text), text_of(&spot.after.text))
        {
            return Suspicion::Proven(id);
        }
    }
    conclude(rules_in_force, suspect, true, spot, touched)
}

/// Makes a rule from the suspect if it is proven, otherwise keeps it.
fn conclude(
    rules_in_force: &mut ActiveRules<'_>,
    suspect: Suspect,
    steady: bool,
    spot: &Spot<'_>,
    touched: &mut Touched,
) -> Suspicion {
    match learned(rules_in_force, &suspect, steady, (text_of(&spot.before.text), text_of(&spot.after.text))) {
        Some(id) => Suspicion::Proven(id),
        None => {
            keep(rules_in_force, suspect, touched);
            Suspicion::Noted
        }
    }
}

/// The rule that is made from the suspect, if it is proven and differed as expected.
fn learned(
    rules_in_force: &mut ActiveRules<'_>,
    suspect: &Suspect,
    steady: bool,
    (before, after): (&str, &str),
) -> Option<u32> {
    let reason = proof(suspect, rules_in_force.seen).filter(|_| steady)?;
    rules_in_force.learn(suspect, &reason, before, after)
}

/// The suspect that replaces a rule whose fixed words changed: the wildcards are known, the words are new.
fn broken(rules_in_force: &mut ActiveRules<'_>, spot: &Spot<'_>) -> Option<Suspect> {
    let (id, rule) = rules_in_force.broken_by(spot)?;
    let of_page = matches!(rule.on, RuleReach::Page(_));
    let mut suspect = rules_in_force.seen.suspect(rule.what.clone(), spot.role, spot.before.digest);
    // The looks told of the wildcards, in text that needs no more proof than theirs.
    if suspect.class <= rule.class {
        suspect.looks = rule.looks.clone();
        suspect.class = rule.class;
        suspect.since = rule.since;
    }
    (suspect.differed, suspect.compared) = match rule.differed {
        // One second look shows little about which words are fixed.
        0..=1 => (1, 1),
        _ => (2, 2),
    };
    let step = words_differed(&mut suspect, spot, rules_in_force.seen);
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
    let class = group.iter().map(|spot| class::of_replaced(spot)).max().unwrap_or_default();
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
            suspect.class = suspect.class.max(class);
            let step = slot_differed(&mut suspect, reach, rules_in_force.seen);
            (suspect, matches!(step, Effect::Expected))
        }
        None => new_slot(rules_in_force, what, first.role, class),
    };
    let quoted = (text_of(&first.before.text), text_of(&first.after.text));
    let NoisePattern::Slot { count, .. } = suspect.what else { return None };
    if at.is_none() && suspect.class == TextClass::Frame && first.anchor != 0 {
        let sides = group.iter().map(|spot| spot.before.digest).chain(group.iter().map(|spot| spot.after.digest));
        let mark = mark_of(&sides.filter(|digest| *digest != 0).collect::<Vec<_>>());
        if let Some(id) = rules_in_force.suspect_of_template(&suspect, mark, quoted.0, quoted.1) {
            return Some((id, count));
        }
    }
    let learned = learned(rules_in_force, &suspect, steady, quoted);
    if learned.is_none() {
        keep(rules_in_force, suspect, touched);
    }
    learned.map(|id| (id, count))
}

/// The suspect for a slot that differs for the first time, or further than a rule on it reaches. Then it has the evidence of that
/// rule, but it is not steady: once may be an edit; twice is noise.
fn new_slot(rules_in_force: &ActiveRules<'_>, what: NoisePattern, role: Role, class: TextClass) -> (Suspect, bool) {
    let known = rules_in_force.narrower(&what).filter(|rule| class <= rule.class);
    let mut suspect = rules_in_force.seen.suspect(what, role, 0);
    suspect.class = suspect.class.max(class);
    let Some(rule) = known else { return (suspect, true) };
    suspect.since = rule.since;
    suspect.class = rule.class;
    suspect.looks.join(&rule.looks);
    suspect.differed = suspect.differed.saturating_add(rule.differed.min(u16::MAX.into()) as u16);
    suspect.compared = suspect.compared.saturating_add(rule.compared.min(u16::MAX.into()) as u16);
    (suspect, false)
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
        match learned(rules_in_force, &suspect, steady, ("", "")) {
            Some(rule) => suppressed.push(SuppressedKind { kind, rule, beyond: Vec::new() }),
            None => keep(rules_in_force, suspect, touched),
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
            NoisePattern::Kind { .. } | NoisePattern::Texts { .. } => true,
        };
        was_quiet(suspect, present, seen);
    }
    rules_in_force.page.suspects.retain(|suspect| suspect.quiet < QUIET_MAX);
    rules_in_force.rest(is_present);
}

/// Keeps a suspect that has just differed, and asks for a look that could decide about it.
fn keep(rules_in_force: &mut ActiveRules<'_>, suspect: Suspect, touched: &mut Touched) {
    touched.add(&suspect);
    rules_in_force.wants_look |= needs_look(&suspect, rules_in_force.seen);
    let suspects = &mut rules_in_force.page.suspects;
    suspects.push(suspect);
    if suspects.len() > PageNoise::SUSPECTS_MAX {
        // The suspect with the least evidence.
        let rank = |suspect: &Suspect| (suspect.differed, std::cmp::Reverse(suspect.quiet), suspect.since);
        let weakest = suspects.iter().enumerate().min_by_key(|(_, suspect)| rank(suspect)).map(|(at, _)| at);
        weakest.map(|at| suspects.remove(at));
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
