//! How far the Last-Modified dates of pages are trusted, learned from what visits found.
//!
//! A date that moved since the previous visit, together with the page, is right: it places the change in time. A date
//! that moved while the page did not change, or that says "just now" of a page not visited for long, is wrong. A page
//! that changed under its old date was missed.

use vernal_model::{Moment, Muted, Span, TrustRow};

use super::trust::{fade, precision};

/// A date this close to the visit is "just now": if the previous visit was much earlier, this is hardly chance.
const JUST_NOW: Span = Span::from_secs(60);
const LONG_SINCE: Span = Span::from_hours(1);
/// Dates are trusted once at least this many were judged and at least this share of them was right.
const BELIEVED_OUTCOMES_MIN: f64 = 5.0;
const BELIEVED_PRECISION_MIN: f64 = 0.8;
/// Dates are muted when at least this many were judged and less than this share was right; they are used again above
/// the second share.
const MUTED_OUTCOMES_MIN: f64 = 10.0;
const MUTED_BELOW: f64 = 0.2;
const HEARD_ABOVE: f64 = 0.4;

/// Learns what a visit found of a page with a date.
pub fn hear_date(row: &mut TrustRow, date: Moment, seen: Moment, changed: bool, now: Moment) {
    fade(row, now);
    let has_moved = date > seen;
    if !has_moved {
        row.missed += f64::from(u8::from(changed));
        return;
    }
    row.heard += 1;
    row.last_heard = now;
    let is_just_now = now.since(date) <= JUST_NOW && now.since(seen) >= LONG_SINCE;
    if changed && !is_just_now {
        row.right += 1.0;
    } else {
        row.wrong += 1.0;
    }
    judge(row, now);
}

/// Whether changes are placed in time by the dates.
pub fn dates_are_believed(row: &TrustRow) -> bool {
    row.muted.is_none() && row.right + row.wrong >= BELIEVED_OUTCOMES_MIN && precision(row) >= BELIEVED_PRECISION_MIN
}

fn judge(row: &mut TrustRow, now: Moment) {
    let judged = row.right + row.wrong;
    match &row.muted {
        None if judged >= MUTED_OUTCOMES_MIN && precision(row) < MUTED_BELOW => {
            let why =
                format!("its dates are those of the visits: of {judged:.0} that moved {:.0} told a change", row.right);
            row.muted = Some(Muted { since: now, why: why.into(), by_look: false });
        }
        Some(_) if precision(row) > HEARD_ABOVE => row.muted = None,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::Chance;

    use super::*;

    const DAY: Span = Span::from_days(1);

    /// Visits every three days to pages that change every six on average; `date` says what the page claims, by its last change.
    fn watched(visits: u64, mut date: impl FnMut(Moment, Moment) -> Moment) -> TrustRow {
        let mut chance = Chance::new(5).stream("dates");
        let mut row = TrustRow::default();
        let start = Moment::from_secs(1_777_600_000);
        let mut last_change = start;
        for visit in 1..=visits {
            let (seen, now) = (start + DAY.scaled(3.0 * (visit - 1) as f64), start + DAY.scaled(3.0 * visit as f64));
            let after = chance.wait(1.0 / 6.0);
            let changed = after < 3.0;
            if changed {
                last_change = seen + DAY.scaled(after);
            }
            hear_date(&mut row, date(last_change, now), seen, changed, now);
        }
        row
    }

    #[test]
    fn honest_dates_are_believed_after_a_few_changes() {
        let row = watched(40, |change, _| change);
        assert!(dates_are_believed(&row) && row.wrong == 0.0, "{row:?}");
        assert!(!dates_are_believed(&watched(4, |change, _| change)), "four visits prove nothing");
    }

    #[test]
    fn a_site_that_always_says_now_is_muted_whether_its_pages_change_or_not() {
        let row = watched(40, |_, now| now);
        assert!(row.muted.as_ref().is_some_and(|muted| muted.why.contains("those of the visits")), "{row:?}");
        assert!(!dates_are_believed(&row));
    }

    #[test]
    fn dates_that_never_move_are_no_evidence_and_every_change_is_missed() {
        let row = watched(40, |_, _| Moment::from_secs(1_000_000_000));
        assert!(row.right + row.wrong == 0.0 && row.missed > 5.0 && !dates_are_believed(&row), "{row:?}");
    }

    #[test]
    fn a_site_that_ceases_to_lie_is_heard_again() {
        let mut row = watched(20, |_, now| now);
        assert!(row.muted.is_some());
        let start = Moment::from_secs(1_777_600_000) + DAY.scaled(100.0);
        for visit in 1..=60u32 {
            let now = start + DAY.scaled(3.0 * f64::from(visit));
            hear_date(&mut row, now - DAY, now - DAY.scaled(3.0), true, now);
        }
        assert!(dates_are_believed(&row), "{row:?}");
    }
}
