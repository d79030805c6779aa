//! The self-adjusting refresh time of the paper's refresh time controller (Sharma and others, seed 004): each page has
//! a refresh time that shrinks while visits find changes and grows while they find none.
//!
//! As printed the formula has no ends: a page that always changes is multiplied by 0.571 for ever, one that never does
//! is doubled for ever. Here the refresh time stays between `refresh_min` and [`REFRESH_TIME_MAX`].
//!
//! The state of a page, 12 bytes: format (1), refresh time in microseconds (8, little-endian), recent visits (3).

use vernal_model::{Chance, Moment, PageKey, PolicyState, Span};

use super::agenda::Agenda;
use crate::estimate::RecentVisits;
use crate::{Held, Refresh, Seen, View};

/// p_g: above this degree of success a page is visited more often.
const SUCCESS_HIGH: f64 = 0.7;
/// p_l: below it, less often.
const SUCCESS_LOW: f64 = 0.3;
/// Before anything is known, a page is visited again after this.
const REFRESH_TIME_FIRST: Span = Span::from_days(1);
/// However quiet a page is, it is looked at again after this.
const REFRESH_TIME_MAX: Span = Span::from_days(90);
const FORMAT: u8 = 1;

/// The next refresh time: t + Δt with Δt = {(1 − p_c/p_g)·u(p_c − p_g) + (1 − p_c/p_l)·u(p_l − p_c)}·t.
pub fn adjusted(refresh_time: f64, degree_of_success: f64) -> f64 {
    let step = |x: f64| if x > 0.0 { 1.0 } else { 0.0 };
    let shorter = (1.0 - degree_of_success / SUCCESS_HIGH) * step(degree_of_success - SUCCESS_HIGH);
    let longer = (1.0 - degree_of_success / SUCCESS_LOW) * step(SUCCESS_LOW - degree_of_success);
    refresh_time + (shorter + longer) * refresh_time
}

#[derive(Clone, Debug, Default)]
pub struct RefreshTime {
    agenda: Agenda<Note>,
    /// `refresh_min` as the last view gave it: no refresh time sinks below it, or it would take long to grow back.
    refresh_min: Span,
}

#[derive(Copy, Clone, Debug, PartialEq)]
struct Note {
    refresh_time: Span,
    recent: RecentVisits,
}

impl RefreshTime {
    pub const NAME: &'static str = "refresh-time";

    pub fn new() -> Self {
        RefreshTime::default()
    }
}

impl Refresh for RefreshTime {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn recall(&mut self, held: &Held<'_>) {
        let note = Note::from_state(held.state).unwrap_or_default();
        self.agenda.put(held.page, Some(held.site), held.last_visit, held.last_visit + note.refresh_time, note);
    }

    fn choose(&mut self, view: &dyn View, now: Moment, _: &mut Chance) -> Vec<PageKey> {
        self.refresh_min = view.refresh_min();
        self.agenda.draw(view, Span::ZERO, now)
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        let mut note = self.agenda.find(seen.page).map_or_else(Note::default, |entry| entry.note);
        if let Some(changed) = seen.changed {
            note.hear(changed, self.refresh_min);
        }
        self.agenda.put(seen.page, None, seen.moment, seen.moment + note.refresh_time, note);
        note.state()
    }

    fn put_back(&mut self, page: PageKey) {
        self.agenda.put_back(page);
    }

    fn forget(&mut self, page: PageKey) {
        self.agenda.forget(page);
    }

    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment> {
        self.agenda.next_due(view, Span::ZERO, now)
    }

    fn why(&self, page: PageKey, now: Moment) -> Vec<(String, String)> {
        let Some(entry) = self.agenda.find(page) else { return Vec::new() };
        let recent = entry.note.recent;
        let success = match recent.degree_of_success() {
            None => "not known: no visit could be compared yet".into(),
            Some(degree) => {
                let effect = match degree {
                    high if high > SUCCESS_HIGH => "above 0.7, so the refresh time shrinks",
                    low if low < SUCCESS_LOW => "below 0.3, so the refresh time grows",
                    _ => "between 0.3 and 0.7, so the refresh time stays",
                };
                format!(
                    "{degree:.2} ({} of the last {} visits found a change), {effect}",
                    recent.changes(),
                    recent.visits()
                )
            }
        };
        let due = match entry.due > now {
            true => format!("{}, in {}", entry.due, entry.due.since(now)),
            false => format!("{}, {} ago", entry.due, now.since(entry.due)),
        };
        vec![
            ("policy".into(), "refresh-time: each page has its own refresh time, adjusted after every visit".into()),
            ("last visit".into(), format!("{}, {} ago", entry.last_visit, now.since(entry.last_visit))),
            ("degree of success".into(), success),
            ("refresh time".into(), entry.note.refresh_time.to_string()),
            ("due".into(), due),
        ]
    }
}

impl Default for Note {
    fn default() -> Self {
        Note { refresh_time: REFRESH_TIME_FIRST, recent: RecentVisits::default() }
    }
}

impl Note {
    fn hear(&mut self, changed: bool, refresh_min: Span) {
        self.recent.push(changed);
        let Some(degree) = self.recent.degree_of_success() else { return };
        let next = Span::from_secs_f64(adjusted(self.refresh_time.secs_f64(), degree));
        self.refresh_time = next.max(refresh_min.max(Span::from_secs(1))).min(REFRESH_TIME_MAX);
    }

    fn state(&self) -> PolicyState {
        let mut bytes = [FORMAT; 12];
        bytes[1..9].copy_from_slice(&self.refresh_time.micros().to_le_bytes());
        bytes[9..].copy_from_slice(&self.recent.bytes());
        PolicyState::new(&bytes).expect("12 bytes are fewer than a policy may keep")
    }

    fn from_state(state: &PolicyState) -> Option<Self> {
        let bytes: &[u8; 12] = state.bytes().try_into().ok()?;
        let (&format, rest) = bytes.split_first()?;
        let (refresh_time, recent) = rest.split_first_chunk::<8>()?;
        let refresh_time = Span::from_micros(u64::from_le_bytes(*refresh_time));
        let recent = RecentVisits::from_bytes(recent.try_into().ok()?)?;
        (format == FORMAT && refresh_time <= REFRESH_TIME_MAX).then_some(Note { refresh_time, recent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(visits: u32, changed: bool) -> Note {
        let mut note = Note::default();
        for _ in 0..visits {
            note.hear(changed, Span::from_hours(1));
        }
        note
    }

    #[test]
    fn the_refresh_time_cannot_run_away() {
        assert_eq!(after(500, true).refresh_time, Span::from_hours(1));
        assert_eq!(after(500, false).refresh_time, REFRESH_TIME_MAX);
    }

    #[test]
    fn an_answer_that_cannot_be_compared_moves_the_visit_and_not_the_refresh_time() {
        let mut policy = RefreshTime::new();
        let page = PageKey::default();
        let mut seen = Seen {
            page,
            moment: Moment::EPOCH,
            previous: None,
            changed: Some(false),
            degree: 0.0,
            last_modified: None,
            wire_bytes: 0,
        };
        let state = policy.learn(&seen);
        seen.moment = Moment::from_secs(50);
        seen.changed = None;
        assert_eq!(policy.learn(&seen), state);
        let why = policy.why(page, Moment::from_secs(60));
        assert!(why.contains(&("refresh time".into(), "2d".into())), "{why:?}");
    }

    #[test]
    fn a_state_is_read_back_as_it_was_written() {
        let note = after(3, true);
        assert_eq!(Note::from_state(&note.state()), Some(note));
        assert_eq!(Note::from_state(&PolicyState::default()), None);
    }
}
