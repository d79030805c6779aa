//! The self-adjusting refresh time of the paper's refresh time controller (Sharma and others, seed 004): each page has
//! a refresh time that shrinks while visits find changes and grows while they find none.
//!
//! As printed the formula has no ends: a page that always changes is multiplied by 0.571 for ever, one that never does
//! is doubled for ever. Nor does it say where a refresh time begins, or who is visited if more pages are due than there are
//! visits. Here refresh times count in mean waits that the budget pays for, held pages over visits a day: they begin with
//! one, and stay within a quarter of it and four times. They are strides, so that pages share the visits there are as
//! their refresh times have it (see `strides`); whoever serves the page that is due longest instead lets short refresh times
//! count for little while there are too few visits.

use vernal_model::{Moment, PageKey, PolicyState, Span};

use super::strides::{NOTE_BYTES_MAX, Rule, Strides};
use super::words::{Words, word};
use crate::Seen;
use crate::estimate::RecentVisits;
use crate::pages::Pages;
use crate::parameters::PolicySpec;

/// The shortest and longest refresh time, in mean waits that the budget pays for.
const MEAN_WAITS_MIN: f64 = 0.25;
const MEAN_WAITS_MAX: f64 = 4.0;
/// How far behind its last visit a page with a refresh time of one mean wait stands. Only the ratio of strides counts.
const MEAN_WAIT_STRIDE: Span = Span::from_days(1);

/// The next refresh time by the thresholds of the paper, 0.3 and 0.7.
pub fn adjusted(refresh_time: f64, degree_of_success: f64) -> f64 {
    RefreshTerms::default().adjusted(refresh_time, degree_of_success)
}

/// The thresholds of a page, and the refresh time that it begins with.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct RefreshTerms {
    /// p_l: below this degree of success a page is visited less often.
    pub lower: f64,
    /// p_g: above it, more often.
    pub upper: f64,
    /// The refresh time of a page that no visit could judge yet, in mean waits.
    pub initial: f64,
}

impl Default for RefreshTerms {
    fn default() -> Self {
        RefreshTerms { lower: 0.3, upper: 0.7, initial: 1.0 }
    }
}

impl RefreshTerms {
    /// The next refresh time: t + Δt with Δt = {(1 − p_c/p_g)·u(p_c − p_g) + (1 − p_c/p_l)·u(p_l − p_c)}·t.
    pub fn adjusted(&self, refresh_time: f64, degree_of_success: f64) -> f64 {
        let step = |x: f64| if x > 0.0 { 1.0 } else { 0.0 };
        let shorter = (1.0 - degree_of_success / self.upper) * step(degree_of_success - self.upper);
        let longer = (1.0 - degree_of_success / self.lower) * step(self.lower - degree_of_success);
        refresh_time + (shorter + longer) * refresh_time
    }
}

#[derive(Clone, Debug)]
pub struct RefreshTime {
    terms: RefreshTerms,
    /// The newest visits that p_c counts.
    visits: u8,
    /// The terms of the pages that have their own.
    own: Pages<RefreshTerms>,
}

impl Default for RefreshTime {
    fn default() -> Self {
        RefreshTime { terms: RefreshTerms::default(), visits: RecentVisits::KEPT, own: Pages::default() }
    }
}

/// The record of one URL (seed 004, Figure 4), with refresh times in mean waits that the budget pays for.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct UrlRecord {
    pub terms: RefreshTerms,
    pub refresh_time: f64,
    /// The visits that could be compared, as far as they count, and those that found a change.
    pub visits: u32,
    pub changes: u32,
    /// p_c.
    pub degree_of_success: Option<f64>,
}

impl RefreshTime {
    pub fn of(spec: &PolicySpec) -> Self {
        let default = RefreshTime::default();
        let value = |name: &str, otherwise: f64| spec.value(name).unwrap_or(otherwise);
        let terms = RefreshTerms {
            lower: value("lower", default.terms.lower),
            upper: value("upper", default.terms.upper),
            initial: value("initial", default.terms.initial),
        };
        RefreshTime { terms, visits: value("visits", f64::from(default.visits)) as u8, ..default }
    }

    /// What holds where a page has no terms of its own.
    pub fn terms(&self) -> RefreshTerms {
        self.terms
    }

    /// The record of a page with this state of the policy; `None` if it is no state of it.
    pub fn recorded(&self, state: &PolicyState, own: Option<RefreshTerms>) -> Option<UrlRecord> {
        let mut note = Strides::note_of(self, state)?;
        self.adapt_to(&mut note, own.unwrap_or(self.terms));
        Some(note.record())
    }

    /// The record of a page whose visits found this, the oldest first.
    pub fn replayed(&self, found: impl IntoIterator<Item = bool>, own: Option<RefreshTerms>) -> UrlRecord {
        let mut note = RefreshNote::new(own.unwrap_or(self.terms));
        found.into_iter().for_each(|changed| self.hear_of(&mut note, changed));
        note.record()
    }

    fn hear_of(&self, note: &mut RefreshNote, changed: bool) {
        note.recent.push_among(changed, self.visits);
        let Some(degree) = note.recent.degree_of_success() else { return };
        note.mean_waits = note.terms.adjusted(note.mean_waits, degree).clamp(MEAN_WAITS_MIN, MEAN_WAITS_MAX);
    }

    fn adapt_to(&self, note: &mut RefreshNote, terms: RefreshTerms) {
        note.terms = terms;
        note.recent = note.recent.newest(self.visits);
        if note.recent.visits() == 0 {
            note.mean_waits = terms.initial;
        }
    }

    fn terms_of(&self, page: PageKey) -> RefreshTerms {
        self.own.find(page).copied().unwrap_or(self.terms)
    }
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct RefreshNote {
    mean_waits: f64,
    recent: RecentVisits,
    /// No part of the state: what holds for the page today.
    terms: RefreshTerms,
}

impl RefreshNote {
    fn new(terms: RefreshTerms) -> Self {
        RefreshNote { mean_waits: terms.initial, recent: RecentVisits::default(), terms }
    }

    fn record(&self) -> UrlRecord {
        UrlRecord {
            terms: self.terms,
            refresh_time: self.mean_waits,
            visits: self.recent.visits(),
            changes: self.recent.changes(),
            degree_of_success: self.recent.degree_of_success(),
        }
    }
}

impl Default for RefreshNote {
    fn default() -> Self {
        RefreshNote::new(RefreshTerms::default())
    }
}

impl Rule for RefreshTime {
    const NAME: &'static str = "refresh-time";
    const HAS_TERMS: bool = true;
    type Note = RefreshNote;

    fn new_note(&self, page: PageKey) -> RefreshNote {
        RefreshNote::new(self.terms_of(page))
    }

    fn adapt(&self, note: &mut RefreshNote, page: PageKey) {
        self.adapt_to(note, self.terms_of(page));
    }

    fn set_terms(&mut self, page: PageKey, terms: Option<RefreshTerms>) {
        match terms {
            Some(terms) => self.own.insert(page, terms),
            None => self.own.remove(page),
        };
    }

    fn hear(&self, note: &mut RefreshNote, seen: &Seen) {
        if let Some(changed) = seen.changed {
            self.hear_of(note, changed);
        }
    }

    fn stride(&self, note: &RefreshNote, _: PageKey, _: Moment) -> Span {
        MEAN_WAIT_STRIDE.scaled(note.mean_waits)
    }

    fn state(&self, note: &RefreshNote, bytes: &mut [u8; NOTE_BYTES_MAX]) -> usize {
        bytes[..8].copy_from_slice(&note.mean_waits.to_le_bytes());
        8 + note.recent.write(&mut bytes[8..])
    }

    fn note_from(&self, bytes: &[u8]) -> Option<RefreshNote> {
        let (mean_waits, recent) = bytes.split_first_chunk::<8>()?;
        let mean_waits = f64::from_le_bytes(*mean_waits);
        let (recent, terms) = (RecentVisits::read(recent)?, self.terms);
        (MEAN_WAITS_MIN..=MEAN_WAITS_MAX).contains(&mean_waits).then_some(RefreshNote { mean_waits, recent, terms })
    }

    fn why(&self, note: &RefreshNote, _: Moment) -> Words {
        let recent = note.recent;
        let success = match recent.degree_of_success() {
            None => "not known: no visit could be compared yet".into(),
            Some(degree) => {
                let RefreshTerms { lower, upper, .. } = note.terms;
                let effect = match degree {
                    high if high > upper => format!("above {upper}, so the refresh time shrinks"),
                    low if low < lower => format!("below {lower}, so the refresh time grows"),
                    _ => format!("between {lower} and {upper}, so the refresh time stays"),
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
            word("degree of success", success),
            word("refresh time", format!("{:.2} mean waits", note.mean_waits)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(note: &mut RefreshNote, changed: Option<bool>) {
        RefreshTime::default().hear(
            note,
            &Seen {
                page: PageKey::default(),
                moment: Moment::EPOCH,
                previous: None,
                changed,
                degree: 0.0,
                last_modified: None,
                wire_bytes: 0,
            },
        );
    }

    fn after(visits: u32, changed: bool) -> RefreshNote {
        let mut note = RefreshNote::default();
        (0..visits).for_each(|_| heard(&mut note, Some(changed)));
        note
    }

    #[test]
    fn the_refresh_time_cannot_run_away() {
        assert_eq!(after(500, true).mean_waits, MEAN_WAITS_MIN);
        assert_eq!(after(500, false).mean_waits, MEAN_WAITS_MAX);
    }

    #[test]
    fn an_answer_that_cannot_be_compared_leaves_the_refresh_time() {
        let mut note = after(1, false);
        assert_eq!(note.mean_waits, 2.0);
        heard(&mut note, None);
        assert_eq!(note, after(1, false));
    }

    #[test]
    fn a_state_is_read_back_as_it_was_written() {
        let (note, mut bytes) = (after(3, true), [0; NOTE_BYTES_MAX]);
        let length = RefreshTime::default().state(&note, &mut bytes);
        assert_eq!(RefreshTime::default().note_from(&bytes[..length]), Some(note));
        assert_eq!(RefreshTime::default().note_from(&bytes[..length - 1]), None);
        bytes[..8].copy_from_slice(&f64::NAN.to_le_bytes());
        assert_eq!(RefreshTime::default().note_from(&bytes[..length]), None);
    }

    #[test]
    fn thresholds_of_a_page_are_its_own_and_leave_the_others_alone() {
        let (own, other) = (PageKey::new(vernal_model::Partition(0), 1), PageKey::new(vernal_model::Partition(0), 2));
        let mut rule = RefreshTime::default();
        rule.set_terms(own, Some(RefreshTerms { lower: 0.05, upper: 0.2, initial: 2.0 }));
        let found = |rule: &RefreshTime, page: PageKey| {
            let mut note = rule.new_note(page);
            for changed in [true, false, false, false] {
                rule.hear_of(&mut note, changed);
            }
            note
        };
        // p_c is 1, 1/2, 1/3, 1/4: always above 0.2 here, and twice within the paper's thresholds, once below.
        let expected = RefreshTerms::default();
        assert_eq!(found(&rule, own).mean_waits, MEAN_WAITS_MIN);
        let first = expected.adjusted(1.0, 1.0);
        assert_eq!(found(&rule, other).mean_waits, expected.adjusted(first, 0.25));
        rule.set_terms(own, None);
        assert_eq!(found(&rule, own), found(&rule, other));
    }

    #[test]
    fn a_kept_state_reacts_to_parameters_that_changed() {
        let mut bytes = [0; NOTE_BYTES_MAX];
        let new = RefreshTime::default().new_note(PageKey::default());
        let length = RefreshTime::default().state(&new, &mut bytes);
        let spec = PolicySpec::parse("refresh-time:initial=2,visits=3,lower=0.1").unwrap();
        let rule = RefreshTime::of(&spec);
        let adapted = |rule: &RefreshTime, bytes: &[u8]| {
            let mut note = rule.note_from(bytes).unwrap();
            rule.adapt(&mut note, PageKey::default());
            note
        };
        assert_eq!(adapted(&rule, &bytes[..length]).mean_waits, 2.0, "nothing was learned yet");
        let length = RefreshTime::default().state(&after(8, false), &mut bytes);
        let kept = adapted(&rule, &bytes[..length]);
        assert_eq!((kept.mean_waits, kept.recent.visits(), kept.terms.lower), (MEAN_WAITS_MAX, 3, 0.1));
    }

    #[test]
    fn a_record_is_the_same_from_the_state_and_from_the_visits() {
        let rule = RefreshTime::default();
        let mut policy = Strides::by(rule.clone());
        let (mut state, found) = (PolicyState::default(), [false, true, true, false, true, true, true]);
        for (day, changed) in (1..).zip(found) {
            let moment = Moment::from_secs(1_000) + Span::from_days(day);
            state = crate::Refresh::learn(
                &mut policy,
                &Seen { changed: Some(changed), ..Seen::new(PageKey::default(), moment) },
            );
        }
        let record = rule.recorded(&state, None).unwrap();
        assert_eq!(record, rule.replayed(found, None));
        assert_eq!((record.visits, record.changes), (7, 5));
        assert_eq!(rule.recorded(&PolicyState::default(), None), None);
    }
}
