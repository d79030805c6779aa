//! The change frequency-based policy (seed 000, section 1.3): every page's own history says how often it changes, and
//! it is visited as often, scaled to the budget.
//!
//! The rate is the bias-reduced one, for the papers' D/V saturates at one change per visit. A page without a change is
//! not said to be quieter than it was watched to be.

use vernal_model::{Moment, PageKey, Span};

use super::strides::{NOTE_BYTES_MAX, Rule};
use super::words::{Words, word};
use crate::Seen;
use crate::estimate::bias_reduced;
use crate::parameters::PolicySpec;

const FIRST: Span = Span::from_days(7);
const LONGEST: Span = Span::from_days(365);
/// However many visits are said to count, a kept history has no more.
const VISITS_MAX: f32 = 1_000.0;

#[derive(Copy, Clone, Debug)]
pub struct ChangeFrequency {
    /// Beyond this many visits older ones fade, so that a rate that drifts is followed.
    visits_max: f64,
}

impl ChangeFrequency {
    pub fn of(spec: &PolicySpec) -> Self {
        ChangeFrequency { visits_max: spec.value("dates").unwrap_or(30.0) }
    }
}

#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct History {
    visits: f32,
    changes: f32,
    /// How long the page was watched, in days.
    days: f32,
}

impl History {
    fn rate_per_day(&self) -> f64 {
        let (visits, days) = (f64::from(self.visits), f64::from(self.days));
        if visits < 1.0 || days <= 0.0 {
            return 1.0 / FIRST.days_f64();
        }
        let rate = bias_reduced(visits, f64::from(self.changes), days / visits);
        // Half a change in all the time that it was watched.
        rate.max(0.5 / days)
    }
}

impl Rule for ChangeFrequency {
    const NAME: &'static str = "change-frequency";
    type Note = History;

    fn hear(&self, note: &mut History, seen: &Seen) {
        let (Some(changed), Some(previous)) = (seen.changed, seen.previous) else { return };
        let fade = (self.visits_max / (f64::from(note.visits) + 1.0)).min(1.0) as f32;
        note.visits = (note.visits + 1.0) * fade;
        note.changes = (note.changes + f32::from(u8::from(changed))) * fade;
        note.days = (note.days + seen.moment.since(previous).days_f64() as f32) * fade;
    }

    /// A history of more visits than count now is worth as many as count.
    fn adapt(&self, note: &mut History, _: PageKey) {
        let fade = (self.visits_max / f64::from(note.visits).max(1.0)).min(1.0) as f32;
        (note.visits, note.changes, note.days) = (note.visits * fade, note.changes * fade, note.days * fade);
    }

    fn stride(&self, note: &History, _: PageKey, _: Moment) -> Span {
        Span::from_secs_f64(86_400.0 / note.rate_per_day()).max(Span::from_secs(60)).min(LONGEST)
    }

    fn state(&self, note: &History, bytes: &mut [u8; NOTE_BYTES_MAX]) -> usize {
        for (part, place) in [note.visits, note.changes, note.days].iter().zip(bytes.chunks_exact_mut(4)) {
            place.copy_from_slice(&part.to_le_bytes());
        }
        12
    }

    fn note_from(&self, bytes: &[u8]) -> Option<History> {
        let bytes: &[u8; 12] = bytes.try_into().ok()?;
        let part = |at: usize| f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let note = History { visits: part(0), changes: part(4), days: part(8) };
        let fits = note.visits <= VISITS_MAX && note.changes <= note.visits && note.changes >= 0.0;
        (fits && note.days.is_finite() && note.days >= 0.0).then_some(note)
    }

    fn why(&self, note: &History, _: Moment) -> Words {
        let history = format!("{:.1} changes in {:.1} visits over {:.1} days", note.changes, note.visits, note.days);
        vec![
            word("policy", "change-frequency: a page is visited as often as its own history says that it changes"),
            word("history", history),
            word("change rate", format!("{:.4} a day", note.rate_per_day())),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_of_more_visits_than_count_now_keeps_its_rate_and_loses_weight() {
        let few = ChangeFrequency { visits_max: 10.0 };
        let mut note = History { visits: 40.0, changes: 20.0, days: 80.0 };
        few.adapt(&mut note, PageKey::default());
        assert_eq!(note, History { visits: 10.0, changes: 5.0, days: 20.0 });
    }
}
