//! Decides from evidence when a difference is noise, and when it no longer is.
//!
//! There are three kinds of evidence: something differed between two visits minutes apart (a second look), it differs at nearly
//! every visit, or it differs on many pages of a template, differently on each. A number or a date in the main text needs the
//! second kind. Main text that is replaced as a whole needs the first kind, or texts that return: text that changes at every
//! visit and never returns may be news.

use vernal_model::{Kind, Looks, Moment, NoisePattern, Role, Suspect, TextClass};

use super::changed_spots::{Spot, is_main};
use super::generalise::{fixed_anew, generalise};
use super::shape::Shape;

/// "At nearly every visit" means at least so many comparisons, with a difference in four of five.
const DIFFERED_MIN: u16 = 3;
/// A suspect without a difference in so many comparisons in a row is dropped.
pub(super) const QUIET_MAX: u16 = 4;
/// At most so many paragraphs after one anchor may be noise together.
pub(super) const SLOT_PARAGRAPHS_MAX: u16 = 24;

/// The facts of a visit that evidence needs.
#[derive(Copy, Clone)]
pub(super) struct Observation {
    pub moment: Moment,
    /// The visit before was minutes ago.
    pub second_look: bool,
}

impl Observation {
    pub fn suspect(self, what: NoisePattern, role: Role, digest: u64) -> Suspect {
        Suspect {
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
            looks: self.looks(),
            returned: 0,
            lately: Vec::new(),
        }
    }

    fn again(self, suspect: &mut Suspect) {
        suspect.differed = suspect.differed.saturating_add(1);
        suspect.compared = suspect.compared.saturating_add(1);
        suspect.quiet = 0;
        let looks = self.looks();
        suspect.looks.made = suspect.looks.made.saturating_add(looks.made);
        suspect.looks.differed = suspect.looks.differed.saturating_add(looks.differed);
    }

    /// The looks that a difference of this visit adds.
    fn looks(self) -> Looks {
        let looked = u32::from(self.second_look);
        Looks { made: looked, differed: looked }
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

/// Records one more difference of words. `numbers` is set when numbers or dates vary.
pub(super) fn words_differed(suspect: &mut Suspect, spot: &Spot<'_>, seen: Observation, numbers: &mut bool) -> Effect {
    let NoisePattern::Words { shape, .. } = &suspect.what else { return Effect::Lost };
    let shape = Shape::parse(shape);
    let (Some(before), Some(after)) = (&spot.before.text, &spot.after.text) else { return Effect::Lost };
    let Some(general) = generalise(before, after, Some(&shape)) else { return Effect::Lost };
    *numbers = general.numbers;
    let is_young = suspect.differed < 2;
    seen.again(suspect);
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

pub(super) fn words_suspect(spot: &Spot<'_>, seen: Observation, numbers: &mut bool) -> Option<Suspect> {
    let (before, after) = (spot.before.text.as_ref()?, spot.after.text.as_ref()?);
    let general = generalise(before, after, None)?;
    *numbers = general.numbers;
    let what = NoisePattern::Words { shape: "".into(), place: 0 };
    let mut suspect = seen.suspect(what, spot.role, spot.after.digest);
    set_shape(&mut suspect, &general.shape, spot.place);
    Some(suspect)
}

fn set_shape(suspect: &mut Suspect, shape: &Shape, place: u16) {
    let place = if shape.is_bare() { place } else { 0 };
    suspect.what = NoisePattern::Words { shape: shape.text(), place };
}

/// Records one more difference after an anchor: the removed and added paragraphs, and how far after it they reach.
pub(super) fn slot_differed(
    suspect: &mut Suspect,
    gone: &[u64],
    came: &[u64],
    reach: u16,
    seen: Observation,
) -> Effect {
    let NoisePattern::Slot { count, .. } = &mut suspect.what else { return Effect::Lost };
    let grows = reach > *count;
    let is_young = suspect.differed < 2;
    if grows && !is_young {
        suspect.grown = suspect.grown.saturating_add(1);
    }
    if grows && (is_young || suspect.grown > 1) {
        *count = reach;
    }
    let returned = came.iter().filter(|digest| suspect.lately.contains(digest)).count();
    suspect.returned = suspect.returned.saturating_add(returned as u16);
    remember(suspect, gone, came);
    seen.again(suspect);
    if grows { Effect::Grown } else { Effect::Expected }
}

/// Remembers recent paragraphs. Present ones do not count as recent, or everything would seem to return.
pub(super) fn remember(suspect: &mut Suspect, gone: &[u64], came: &[u64]) {
    suspect.lately.retain(|digest| !came.contains(digest) && !gone.contains(digest));
    suspect.lately.extend_from_slice(gone);
    let over = suspect.lately.len().saturating_sub(Suspect::LATELY_MAX);
    suspect.lately.drain(..over);
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
pub(super) fn proof(suspect: &Suspect, numbers: bool) -> Option<String> {
    let Suspect { differed, compared, .. } = *suspect;
    let often = differed >= DIFFERED_MIN && u32::from(differed) * 5 >= u32::from(compared) * 4;
    let at_visits = || format!("differed in {differed} of {compared} comparisons");
    let main = is_main(suspect.role);
    let looked = (suspect.looks.differed > 0).then(|| "differed between two visits minutes apart".to_owned());
    match &suspect.what {
        NoisePattern::Words { .. } if main && numbers => often.then(at_visits),
        NoisePattern::Slot { .. } if main => {
            let returns = || format!("{}, and texts came back {} times", at_visits(), suspect.returned);
            let looked = looked.filter(|_| !numbers);
            looked.or_else(|| (often && suspect.returned > 0).then(returns))
        }
        _ => looked.or_else(|| often.then(at_visits)),
    }
}

/// Records that there was no difference, although there could have been one. A second look without a difference proves nothing,
/// because counters may not change for minutes.
pub(super) fn was_quiet(suspect: &mut Suspect, present: bool, seen: Observation) {
    if seen.second_look {
        return;
    }
    suspect.compared = suspect.compared.saturating_add(u16::from(present));
    suspect.quiet = suspect.quiet.saturating_add(1);
}
