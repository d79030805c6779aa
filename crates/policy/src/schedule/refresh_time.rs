//! The self-adjusting refresh time of the paper's refresh time controller (Sharma and others, seed 004): each page has
//! a refresh time that shrinks while visits find changes and grows while they find none.
//!
//! As printed the formula has no ends: a page that always changes is multiplied by 0.571 for ever, one that never does
//! is doubled for ever. Here the refresh time stays between `refresh_min` and [`REFRESH_TIME_MAX`], and within a quarter
//! and four times of the mean wait that the budget pays for, held pages over visits a day: without that most of the
//! budget goes to the few pages that always change. The paper does not say where a refresh time begins: here at that mean
//! wait, and the pages of one beginning are spread over it, so that they are not all due at once.
//!
//! The state of a page, 12 bytes: format (1), refresh time in microseconds (8, little-endian), recent visits (3).

use std::collections::BTreeSet;

use vernal_model::{Chance, Moment, PageKey, PolicyState, Span};

use super::agenda::{Agenda, Terms};
use super::words::{due, last_visit, lot, mean_wait, word};
use crate::estimate::RecentVisits;
use crate::{Held, Refresh, Seen, View};

/// p_g: above this degree of success a page is visited more often.
const SUCCESS_HIGH: f64 = 0.7;
/// p_l: below it, less often.
const SUCCESS_LOW: f64 = 0.3;
/// Before anything is known, a page is visited again after this where no budget says what it pays for.
const REFRESH_TIME_FIRST: Span = Span::from_days(1);
/// However quiet a page is, it is looked at again after this.
const REFRESH_TIME_MAX: Span = Span::from_days(90);
/// The shortest and longest refresh time, in mean waits that the budget pays for.
const MEAN_WAITS: (f64, f64) = (0.25, 4.0);
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
    bounds: Bounds,
    /// Pages of which nothing is known, taken up before any view told the bounds.
    unplaced: BTreeSet<PageKey>,
    has_looked: bool,
}

/// The ends of a refresh time, as the last view gave them.
#[derive(Copy, Clone, Debug)]
struct Bounds {
    first: Span,
    min: Span,
    max: Span,
}

#[derive(Copy, Clone, Debug, Default, PartialEq)]
struct Note {
    /// Nothing before the page was compared once.
    refresh_time: Span,
    recent: RecentVisits,
}

impl RefreshTime {
    pub const NAME: &'static str = "refresh-time";

    pub fn new() -> Self {
        RefreshTime::default()
    }

    /// How long a page waits for its next visit. Until it was compared once it is due somewhere within its refresh time, by a
    /// lot of its own.
    fn wait(&self, page: PageKey, note: Note) -> Span {
        let share = if note.has_begun() { 1.0 } else { lot(page, 0) as f64 / 2f64.powi(64) };
        note.refresh_time(self.bounds).scaled(share)
    }

    fn put(&mut self, page: PageKey, site: Option<u32>, last_visit: Moment, note: Note) {
        if !self.has_looked && !note.has_begun() {
            self.unplaced.insert(page);
        }
        self.agenda.put(page, site, last_visit, last_visit + self.wait(page, note), note);
    }

    /// Hears the bounds; pages that were taken up before begin by them.
    fn look(&mut self, view: &dyn View) {
        self.bounds = Bounds::of(view);
        if std::mem::replace(&mut self.has_looked, true) {
            return;
        }
        for page in std::mem::take(&mut self.unplaced) {
            let begun = self.agenda.find(page).map(|entry| (entry.last_visit, entry.note));
            let Some((last_visit, note)) = begun.filter(|(_, note)| !note.has_begun()) else { continue };
            self.put(page, None, last_visit, note);
        }
    }
}

impl Refresh for RefreshTime {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn recall(&mut self, held: &Held<'_>) {
        let note = Note::from_state(held.state).unwrap_or_default();
        self.put(held.page, Some(held.site), held.last_visit, note);
    }

    fn choose(&mut self, view: &dyn View, now: Moment, _: &mut Chance) -> Vec<PageKey> {
        self.look(view);
        self.agenda.draw(view, Terms::due_by(now), view.visits_left())
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        let mut note = self.agenda.find(seen.page).map_or_else(Note::default, |entry| entry.note);
        if let Some(changed) = seen.changed {
            note.hear(changed, self.bounds);
        }
        self.put(seen.page, None, seen.moment, note);
        note.state()
    }

    fn put_back(&mut self, page: PageKey) {
        self.agenda.put_back(page);
    }

    fn forget(&mut self, page: PageKey) {
        self.agenda.forget(page);
    }

    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment> {
        if !self.has_looked {
            // Once, before the first choice: the pages that were taken up begin by the bounds of this view.
            let mut looked = self.clone();
            looked.look(view);
            return looked.next_due(view, now);
        }
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
        vec![
            word("policy", "refresh-time: each page has its own refresh time, adjusted after every visit"),
            last_visit(entry.last_visit, now),
            word("degree of success", success),
            word("refresh time", entry.note.refresh_time(self.bounds).to_string()),
            due(entry.due, now),
        ]
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { first: REFRESH_TIME_FIRST, min: Span::from_secs(1), max: REFRESH_TIME_MAX }
    }
}

impl Bounds {
    fn of(view: &dyn View) -> Self {
        let least = view.refresh_min().max(Span::from_secs(1)).min(REFRESH_TIME_MAX);
        let Some(mean) = mean_wait(view.held(), view.per_day()) else {
            return Bounds { first: REFRESH_TIME_FIRST.max(least), min: least, max: REFRESH_TIME_MAX };
        };
        let within = |factor: f64| mean.scaled(factor).max(least).min(REFRESH_TIME_MAX);
        Bounds { first: within(1.0), min: within(MEAN_WAITS.0), max: within(MEAN_WAITS.1) }
    }
}

impl Note {
    /// Whether it was compared once; before, its refresh time is what the bounds say.
    fn has_begun(self) -> bool {
        self.refresh_time > Span::ZERO
    }

    fn refresh_time(self, bounds: Bounds) -> Span {
        if self.has_begun() { self.refresh_time } else { bounds.first }
    }

    fn hear(&mut self, changed: bool, bounds: Bounds) {
        self.recent.push(changed);
        let Some(degree) = self.recent.degree_of_success() else { return };
        let next = Span::from_secs_f64(adjusted(self.refresh_time(bounds).secs_f64(), degree));
        self.refresh_time = next.min(bounds.max).max(bounds.min);
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
        let bounds = Bounds { min: Span::from_hours(1), ..Bounds::default() };
        let mut note = Note::default();
        for _ in 0..visits {
            note.hear(changed, bounds);
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
