//! The self-adjusting refresh time of the paper's refresh time controller (Sharma and others, seed 004): each page has
//! a refresh time that shrinks while visits find changes and grows while they find none.
//!
//! As printed the formula has no ends: a page that always changes is multiplied by 0.571 for ever, one that never does
//! is doubled for ever. Nor does it say where a refresh time begins, or who is visited if more pages are due than there are
//! visits. Here refresh times count in mean waits that the budget pays for, held pages over visits a day: they begin with
//! one, and stay within a quarter of it and four times. They are strides, so that pages share the visits there are as
//! their refresh times have it (see `strides`); whoever serves the page that is due longest instead lets short refresh times
//! count for little while there are too few visits.

use vernal_model::{Moment, PageKey, Span};

use super::strides::{NOTE_BYTES_MAX, Rule};
use super::words::{Words, word};
use crate::Seen;
use crate::estimate::RecentVisits;

/// p_g: above this degree of success a page is visited more often.
const SUCCESS_HIGH: f64 = 0.7;
/// p_l: below it, less often.
const SUCCESS_LOW: f64 = 0.3;
/// The shortest and longest refresh time, in mean waits that the budget pays for.
const MEAN_WAITS_MIN: f64 = 0.25;
const MEAN_WAITS_MAX: f64 = 4.0;
/// How far behind its last visit a page with a refresh time of one mean wait stands. Only the ratio of strides counts.
const MEAN_WAIT_STRIDE: Span = Span::from_days(1);

/// The next refresh time: t + Δt with Δt = {(1 − p_c/p_g)·u(p_c − p_g) + (1 − p_c/p_l)·u(p_l − p_c)}·t.
pub fn adjusted(refresh_time: f64, degree_of_success: f64) -> f64 {
    let step = |x: f64| if x > 0.0 { 1.0 } else { 0.0 };
    let shorter = (1.0 - degree_of_success / SUCCESS_HIGH) * step(degree_of_success - SUCCESS_HIGH);
    let longer = (1.0 - degree_of_success / SUCCESS_LOW) * step(SUCCESS_LOW - degree_of_success);
    refresh_time + (shorter + longer) * refresh_time
}

#[derive(Copy, Clone, Debug, Default)]
pub struct RefreshTime;

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct RefreshNote {
    mean_waits: f64,
    recent: RecentVisits,
}

impl Default for RefreshNote {
    fn default() -> Self {
        RefreshNote { mean_waits: 1.0, recent: RecentVisits::default() }
    }
}

impl Rule for RefreshTime {
    const NAME: &'static str = "refresh-time";
    type Note = RefreshNote;

    fn hear(&self, note: &mut RefreshNote, seen: &Seen) {
        let Some(changed) = seen.changed else { return };
        note.recent.push(changed);
        let Some(degree) = note.recent.degree_of_success() else { return };
        note.mean_waits = adjusted(note.mean_waits, degree).clamp(MEAN_WAITS_MIN, MEAN_WAITS_MAX);
    }

    fn stride(&self, note: &RefreshNote, _: PageKey, _: Moment) -> Span {
        MEAN_WAIT_STRIDE.scaled(note.mean_waits)
    }

    fn state(&self, note: &RefreshNote, bytes: &mut [u8; NOTE_BYTES_MAX]) -> usize {
        bytes[..8].copy_from_slice(&note.mean_waits.to_le_bytes());
        bytes[8..11].copy_from_slice(&note.recent.bytes());
        11
    }

    fn note_from(&self, bytes: &[u8]) -> Option<RefreshNote> {
        let (mean_waits, recent) = bytes.split_first_chunk::<8>()?;
        let mean_waits = f64::from_le_bytes(*mean_waits);
        let recent = RecentVisits::from_bytes(recent.try_into().ok()?)?;
        (MEAN_WAITS_MIN..=MEAN_WAITS_MAX).contains(&mean_waits).then_some(RefreshNote { mean_waits, recent })
    }

    fn why(&self, note: &RefreshNote, _: Moment) -> Words {
        let recent = note.recent;
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
            word("degree of success", success),
            word("refresh time", format!("{:.2} mean waits", note.mean_waits)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(note: &mut RefreshNote, changed: Option<bool>) {
        RefreshTime.hear(
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
        let length = RefreshTime.state(&note, &mut bytes);
        assert_eq!(RefreshTime.note_from(&bytes[..length]), Some(note));
        assert_eq!(RefreshTime.note_from(&bytes[..length - 1]), None);
        bytes[..8].copy_from_slice(&f64::NAN.to_le_bytes());
        assert_eq!(RefreshTime.note_from(&bytes[..length]), None);
    }
}
