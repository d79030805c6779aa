//! When something that differs has shown itself to be noise, and when no longer.
//!
//! Three evidences: it differed between two visits minutes apart (a second look), it differs at nearly every visit, or it
//! differs on many pages of a template, each in its own way. A number or a date in the main text takes the second one.
//! Main text that is replaced as a whole takes the first, or texts that come back: what changes at every visit and never
//! comes back may as well be news.

use vernal_model::{Kind, Moment, Role, Suspect, Volatile};

use super::generalise::{fixed_anew, generalise};
use super::shape::Shape;
use super::spot::{Spot, is_main};

/// "At nearly every visit": so many comparisons at least, and four of five of them.
const DIFFERED_MIN: u16 = 3;
/// A suspect that did not differ in so many comparisons in a row is none.
pub(super) const QUIET_MAX: u16 = 4;
/// Paragraphs behind one anchor that may be noise together.
pub(super) const SLOT_PARAGRAPHS_MAX: u16 = 24;

/// What a visit showed, as far as evidence needs to know.
#[derive(Copy, Clone)]
pub(super) struct Seen {
    pub moment: Moment,
    /// The visit before was minutes ago.
    pub second_look: bool,
}

impl Seen {
    pub fn suspect(self, what: Volatile, role: Role, digest: u64) -> Suspect {
        Suspect {
            what,
            role,
            digest,
            since: self.moment,
            differed: 1,
            compared: 1,
            quiet: 0,
            grown: 0,
            second_look: self.second_look,
            returned: 0,
            lately: Vec::new(),
        }
    }

    fn again(self, suspect: &mut Suspect) {
        suspect.differed = suspect.differed.saturating_add(1);
        suspect.compared = suspect.compared.saturating_add(1);
        suspect.quiet = 0;
        suspect.second_look |= self.second_look;
    }
}

/// What one more difference makes of a suspect.
pub(super) enum Step {
    /// It differed in the way that was known, or for the first time.
    Expected,
    /// Words or paragraphs varied that had been fixed so far: this may be a real edit.
    Grown,
    /// Too little stayed for words to tell.
    Lost,
}

/// One more difference of words. `numbers` is set when numbers or dates are among what varies.
pub(super) fn words_differed(suspect: &mut Suspect, spot: &Spot<'_>, seen: Seen, numbers: &mut bool) -> Step {
    let Volatile::Words { shape, .. } = &suspect.what else { return Step::Lost };
    let shape = Shape::parse(shape);
    let (Some(before), Some(after)) = (&spot.before.text, &spot.after.text) else { return Step::Lost };
    let Some(general) = generalise(before, after, Some(&shape)) else { return Step::Lost };
    *numbers = general.numbers;
    let is_young = suspect.differed < 2;
    seen.again(suspect);
    suspect.digest = spot.after.digest;
    if !general.grown {
        return Step::Expected;
    }
    if !is_young {
        suspect.grown = suspect.grown.saturating_add(1);
    }
    // Once is an edit, twice is noise.
    let next = if is_young || suspect.grown > 1 { None } else { fixed_anew(&shape, before, after) };
    set_shape(suspect, &next.unwrap_or(general.shape), spot.place);
    Step::Grown
}

pub(super) fn words_suspect(spot: &Spot<'_>, seen: Seen, numbers: &mut bool) -> Option<Suspect> {
    let (before, after) = (spot.before.text.as_ref()?, spot.after.text.as_ref()?);
    let general = generalise(before, after, None)?;
    *numbers = general.numbers;
    let what = Volatile::Words { shape: "".into(), place: 0 };
    let mut suspect = seen.suspect(what, spot.role, spot.after.digest);
    set_shape(&mut suspect, &general.shape, spot.place);
    Some(suspect)
}

fn set_shape(suspect: &mut Suspect, shape: &Shape, place: u16) {
    let place = if shape.is_bare() { place } else { 0 };
    suspect.what = Volatile::Words { shape: shape.text(), place };
}

/// One more difference behind an anchor: which paragraphs went and came, and how far behind it they reach.
pub(super) fn slot_differed(suspect: &mut Suspect, gone: &[u64], came: &[u64], reach: u16, seen: Seen) -> Step {
    let Volatile::Slot { count, .. } = &mut suspect.what else { return Step::Lost };
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
    if grows { Step::Grown } else { Step::Expected }
}

/// Keeps what was seen lately; what stands there now is not "lately", or everything would seem to come back.
pub(super) fn remember(suspect: &mut Suspect, gone: &[u64], came: &[u64]) {
    suspect.lately.retain(|digest| !came.contains(digest) && !gone.contains(digest));
    suspect.lately.extend_from_slice(gone);
    let over = suspect.lately.len().saturating_sub(Suspect::LATELY_MAX);
    suspect.lately.drain(..over);
}

/// One more difference of a whole kind, with what notes tell of it.
pub(super) fn kind_differed(suspect: &mut Suspect, told: &[Box<str>], seen: Seen) -> Step {
    let is_young = suspect.differed < 2;
    let Volatile::Kind { notes, .. } = &mut suspect.what else { return Step::Lost };
    let fresh: Vec<Box<str>> = told.iter().filter(|what| !notes.contains(what)).cloned().collect();
    let grows = !fresh.is_empty();
    notes.extend(fresh);
    notes.truncate(NOTES_MAX);
    seen.again(suspect);
    if grows && !is_young { Step::Grown } else { Step::Expected }
}

/// Names of notes that a rule on a kind remembers.
pub(super) const NOTES_MAX: usize = 12;

/// The kinds that may be noise as a whole.
pub(super) const WHOLE_KINDS: [Kind; 3] = [Kind::Structure, Kind::Presentation, Kind::Behaviour];

/// Why the suspect is noise, if it is.
pub(super) fn proof(suspect: &Suspect, numbers: bool) -> Option<String> {
    let Suspect { differed, compared, .. } = *suspect;
    let often = differed >= DIFFERED_MIN && u32::from(differed) * 5 >= u32::from(compared) * 4;
    let at_visits = || format!("differed in {differed} of {compared} comparisons");
    let main = is_main(suspect.role);
    let looked = suspect.second_look.then(|| "differed between two visits minutes apart".to_owned());
    match &suspect.what {
        Volatile::Words { .. } if main && numbers => often.then(at_visits),
        Volatile::Slot { .. } if main => {
            let returns = || format!("{}, and texts came back {} times", at_visits(), suspect.returned);
            let looked = looked.filter(|_| !numbers);
            looked.or_else(|| (often && suspect.returned > 0).then(returns))
        }
        _ => looked.or_else(|| often.then(at_visits)),
    }
}

/// No difference this time, though there could have been one. A second look that shows none shows nothing: counters may
/// stand still for minutes.
pub(super) fn was_quiet(suspect: &mut Suspect, present: bool, seen: Seen) {
    if seen.second_look {
        return;
    }
    suspect.compared = suspect.compared.saturating_add(u16::from(present));
    suspect.quiet = suspect.quiet.saturating_add(1);
}
