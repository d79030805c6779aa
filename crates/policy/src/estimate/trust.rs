//! How far a source of hints is trusted: its recall, its false alarms and its precision, learned from what visits
//! found, site by site and source by source.
//!
//! A visit finds the page changed or not, and a hint came before it or not. Hinted and changed is right, hinted and
//! unchanged is wrong, changed without a hint is missed. Hinted and changed may also be chance: the page changed
//! without a hint before a false alarm, or by itself while the alarm waited for its visit, with probability s = 1 −
//! e^(−unsaid·before − rate·wait). Of such a visit the share p / (p + (1 − p)·s) counts as right, p being the precision
//! believed before (one step of expectation and maximisation); the rest is a false alarm and a missed change.
//!
//! False alarms are counted per day up to the first hint after a visit: a source that gives a hint every day counts
//! once a day, however seldom we visit. All counts decay with a half-life, so that trust may fall and rise again.

use vernal_model::{Moment, Muted, Span, TrustRow};

use super::{days_per_hint_of_all, kept_after};

/// Outcomes count half after this time: sites change their behaviour with their software.
const HALF_LIFE: Span = Span::from_days(90);
/// The prior of recall: a source announces three changes in ten; the prior counts as this many changes.
const RECALL_FIRST: f64 = 0.3;
const RECALL_FIRST_WEIGHT: f64 = 10.0;
/// The prior of precision: one hint in two is right; the prior counts as two outcomes. False alarms are as frequent as
/// changes, and that prior counts as one of them.
const PRECISION_FIRST: f64 = 0.5;
const PRECISION_FIRST_WEIGHT: f64 = 2.0;
const FALSE_FIRST_WEIGHT: f64 = 1.0;
/// A source is muted when at least this many of its hints were judged and less than this share was right …
const MUTED_OUTCOMES_MIN: f64 = 10.0;
const MUTED_BELOW: f64 = 0.1;
/// … and used again when more than this share is right.
const HEARD_ABOVE: f64 = 0.2;
/// A list tells nothing about changes if, of at least this many dates, more than this share is one and the same, or is
/// the hour at which the list was read.
const LOOK_DATES_MIN: usize = 20;
const LOOK_SHARE_MAX: f64 = 0.9;
/// A page's own statements are trusted once at least this many were judged and at least this share was right; both per
/// site.
const CADENCE_OUTCOMES_MIN: f64 = 5.0;
const CADENCE_RIGHT_MIN: f64 = 0.9;
/// Such a page is not visited for this share of its period, so that the visit still tests the statement.
const REST_SHARE: f64 = 0.9;
/// However static a page says it is, it is visited at least this often.
const REST_MAX: Span = Span::from_days(30);

/// What one visit shows about one source.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Since the visit before.
    pub elapsed_days: f64,
    /// From the visit before up to the first hint, if there was one.
    pub hinted_after_days: Option<f64>,
    pub changed: bool,
}

/// Statistics of the dates in a list.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    pub dated: usize,
    /// Dates that are the most frequent one.
    pub same: usize,
    /// Dates that are the hour, or the day, at which the list was read.
    pub now: usize,
}

/// Learns what a visit found. `mean_rate` is that of all pages, per day.
pub fn hear(row: &mut TrustRow, outcome: Outcome, mean_rate: f64, now: Moment) {
    fade(row, now);
    let rate = change_rate(row, mean_rate);
    let elapsed = outcome.elapsed_days.max(0.0);
    row.watched_days += elapsed;
    let Some(after) = outcome.hinted_after_days else {
        row.exposed_days += elapsed;
        row.missed += f64::from(u8::from(outcome.changed));
        return;
    };
    let after = after.clamp(0.0, elapsed);
    row.exposed_days += after;
    if !outcome.changed {
        row.wrong += 1.0;
        return;
    }
    let believed = precision(row);
    let unsaid = (1.0 - recall(row)) * rate;
    let by_itself = 1.0 - (-unsaid * after - rate * (elapsed - after)).exp();
    let right = believed / (believed + (1.0 - believed) * by_itself);
    row.right += right;
    row.wrong += 1.0 - right;
    row.missed += 1.0 - right;
}

/// The share of real changes that the source announces.
pub fn recall(row: &TrustRow) -> f64 {
    (row.right + RECALL_FIRST * RECALL_FIRST_WEIGHT) / (row.right + row.missed + RECALL_FIRST_WEIGHT)
}

/// The share of the source's hints that were followed by a real change.
pub fn precision(row: &TrustRow) -> f64 {
    (row.right + PRECISION_FIRST * PRECISION_FIRST_WEIGHT) / (row.right + row.wrong + PRECISION_FIRST_WEIGHT)
}

/// The change rate of one page that the source covers, per day.
pub fn change_rate(row: &TrustRow, mean_rate: f64) -> f64 {
    (row.right + row.missed + 1.0) / (row.watched_days + 1.0 / mean_rate.max(f64::MIN_POSITIVE))
}

/// False alarms for one page, per day.
pub fn false_rate(row: &TrustRow, mean_rate: f64) -> f64 {
    let first = FALSE_FIRST_WEIGHT / mean_rate.max(f64::MIN_POSITIVE);
    (row.wrong + FALSE_FIRST_WEIGHT) / (row.exposed_days + first)
}

/// The change rate per day of a page that was seen to change so often in so many days, where the source's pages change as
/// they do.
pub fn page_rate(row: &TrustRow, mean_rate: f64, changes: u32, days: f64) -> f64 {
    (f64::from(changes) + 1.0) / (days.max(0.0) + 1.0 / change_rate(row, mean_rate))
}

/// The waiting time that a hint for a page with this change rate counts for; zero for a muted source.
pub fn worth(row: &TrustRow, rate: f64, mean_rate: f64) -> Span {
    if row.muted.is_some() {
        return Span::ZERO;
    }
    let days = days_per_hint_of_all(rate, recall(row), false_rate(row, mean_rate));
    Span::from_secs_f64(days * 86_400.0)
}

/// Mutes a source whose hints are followed by no changes, and unmutes it when they are. Returns whether that changed.
pub fn judge_by_outcomes(row: &mut TrustRow, now: Moment) -> bool {
    let judged = row.right + row.wrong;
    match &row.muted {
        None if judged >= MUTED_OUTCOMES_MIN && precision(row) < MUTED_BELOW => {
            let why =
                format!("its dates move without changes: of {judged:.0} hints {:.0} were followed by one", row.right);
            row.muted = Some(Muted { since: now, why: why.into(), by_look: false });
            true
        }
        Some(muted) if !muted.by_look && precision(row) > HEARD_ABOVE => {
            row.muted = None;
            true
        }
        _ => false,
    }
}

/// Mutes a source whose list has the same date for every page, and unmutes it when it does not. Returns whether that
/// changed.
pub fn judge_by_look(row: &mut TrustRow, look: Look, now: Moment) -> bool {
    let many = |part: usize| look.dated >= LOOK_DATES_MIN && part as f64 > LOOK_SHARE_MAX * look.dated as f64;
    let why = match () {
        () if many(look.now) => Some(format!("it says \"just now\" of {} of {} pages", look.now, look.dated)),
        () if many(look.same) => Some(format!("it gives one same date to {} of {} pages", look.same, look.dated)),
        () => None,
    };
    match (why, &row.muted) {
        (Some(why), None) => {
            row.muted = Some(Muted { since: now, why: why.into(), by_look: true });
            true
        }
        (None, Some(muted)) if muted.by_look && look.dated >= LOOK_DATES_MIN => {
            row.muted = None;
            true
        }
        _ => false,
    }
}

/// Learns whether a page that announced no change for a period had changed before the period's end. A visit after a
/// part of the period tests that part.
pub fn hear_cadence(row: &mut TrustRow, elapsed: Span, period: Span, changed: bool, now: Moment) {
    if elapsed > period {
        return;
    }
    fade(row, now);
    row.watched_days += elapsed.days_f64();
    if changed {
        row.wrong += 1.0;
    } else {
        row.right += elapsed.secs_f64() / period.secs_f64().max(1.0);
    }
}

/// How long such a page needs no visit, if its site's statements have proved right.
pub fn rest(row: &TrustRow, period: Span) -> Option<Span> {
    let judged = row.right + row.wrong;
    let is_believed = judged >= CADENCE_OUTCOMES_MIN && row.right / judged >= CADENCE_RIGHT_MIN;
    is_believed.then(|| period.scaled(REST_SHARE * row.right / judged).min(REST_MAX))
}

pub(super) fn fade(row: &mut TrustRow, now: Moment) {
    if row.faded == Moment::EPOCH {
        row.faded = now;
    }
    let kept = kept_after(now.since(row.faded), HALF_LIFE);
    row.faded = row.faded.max(now);
    for count in [&mut row.right, &mut row.wrong, &mut row.missed, &mut row.watched_days, &mut row.exposed_days] {
        *count *= kept;
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::Chance;

    use super::*;

    const MEAN_RATE: f64 = 0.05;

    /// A site of many pages that change at `rate`, with a source of known recall and known false alarms a day, seen by visits
    /// every `every` days and `delay` days after a hint.
    fn simulated(rate: f64, recall: f64, false_rate: f64, every: f64, delay: f64) -> TrustRow {
        let mut chance = Chance::new(7).stream("trust");
        let mut row = TrustRow::default();
        let mut hours = 0;
        for _ in 0..4_000 {
            // Changes come one after the other, and each is announced or not, until a hint is heard.
            let (mut change, mut said) = (f64::INFINITY, f64::INFINITY);
            let mut at = chance.wait(rate);
            while at < every && said == f64::INFINITY {
                change = change.min(at);
                if chance.happens(recall) {
                    said = at;
                }
                at += chance.wait(rate);
            }
            let cry = if false_rate > 0.0 { chance.wait(false_rate) } else { f64::INFINITY };
            let first = said.min(cry);
            let visit = every.min(first + delay);
            let hinted = (first < visit).then_some(first);
            hours += 1;
            let now = Moment::from_secs(1_777_600_000) + Span::from_secs(hours);
            let outcome = Outcome { elapsed_days: visit, hinted_after_days: hinted, changed: change <= visit };
            hear(&mut row, outcome, MEAN_RATE, now);
            judge_by_outcomes(&mut row, now);
        }
        row
    }

    #[test]
    fn what_a_source_is_worth_is_found_out_by_visits() {
        for (rate, said, cries, every) in
            [(0.05, 0.9, 0.002, 10.0), (0.05, 0.5, 0.05, 5.0), (0.3, 0.7, 0.1, 2.0), (0.02, 0.95, 0.02, 20.0)]
        {
            let row = simulated(rate, said, cries, every, 0.2);
            assert!((recall(&row) / said - 1.0).abs() < 0.12, "recall {} of {said}", recall(&row));
            assert!(
                (false_rate(&row, MEAN_RATE) / cries - 1.0).abs() < 0.3,
                "cries {} of {cries}",
                false_rate(&row, MEAN_RATE)
            );
            assert!(
                (change_rate(&row, MEAN_RATE) / rate - 1.0).abs() < 0.3,
                "rate {} of {rate}",
                change_rate(&row, MEAN_RATE)
            );
            assert_eq!(row.muted, None);
        }
    }

    #[test]
    fn a_hint_of_a_good_source_makes_a_page_due_and_one_of_a_bad_source_does_not() {
        let good = simulated(0.05, 0.9, 0.002, 10.0, 0.2);
        let fresh = (-0.05 * worth(&good, 0.05, MEAN_RATE).days_f64()).exp();
        assert!(fresh < 0.1, "after its hint a page is up to date with {fresh}");
        let bad = simulated(0.05, 0.0, 1.0, 10.0, 0.2);
        assert!(worth(&bad, 0.05, MEAN_RATE) < Span::from_hours(6));
    }

    #[test]
    fn a_source_that_cries_every_day_earns_nothing_even_where_visits_are_rare() {
        // Each cry waits nine days for its visit, which then finds a change with four chances in ten: by itself.
        let row = simulated(0.05, 0.0, 1.0, 10.0, 9.0);
        assert!(worth(&row, 0.05, MEAN_RATE) < Span::from_hours(12), "{}", worth(&row, 0.05, MEAN_RATE));
        assert!(precision(&row) < 0.2 && recall(&row) < 0.5, "{} {}", precision(&row), recall(&row));
        assert!(false_rate(&row, MEAN_RATE) > 0.5);
    }

    #[test]
    fn nothing_known_is_worth_little() {
        let row = TrustRow::default();
        assert!((recall(&row) - 0.3).abs() < 1e-12 && (precision(&row) - 0.5).abs() < 1e-12);
        let fresh = (-MEAN_RATE * worth(&row, MEAN_RATE, MEAN_RATE).days_f64()).exp();
        assert!((fresh - 1.0 / 1.3).abs() < 1e-9, "ν = Δ and ρ = 0.3 give 1 : 1.3");
    }

    #[test]
    fn a_liar_is_muted_in_words_and_heard_again_when_it_mends_its_ways() {
        let mut row = TrustRow::default();
        let mut now = Moment::from_secs(1_777_600_000);
        let mut hears = |row: &mut TrustRow, changed: bool| {
            now += Span::from_hours(1);
            hear(row, Outcome { elapsed_days: 1.0, hinted_after_days: Some(0.9), changed }, MEAN_RATE, now);
            judge_by_outcomes(row, now)
        };
        let lies = (1..100).find(|_| hears(&mut row, false)).unwrap();
        assert!((10..=12).contains(&lies), "{lies}");
        assert!(row.muted.as_ref().unwrap().why.contains("of 1"), "{:?}", row.muted);
        assert_eq!(worth(&row, 0.05, MEAN_RATE), Span::ZERO);
        let truths = (1..100).find(|_| hears(&mut row, true)).unwrap();
        assert!(truths < 10 && row.muted.is_none(), "{truths}");
    }

    #[test]
    fn a_list_that_says_the_same_of_all_is_muted_while_it_does() {
        let (mut row, now) = (TrustRow::default(), Moment::EPOCH);
        assert!(!judge_by_look(&mut row, Look { dated: 19, same: 19, now: 19 }, now), "few dates prove nothing");
        assert!(!judge_by_look(&mut row, Look { dated: 100, same: 90, now: 10 }, now));
        assert!(judge_by_look(&mut row, Look { dated: 100, same: 91, now: 10 }, now));
        assert_eq!(row.muted.as_ref().unwrap().why.as_ref(), "it gives one same date to 91 of 100 pages");
        assert!(!judge_by_outcomes(&mut row, now), "only its look frees it");
        assert!(judge_by_look(&mut row, Look { dated: 100, same: 2, now: 0 }, now));
        assert!(judge_by_look(&mut row, Look { dated: 30, same: 3, now: 30 }, now));
        assert!(row.muted.as_ref().unwrap().why.contains("just now"));
    }

    #[test]
    fn old_outcomes_fade() {
        let mut row = TrustRow { right: 8.0, faded: Moment::from_secs(1), ..TrustRow::default() };
        let outcome = Outcome { elapsed_days: 0.0, hinted_after_days: None, changed: false };
        hear(&mut row, outcome, MEAN_RATE, Moment::from_secs(1) + HALF_LIFE);
        assert!((row.right - 4.0).abs() < 1e-9);
    }

    #[test]
    fn a_static_page_earns_its_rest_and_loses_it_by_changing() {
        let (mut row, now, period) = (TrustRow::default(), Moment::from_secs(9), Span::from_days(90));
        for _ in 0..30 {
            hear_cadence(&mut row, Span::from_days(15), period, false, now);
        }
        assert!((row.right - 5.0).abs() < 1e-9, "thirty sixths of a period");
        assert_eq!(rest(&row, period), Some(REST_MAX));
        assert_eq!(rest(&row, Span::from_days(10)), Some(Span::from_days(9)));
        hear_cadence(&mut row, Span::from_days(100), period, true, now);
        assert_eq!(row.wrong, 0.0, "after its period it may change");
        hear_cadence(&mut row, Span::from_days(15), period, true, now);
        assert_eq!(rest(&row, period), None);
    }
}
