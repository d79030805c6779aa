//! One page as a sampling policy knows it, and how it counts in its stratum.
//!
//! The state of a page, 5 bytes: format (1), recent visits (3), what the last visit was (1): 0 and 1 a download and a
//! sample without an answer to compare, 2 a download, 3 a sample that was unchanged, 4 a sample that changed. Where pages
//! may come again in a cycle it is what the first visit of the cycle was, and a sixth byte says how many followed.

use vernal_model::{Moment, PageKey, PolicyState};

use super::cycle::Cycle;
use super::stratum::{SIXTIETHS, Stratum};
use crate::estimate::RecentVisits;

/// V: how many of a page's visits the hybrid looks back.
pub(super) const VISITS_BACK: u8 = 5;
const FORMAT: u8 = 1;

/// What pages are judged together.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum By {
    Site,
    /// The first part of the path within a site.
    Path,
    /// Topics, across sites; a page may be in several. By path where a page's topics are not known.
    Topic,
    /// Pages whose histories look alike, whatever their site.
    Features,
}

#[derive(Copy, Clone, Debug)]
pub(super) struct Entry {
    pub site: u32,
    pub path: u32,
    pub admitted: Moment,
    pub last_visit: Moment,
    pub recent: RecentVisits,
    pub last: Last,
    /// While it is in flight.
    pub errand: Option<Errand>,
    /// Downloads after the first visit of the cycle.
    pub again: u8,
    pub stratum: u32,
    pub lot: u64,
}

/// What a page was sent for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Errand {
    Sample,
    Download,
}

/// What the last visit was.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Last {
    Download { compared: bool },
    Sample(Option<bool>),
}

/// Adds a page to the counts of a stratum, in which it waits under this lot, or takes it away again.
pub(super) fn count(stratum: &mut Stratum, page: PageKey, entry: &Entry, lot: u64, cycle: Cycle, sign: i64) {
    let add = |number: &mut u64| *number = number.wrapping_add_signed(sign);
    let add_small = |number: &mut u32, by: u32| *number = number.wrapping_add_signed(sign as i32 * by as i32);
    add(&mut stratum.pages);
    match entry.errand {
        Some(Errand::Sample) => add(&mut stratum.sampled),
        Some(Errand::Download) => add(&mut stratum.taken),
        None if is_waiting(entry, cycle, stratum.come_again) => {
            if entry.last_visit < cycle.start {
                add(&mut stratum.unvisited);
            }
            if sign > 0 {
                stratum.waiting.insert((lot, page));
            } else {
                stratum.waiting.remove(&(lot, page));
            }
        }
        None => {}
    }
    if entry.last_visit < cycle.start {
        return;
    }
    (0..entry.again).for_each(|_| add(&mut stratum.taken));
    match entry.last {
        Last::Download { .. } => add(&mut stratum.taken),
        Last::Sample(answer) => {
            add(&mut stratum.sampled);
            if let Some(changed) = answer {
                add_small(&mut stratum.tries, 1);
                add_small(&mut stratum.hits, u32::from(changed));
                add_small(&mut stratum.success, success_of(entry.recent.newest(VISITS_BACK)));
            }
        }
    }
}

/// Whether a page may still be visited in this cycle, where downloads may or may not come again. Nobody downloads what was
/// sampled.
pub(super) fn is_waiting(entry: &Entry, cycle: Cycle, come_again: bool) -> bool {
    let was_downloaded = matches!(entry.last, Last::Download { .. });
    entry.errand.is_none() && (entry.last_visit < cycle.start || come_again && was_downloaded)
}

/// D/V in sixtieths.
pub(super) fn success_of(visits: RecentVisits) -> u32 {
    visits.changes() * SIXTIETHS / visits.visits().max(1)
}

/// What was known before this cycle's visit.
pub(super) fn history_before(entry: &Entry, cycle: Cycle) -> RecentVisits {
    // One visit fewer than are kept: so many are known both before and after the visit of this cycle.
    let kept = RecentVisits::MAX - 1;
    let compared = match entry.last {
        Last::Download { compared } => compared,
        Last::Sample(answer) => answer.is_some(),
    };
    if compared && entry.last_visit >= cycle.start {
        entry.recent.before_last().newest(kept)
    } else {
        entry.recent.newest(kept)
    }
}

/// The change features of a page: how often it changed, whether it did last time, how long it is known.
pub(super) fn features(entry: &Entry, cycle: Cycle) -> u64 {
    let before = history_before(entry, cycle);
    let often = before.degree_of_success().map_or(5, |degree| (degree * 4.0).ceil() as u64);
    let lately = u64::from(before.last() == Some(true));
    let known = match cycle.start.since(entry.admitted).days_f64() {
        days if days < 7.0 => 0,
        days if days < 60.0 => 1,
        _ => 2,
    };
    often << 8 | lately << 4 | known
}

pub(super) fn state_of(entry: &Entry) -> PolicyState {
    let [low, high, visits] = entry.recent.bytes();
    let last = match entry.last {
        Last::Download { compared: false } => 0,
        Last::Sample(None) => 1,
        Last::Download { compared: true } => 2,
        Last::Sample(Some(false)) => 3,
        Last::Sample(Some(true)) => 4,
    };
    let bytes = [FORMAT, low, high, visits, last, entry.again];
    let kept = if entry.again > 0 { &bytes[..] } else { &bytes[..5] };
    PolicyState::new(kept).expect("6 bytes are fewer than a policy may keep")
}

pub(super) fn from_state(state: &PolicyState) -> Option<(RecentVisits, Last, u8)> {
    let (&[format, low, high, visits, last], rest) = state.bytes().split_first_chunk()?;
    let again = match rest {
        [] => 0,
        &[again] => again,
        _ => return None,
    };
    let recent = RecentVisits::from_bytes([low, high, visits])?;
    let last = match last {
        0 => Last::Download { compared: false },
        1 => Last::Sample(None),
        2 => Last::Download { compared: true },
        3 => Last::Sample(Some(false)),
        4 => Last::Sample(Some(true)),
        _ => return None,
    };
    (format == FORMAT).then_some((recent, last, again))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vernal_model::{Partition, Span};

    use super::*;

    const START: Moment = Moment::from_secs(1_700_000_000);
    const CYCLE: Cycle = Cycle { start: START, length: Span::from_days(7), number: 9, share: 0.1 };

    fn entries() -> impl Strategy<Value = Entry> {
        let last = prop_oneof![
            any::<bool>().prop_map(|compared| Last::Download { compared }),
            any::<Option<bool>>().prop_map(Last::Sample),
        ];
        let errand = prop_oneof![Just(None), Just(Some(Errand::Sample)), Just(Some(Errand::Download))];
        let visits = prop::collection::vec(any::<bool>(), 0..14);
        (last, errand, visits, 0u8..4, -9i64..7).prop_map(|(last, errand, visits, again, day)| {
            let mut recent = RecentVisits::default();
            visits.into_iter().for_each(|changed| recent.push(changed));
            let last_visit = Moment::from_secs(START.secs() + day * 86_400);
            let (site, path, admitted) = (3, 4, Moment::EPOCH);
            Entry { site, path, admitted, last_visit, recent, last, errand, again, stratum: 0, lot: 0 }
        })
    }

    fn key(number: usize) -> PageKey {
        PageKey::new(Partition(0), number as u32)
    }

    proptest! {
        #[test]
        fn what_is_remembered_of_a_page_comes_back(entry in entries()) {
            let state = state_of(&entry);
            prop_assert_eq!(from_state(&state), Some((entry.recent, entry.last, entry.again)));
            prop_assert!(state.bytes().len() <= 6);
        }

        #[test]
        fn other_bytes_are_no_state_of_a_page(bytes in prop::collection::vec(any::<u8>(), 0..9)) {
            let state = PolicyState::new(&bytes).unwrap();
            if let Some((recent, last, again)) = from_state(&state) {
                let sound = bytes[0] == FORMAT && bytes.len() <= 6 && bytes[4] <= 4;
                prop_assert!(sound, "{:?} is {:?} {:?} {}", bytes, recent, last, again);
            }
        }

        /// Whoever comes and leaves in any order leaves nothing behind.
        #[test]
        fn a_stratum_counts_the_pages_that_are_in_it(
            entries in prop::collection::vec(entries(), 0..20),
            come_again in any::<bool>(),
        ) {
            let mut stratum = Stratum { come_again, ..Stratum::default() };
            for (number, entry) in entries.iter().enumerate() {
                count(&mut stratum, key(number), entry, number as u64, CYCLE, 1);
            }
            let of = |what: &dyn Fn(&Entry) -> bool| entries.iter().filter(|&entry| what(entry)).count();
            let is_visited = |entry: &Entry| entry.last_visit >= START;
            prop_assert_eq!(stratum.pages as usize, entries.len());
            prop_assert_eq!(stratum.waiting.len(), of(&|entry| is_waiting(entry, CYCLE, come_again)));
            prop_assert_eq!(stratum.unvisited as usize, of(&|entry| entry.errand.is_none() && !is_visited(entry)));
            let answered = of(&|entry| is_visited(entry) && matches!(entry.last, Last::Sample(Some(_))));
            let changed = of(&|entry| is_visited(entry) && entry.last == Last::Sample(Some(true)));
            prop_assert_eq!((stratum.tries as usize, stratum.hits as usize), (answered, changed));
            prop_assert!(u64::from(stratum.tries) <= stratum.sampled && stratum.success <= SIXTIETHS * stratum.tries);
            for (number, entry) in entries.iter().enumerate().rev() {
                count(&mut stratum, key(number), entry, number as u64, CYCLE, -1);
            }
            prop_assert_eq!(format!("{stratum:?}"), format!("{:?}", Stratum { come_again, ..Stratum::default() }));
        }

        #[test]
        fn what_was_known_before_a_cycle_does_not_change_within_it(
            entry in entries(),
            changed in any::<bool>(),
            is_sample in any::<bool>(),
        ) {
            let before = Entry { last_visit: START - Span::from_secs(1), ..entry };
            let mut after = Entry { last_visit: START + Span::from_secs(1), ..entry };
            after.last = if is_sample { Last::Sample(Some(changed)) } else { Last::Download { compared: true } };
            after.recent.push(changed);
            prop_assert_eq!(history_before(&after, CYCLE), history_before(&before, CYCLE));
            prop_assert_eq!(features(&after, CYCLE), features(&before, CYCLE));
        }
    }
}
