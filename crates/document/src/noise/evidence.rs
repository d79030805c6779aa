//! Decides from evidence when a difference is noise, when it is content, and when a rule no longer holds.
//!
//! A hit counter and a daily price both differ at nearly every visit. A second look, minutes after a visit, tells them apart: the
//! counter differs there too, the price does not. How much proof silences a difference depends on its text:
//!
//! - Frame: one look at which it differed, or a difference at nearly every visit, or many pages that differ each in its own way.
//! - Main text: two looks at which it differed, and two of three looks and comparisons.
//! - A figure: six looks, all of which differed, over three days.
//!
//! Main text that stays the same at looks and differs between visits farther apart is content for good.

use vernal_model::{Kind, Look, Looks, Moment, NoisePattern, Role, Span, Suspect, TextClass};

use super::changed_spots::{Spot, is_main};
use super::class;
use super::generalise::{fixed_anew, generalise};
use super::shape::Shape;

/// "At nearly every visit" means at least so many comparisons, with a difference in four of five.
const DIFFERED_MIN: u16 = 3;
/// A suspect without a difference in so many comparisons in a row is dropped.
pub(super) const QUIET_MAX: u16 = 4;
/// At most so many paragraphs after one anchor may be noise together.
pub(super) const SLOT_PARAGRAPHS_MAX: u16 = 24;
/// Main text must differ at so many looks, and at two of three looks.
const MAIN_LOOKS_MIN: u32 = 2;
/// A figure must differ at so many looks, and at every one of them.
const FIGURE_LOOKS_MIN: u32 = 6;
/// A figure must differ for so long, with so much time between the looks that are asked for, so that a day on which a price races is
/// not taken for noise.
const FIGURE_SPAN_MIN: Span = Span::from_days(3);
const FIGURE_LOOK_EVERY: Span = Span::from_hours(12);
/// Content is what stayed the same at so many looks, and so many times as often as it differed there.
const SAME_LOOKS_MIN: u32 = 2;
const SAME_FACTOR: u32 = 2;
/// A suspect gets no more looks than this, and no more does a rule whose looks contradict each other.
const LOOKS_MAX: u32 = 12;
/// A rule on main text that is used gets looks until it had so many, and another one so long after its last.
const LOOKS_OF_RULE_MIN: u32 = 4;
const LOOK_AGAIN_AFTER: Span = Span::from_days(30);

/// The facts of a visit that evidence needs.
#[derive(Copy, Clone)]
pub(super) struct Observation {
    pub moment: Moment,
    /// The visit before was minutes ago.
    pub second_look: bool,
}

impl Observation {
    pub fn suspect(self, what: NoisePattern, role: Role, digest: u64) -> Suspect {
        let mut suspect = Suspect {
            what,
            role,
            class: if is_main(role) { TextClass::Main } else { TextClass::Frame },
            content_since: None,
            digest,
            since: self.moment,
            differed: 1,
            compared: 1,
            quiet: 0,
            grown: 0,
            looks: Looks::default(),
        };
        self.look(&mut suspect.looks, true);
        suspect
    }

    /// Notes this visit if it is a look.
    pub fn look(self, looks: &mut Looks, differed: bool) {
        if self.second_look {
            looks.note(Look { at: self.moment, differed });
        }
    }

    fn again(self, suspect: &mut Suspect) {
        suspect.differed = suspect.differed.saturating_add(1);
        suspect.compared = suspect.compared.saturating_add(1);
        suspect.quiet = 0;
        self.look(&mut suspect.looks, true);
        mark_content(suspect, self);
    }
}

/// The effect of one more difference on a suspect.
pub(super) enum Effect {
    /// It differed in the known way, or for the first time.
    Expected,
    /// Words or paragraphs varied that were fixed before. This may be a real edit.
    Grown,
    /// Too few words stayed to judge by words.
    Lost,
}

/// Records one more difference of words.
pub(super) fn words_differed(suspect: &mut Suspect, spot: &Spot<'_>, seen: Observation) -> Effect {
    let NoisePattern::Words { shape, .. } = &suspect.what else { return Effect::Lost };
    let shape = Shape::parse(shape);
    let (Some(before), Some(after)) = (&spot.before.text, &spot.after.text) else { return Effect::Lost };
    let Some(general) = generalise(before, after, Some(&shape)) else { return Effect::Lost };
    let is_young = suspect.differed < 2;
    seen.again(suspect);
    suspect.class = suspect.class.max(class::of_words(spot, &general.shape));
    suspect.digest = spot.after.digest;
    if !general.grown {
        return Effect::Expected;
    }
    if !is_young {
        suspect.grown = suspect.grown.saturating_add(1);
    }
    // Once may be an edit; twice is noise.
    let next = if is_young || suspect.grown > 1 { None } else { fixed_anew(&shape, before, after) };
    set_shape(suspect, &next.unwrap_or(general.shape), spot.place);
    Effect::Grown
}

pub(super) fn words_suspect(spot: &Spot<'_>, seen: Observation) -> Option<Suspect> {
    let (before, after) = (spot.before.text.as_ref()?, spot.after.text.as_ref()?);
    let general = generalise(before, after, None)?;
    let what = NoisePattern::Words { shape: "".into(), place: 0 };
    let mut suspect = seen.suspect(what, spot.role, spot.after.digest);
    suspect.class = class::of_words(spot, &general.shape);
    set_shape(&mut suspect, &general.shape, spot.place);
    Some(suspect)
}

fn set_shape(suspect: &mut Suspect, shape: &Shape, place: u16) {
    let place = if shape.is_bare() { place } else { 0 };
    suspect.what = NoisePattern::Words { shape: shape.text(), place };
}

/// Records one more difference after an anchor, and how far after it the replaced paragraphs reach.
pub(super) fn slot_differed(suspect: &mut Suspect, reach: u16, seen: Observation) -> Effect {
    let NoisePattern::Slot { count, .. } = &mut suspect.what else { return Effect::Lost };
    let grows = reach > *count;
    let is_young = suspect.differed < 2;
    if grows && !is_young {
        suspect.grown = suspect.grown.saturating_add(1);
    }
    if grows && (is_young || suspect.grown > 1) {
        *count = reach;
    }
    seen.again(suspect);
    if grows { Effect::Grown } else { Effect::Expected }
}

/// Records one more difference of a whole kind, with its notes.
pub(super) fn kind_differed(suspect: &mut Suspect, told: &[Box<str>], seen: Observation) -> Effect {
    let is_young = suspect.differed < 2;
    let NoisePattern::Kind { notes, .. } = &mut suspect.what else { return Effect::Lost };
    let fresh: Vec<Box<str>> = told.iter().filter(|what| !notes.contains(what)).cloned().collect();
    let grows = !fresh.is_empty();
    notes.extend(fresh);
    notes.truncate(NOTES_MAX);
    seen.again(suspect);
    if grows && !is_young { Effect::Grown } else { Effect::Expected }
}

/// Names of notes that a rule on a kind remembers.
pub(super) const NOTES_MAX: usize = 12;

/// The kinds that may be noise as a whole.
pub(super) const WHOLE_KINDS: [Kind; 3] = [Kind::Structure, Kind::Presentation, Kind::Behaviour];

/// The reason why the suspect is noise, if it is.
pub(super) fn proof(suspect: &Suspect, seen: Observation) -> Option<String> {
    let Suspect { differed, compared, ref looks, .. } = *suspect;
    if suspect.content_since.is_some() {
        return None;
    }
    let looked = || match looks.made {
        1 => "differed between two visits minutes apart".to_owned(),
        made => format!("differed at {} of {made} looks minutes after a visit", looks.differed),
    };
    // A look may fall on the very moment of a change, so the other comparisons count as well.
    let is_nearly_always = differed >= DIFFERED_MIN && u32::from(differed) * 5 >= u32::from(compared) * 4;
    match suspect.class {
        TextClass::Frame => {
            let at_visits = || format!("differed in {differed} of {compared} comparisons");
            (looks.differed > 0).then(looked).or_else(|| is_nearly_always.then(at_visits))
        }
        TextClass::Main => {
            let at_looks = looks.differed >= MAIN_LOOKS_MIN && looks.differed * 3 >= looks.made * 2;
            (at_looks && u32::from(differed) * 3 >= u32::from(compared) * 2).then(looked)
        }
        TextClass::Figure => {
            let lasted = seen.moment.since(suspect.since) >= FIGURE_SPAN_MIN;
            (lasted && is_nearly_always && looks.made >= FIGURE_LOOKS_MIN && looks.same() == 0).then(looked)
        }
    }
}

/// Records that there was no difference, although there could have been one.
pub(super) fn was_quiet(suspect: &mut Suspect, present: bool, seen: Observation) {
    if !seen.second_look {
        suspect.compared = suspect.compared.saturating_add(u16::from(present));
        suspect.quiet = suspect.quiet.saturating_add(1);
        return;
    }
    // A page that is visited every few minutes would note the same for ever.
    if present && suspect.content_since.is_none() && suspect.looks.same() < LOOKS_MAX {
        seen.look(&mut suspect.looks, false);
        mark_content(suspect, seen);
    }
}

/// Marks main text as content that stayed the same at looks and differed all the same, more than once.
fn mark_content(suspect: &mut Suspect, seen: Observation) {
    let is_text = suspect.class >= TextClass::Main && !matches!(suspect.what, NoisePattern::Kind { .. });
    if is_text && suspect.differed >= 2 && is_content(&suspect.looks) {
        suspect.content_since = suspect.content_since.or(Some(seen.moment));
    }
}

/// Whether looks have shown that something stays the same for minutes.
pub(super) fn is_content(looks: &Looks) -> bool {
    looks.same() >= SAME_LOOKS_MIN && looks.same() >= SAME_FACTOR * looks.differed
}

/// Whether a look soon can decide about a suspect that has just differed. One difference is an edit, unless it was found by a look.
pub(super) fn needs_look(suspect: &Suspect, seen: Observation) -> bool {
    let last = suspect.looks.latest.last().map(|look| look.at);
    let is_too_soon = suspect.class == TextClass::Figure
        && suspect.looks.made > 1
        && last.is_some_and(|last| seen.moment.since(last) < FIGURE_LOOK_EVERY);
    suspect.class >= TextClass::Main
        && !is_too_soon
        && suspect.content_since.is_none()
        && !matches!(suspect.what, NoisePattern::Kind { .. })
        && suspect.looks.made < LOOKS_MAX
        && (suspect.looks.differed > 0 || suspect.differed >= 2)
}

/// Whether a rule that has just explained a difference should be looked at: until enough looks have confirmed it, as long as they
/// contradict each other, and again after a long time.
pub(super) fn rule_needs_look(class: TextClass, looks: &Looks, now: Moment) -> bool {
    let is_undecided = looks.made < LOOKS_OF_RULE_MIN || (looks.same() > 0 && looks.made < LOOKS_MAX);
    let is_old = || looks.latest.last().is_none_or(|last| now.since(last.at) >= LOOK_AGAIN_AFTER);
    class >= TextClass::Main && (is_undecided || is_old())
}
