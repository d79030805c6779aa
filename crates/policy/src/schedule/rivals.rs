//! The rules that other crawlers ship, with their published defaults, for comparison at an equal budget: the Spans they
//! would wait are strides here, so that what they ask for in all fits the budget (see `strides`).

use vernal_model::{Moment, PageKey, Span};

use super::strides::{NOTE_BYTES_MAX, Rule};
use super::words::{Words, word};
use crate::Seen;

/// Apache Nutch, `AdaptiveFetchSchedule` with the defaults of `nutch-default.xml`.
#[derive(Copy, Clone, Debug, Default)]
pub struct NutchAdaptive;

const NUTCH_FIRST: Span = Span::from_days(30);
const NUTCH_MIN: Span = Span::from_secs(60);
const NUTCH_MAX: Span = Span::from_days(365);
/// `db.fetch.schedule.adaptive.inc_rate`, `dec_rate` and `sync_delta_rate`.
const NUTCH_LONGER: f64 = 0.4;
const NUTCH_SHORTER: f64 = 0.2;
const NUTCH_SYNC: f64 = 0.3;

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct NutchNote {
    refresh_time: Span,
    /// When the last change was seen; the first visit counts as one.
    changed: Moment,
    /// What the next visit waits: the refresh time less a share of the time since the change.
    wait: Span,
}

impl Default for NutchNote {
    fn default() -> Self {
        NutchNote { refresh_time: NUTCH_FIRST, changed: Moment::EPOCH, wait: NUTCH_FIRST }
    }
}

impl Rule for NutchAdaptive {
    const NAME: &'static str = "nutch-adaptive";
    type Note = NutchNote;

    fn hear(&self, note: &mut NutchNote, seen: &Seen) {
        if note.changed == Moment::EPOCH {
            note.changed = seen.previous.unwrap_or(seen.moment);
        }
        let mut refresh_time = match seen.changed {
            Some(true) => note.refresh_time.scaled(1.0 - NUTCH_SHORTER),
            Some(false) => note.refresh_time.scaled(1.0 + NUTCH_LONGER),
            None => note.refresh_time,
        };
        if seen.changed == Some(true) {
            note.changed = seen.moment;
        }
        // Try to meet the change: a page that has been quiet for longer than its refresh time waits as long again, less
        // a share of the time since its change.
        let quiet = seen.moment.since(note.changed);
        refresh_time = refresh_time.max(quiet).max(NUTCH_MIN).min(NUTCH_MAX);
        note.refresh_time = refresh_time;
        note.wait = Span::from_secs_f64(refresh_time.secs_f64() - NUTCH_SYNC * quiet.secs_f64()).max(NUTCH_MIN);
    }

    fn stride(&self, note: &NutchNote, _: PageKey, _: Moment) -> Span {
        note.wait
    }

    fn state(&self, note: &NutchNote, bytes: &mut [u8; NOTE_BYTES_MAX]) -> usize {
        bytes[..8].copy_from_slice(&note.refresh_time.micros().to_le_bytes());
        bytes[8..16].copy_from_slice(&note.changed.micros().to_le_bytes());
        bytes[16..24].copy_from_slice(&note.wait.micros().to_le_bytes());
        24
    }

    fn note_from(&self, bytes: &[u8]) -> Option<NutchNote> {
        let (refresh_time, bytes) = bytes.split_first_chunk::<8>()?;
        let (changed, wait) = bytes.split_first_chunk::<8>()?;
        let span = |bytes: [u8; 8]| Span::from_micros(u64::from_le_bytes(bytes));
        let (refresh_time, wait) = (span(*refresh_time), span(wait.try_into().ok()?));
        let changed = Moment::from_micros(i64::from_le_bytes(*changed));
        let fits = (NUTCH_MIN..=NUTCH_MAX).contains(&refresh_time) && (NUTCH_MIN..=NUTCH_MAX).contains(&wait);
        fits.then_some(NutchNote { refresh_time, changed, wait })
    }

    fn why(&self, note: &NutchNote, now: Moment) -> Words {
        vec![
            word("policy", "nutch-adaptive: the refresh time shrinks by 0.2 after a change and grows by 0.4 without"),
            word("refresh time", format!("{}, before it is scaled to the budget", note.refresh_time)),
            word("last change", format!("{} ago", now.since(note.changed))),
            word("wait", format!("{}: 0.3 of the time since the last change is taken off", note.wait)),
        ]
    }
}

/// Apache StormCrawler, `AdaptiveScheduler` with the defaults of its configuration.
#[derive(Copy, Clone, Debug, Default)]
pub struct StormcrawlerAdaptive;

const STORM_FIRST: Span = Span::from_days(1);
const STORM_MIN: Span = Span::from_hours(1);
const STORM_MAX: Span = Span::from_days(14);
/// `scheduler.adaptive.fetchInterval.rate.incr` and `.decr`.
const STORM_LONGER: f64 = 0.5;
const STORM_SHORTER: f64 = 0.5;

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct RefreshSpan(Span);

impl Default for RefreshSpan {
    fn default() -> Self {
        RefreshSpan(STORM_FIRST)
    }
}

impl Rule for StormcrawlerAdaptive {
    const NAME: &'static str = "stormcrawler-adaptive";
    type Note = RefreshSpan;

    fn hear(&self, note: &mut RefreshSpan, seen: &Seen) {
        let secs = note.0.secs_f64();
        let next = match seen.changed {
            Some(true) => (1.0 - STORM_SHORTER) * secs + STORM_SHORTER * STORM_MIN.secs_f64(),
            Some(false) => secs * (1.0 + STORM_LONGER),
            // No signature to compare with: back to where every page begins.
            None => STORM_FIRST.secs_f64(),
        };
        note.0 = Span::from_secs_f64(next).max(STORM_MIN).min(STORM_MAX);
    }

    fn stride(&self, note: &RefreshSpan, _: PageKey, _: Moment) -> Span {
        note.0
    }

    fn state(&self, note: &RefreshSpan, bytes: &mut [u8; NOTE_BYTES_MAX]) -> usize {
        bytes[..8].copy_from_slice(&note.0.micros().to_le_bytes());
        8
    }

    fn note_from(&self, bytes: &[u8]) -> Option<RefreshSpan> {
        let span = Span::from_micros(u64::from_le_bytes(bytes.try_into().ok()?));
        (STORM_MIN..=STORM_MAX).contains(&span).then_some(RefreshSpan(span))
    }

    fn why(&self, note: &RefreshSpan, _: Moment) -> Words {
        vec![
            word("policy", "stormcrawler-adaptive: halfway to one hour after a change, half as long again without"),
            word("refresh time", format!("{}, before it is scaled to the budget", note.0)),
        ]
    }
}

/// Heritrix, `ReschedulingProcessor`: the same delay for every page. At an equal budget the delay itself falls out.
#[derive(Copy, Clone, Debug, Default)]
pub struct HeritrixFixed;

const HERITRIX_DELAY: Span = Span::from_days(1);

impl Rule for HeritrixFixed {
    const NAME: &'static str = "heritrix-fixed";
    type Note = ();

    fn hear(&self, (): &mut (), _: &Seen) {}

    fn stride(&self, (): &(), _: PageKey, _: Moment) -> Span {
        HERITRIX_DELAY
    }

    fn state(&self, (): &(), _: &mut [u8; NOTE_BYTES_MAX]) -> usize {
        0
    }

    fn note_from(&self, bytes: &[u8]) -> Option<()> {
        bytes.is_empty().then_some(())
    }

    fn why(&self, (): &(), _: Moment) -> Words {
        vec![word("policy", "heritrix-fixed: every page after the same delay, as long as the budget makes it")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(day: u64, changed: Option<bool>) -> Seen {
        Seen {
            page: PageKey::default(),
            moment: Moment::from_secs(1_000) + Span::from_days(day),
            previous: None,
            changed,
            degree: 0.0,
            last_modified: None,
            wire_bytes: 0,
        }
    }

    #[test]
    fn nutch_shrinks_by_a_fifth_and_grows_by_two_fifths() {
        let mut note = NutchNote::default();
        NutchAdaptive.hear(&mut note, &seen(0, None));
        NutchAdaptive.hear(&mut note, &seen(1, Some(true)));
        assert_eq!((note.refresh_time, note.wait), (Span::from_days(24), Span::from_days(24)));
        NutchAdaptive.hear(&mut note, &seen(11, Some(false)));
        // 24 · 1.4 = 33.6 days, less 0.3 of the ten days since the change.
        assert_eq!(
            (note.refresh_time, note.wait),
            (Span::from_hours(806) + Span::from_secs(1_440), Span::from_hours(734) + Span::from_secs(1_440))
        );
    }

    #[test]
    fn nutch_waits_as_long_as_the_page_was_quiet_and_never_more_than_a_year() {
        let mut note = NutchNote::default();
        NutchAdaptive.hear(&mut note, &seen(0, Some(true)));
        NutchAdaptive.hear(&mut note, &seen(100, Some(false)));
        assert_eq!((note.refresh_time, note.wait), (Span::from_days(100), Span::from_days(70)));
        NutchAdaptive.hear(&mut note, &seen(2_000, Some(false)));
        assert_eq!(note.refresh_time, NUTCH_MAX);
        assert!(note.wait >= NUTCH_MIN);
    }

    #[test]
    fn stormcrawler_goes_halfway_to_an_hour_or_half_as_long_again() {
        let mut note = RefreshSpan::default();
        StormcrawlerAdaptive.hear(&mut note, &seen(1, Some(true)));
        assert_eq!(note.0, Span::from_secs(45_000));
        StormcrawlerAdaptive.hear(&mut note, &seen(2, Some(false)));
        assert_eq!(note.0, Span::from_secs(67_500));
        for day in 3..40 {
            StormcrawlerAdaptive.hear(&mut note, &seen(day, Some(false)));
        }
        assert_eq!(note.0, STORM_MAX);
    }
}
