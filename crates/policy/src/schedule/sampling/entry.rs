//! One page as a sampling policy knows it, and how it counts in its stratum.
//!
//! The state of a page, 5 bytes: format (1), recent visits (3), what the last visit was (1): 0 and 1 a download and a
//! sample without an answer to compare, 2 a download, 3 a sample that was unchanged, 4 a sample that changed. Where pages
//! may come again in a cycle it is what the first visit of the cycle was, and a sixth byte says how many followed.
//!
//! Format 2 is for what does not fit there, more than sixteen visits or a sample for the sake of another topic than the
//! first: format (1), last (1), visits that followed (1), which of its topics drew it (1), recent visits (3 to 14).

use vernal_model::{Moment, PageKey, PolicyState};

use super::cycle::Cycle;
use super::stratum::{PARTS, Stratum};
use crate::estimate::RecentVisits;

const FORMAT: u8 = 1;
const FORMAT_LONG: u8 = 2;
const STATE_BYTES_MAX: usize = 4 + RecentVisits::BYTES_MAX;

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
    /// Which of its topics it was last sampled for.
    pub drawn_for: u8,
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

/// A page in one of its strata: in which of them, and the lot under which it waits there.
#[derive(Copy, Clone, Debug)]
pub(super) struct Place {
    pub nth: usize,
    pub lot: u64,
}

/// Adds a page to the counts of a stratum, or takes it away again.
pub(super) fn count(stratum: &mut Stratum, page: PageKey, entry: &Entry, place: Place, cycle: Cycle, sign: i64) {
    let Place { nth, lot } = place;
    let is_own = nth == usize::from(entry.drawn_for);
    let add = |number: &mut u64| *number = number.wrapping_add_signed(sign);
    let add_small = |number: &mut u32, by: u32| *number = number.wrapping_add_signed(sign as i32 * by as i32);
    add(&mut stratum.pages);
    match entry.errand {
        Some(Errand::Sample) => add(if is_own { &mut stratum.sampled } else { &mut stratum.free }),
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
            add(if is_own { &mut stratum.sampled } else { &mut stratum.free });
            if let Some(changed) = answer {
                add_small(&mut stratum.tries, 1);
                add_small(&mut stratum.hits, u32::from(changed));
                let success = success_of(entry.recent.newest(stratum.visits_back)) as i64;
                stratum.success = stratum.success.wrapping_add_signed(sign * success);
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

/// D/V in `PARTS`.
pub(super) fn success_of(visits: RecentVisits) -> u64 {
    u64::from(visits.changes()) * PARTS / u64::from(visits.visits().max(1))
}

/// What was known before this cycle's visit, where so many visits are kept.
pub(super) fn history_before(entry: &Entry, cycle: Cycle, kept: u8) -> RecentVisits {
    // One visit fewer than are kept: so many are known both before and after the visit of this cycle.
    let kept = kept.saturating_sub(1);
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
    let before = history_before(entry, cycle, RecentVisits::KEPT);
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
    let last = match entry.last {
        Last::Download { compared: false } => 0,
        Last::Sample(None) => 1,
        Last::Download { compared: true } => 2,
        Last::Sample(Some(false)) => 3,
        Last::Sample(Some(true)) => 4,
    };
    let mut bytes = [0; STATE_BYTES_MAX];
    let length = if entry.recent.visits() <= 16 && entry.drawn_for == 0 {
        bytes[0] = FORMAT;
        entry.recent.write(&mut bytes[1..]);
        (bytes[4], bytes[5]) = (last, entry.again);
        5 + usize::from(entry.again > 0)
    } else {
        bytes[..4].copy_from_slice(&[FORMAT_LONG, last, entry.again, entry.drawn_for]);
        4 + entry.recent.write(&mut bytes[4..])
    };
    PolicyState::new(&bytes[..length]).expect("18 bytes are fewer than a policy may keep")
}

/// What a state says of a page.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub recent: RecentVisits,
    pub last: Last,
    pub again: u8,
    pub drawn_for: u8,
}

/// A page of which nothing is known.
impl Default for Kept {
    fn default() -> Self {
        let last = Last::Download { compared: false };
        Kept { recent: RecentVisits::default(), last, again: 0, drawn_for: 0 }
    }
}

pub(super) fn from_state(state: &PolicyState) -> Option<Kept> {
    let (recent, last, again, drawn_for) = match *state.bytes() {
        [FORMAT, low, high, visits, last] => (RecentVisits::read(&[low, high, visits])?, last, 0, 0),
        [FORMAT, low, high, visits, last, again] => (RecentVisits::read(&[low, high, visits])?, last, again, 0),
        [FORMAT_LONG, last, again, drawn_for, ref recent @ ..] => (RecentVisits::read(recent)?, last, again, drawn_for),
        _ => return None,
    };
    let last = match last {
        0 => Last::Download { compared: false },
        1 => Last::Sample(None),
        2 => Last::Download { compared: true },
        3 => Last::Sample(Some(false)),
        4 => Last::Sample(Some(true)),
        _ => return None,
    };
    Some(Kept { recent, last, again, drawn_for })
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
        let visits =
            prop_oneof![prop::collection::vec(any::<bool>(), 0..14), prop::collection::vec(any::<bool>(), 90..110),];
        (last, errand, visits, 0u8..4, -9i64..7, 0u8..3).prop_map(|(last, errand, visits, again, day, drawn_for)| {
            let mut recent = RecentVisits::default();
            visits.into_iter().for_each(|changed| recent.push_among(changed, RecentVisits::MAX));
            let last_visit = Moment::from_secs(START.secs() + day * 86_400);
            let (site, path, admitted) = (3, 4, Moment::EPOCH);
            Entry { site, path, admitted, last_visit, recent, last, errand, drawn_for, again, stratum: 0, lot: 0 }
        })
    }

    fn key(number: usize) -> PageKey {
        PageKey::new(Partition(0), number as u32)
    }

    proptest! {
        #[test]
        fn what_is_remembered_of_a_page_comes_back(entry in entries()) {
            let state = state_of(&entry);
            let Entry { recent, last, again, drawn_for, .. } = entry;
            prop_assert_eq!(from_state(&state), Some(Kept { recent, last, again, drawn_for }));
            let is_short = recent.visits() <= 16 && drawn_for == 0;
            let most = if is_short { 6 } else { STATE_BYTES_MAX };
            prop_assert!(state.bytes().len() <= most);
        }

        #[test]
        fn other_bytes_are_no_state_of_a_page(bytes in prop::collection::vec(any::<u8>(), 0..9)) {
            let state = PolicyState::new(&bytes).unwrap();
            if let Some(kept) = from_state(&state) {
                let is_short = bytes[0] == FORMAT && bytes.len() <= 6 && bytes[4] <= 4;
                let is_long = bytes[0] == FORMAT_LONG && bytes[1] <= 4;
                prop_assert!(is_short || is_long, "{:?} is {:?}", bytes, kept);
            }
        }

        /// Whoever comes and leaves in any order leaves nothing behind.
        #[test]
        fn a_stratum_counts_the_pages_that_are_in_it(
            entries in prop::collection::vec(entries(), 0..20),
            come_again in any::<bool>(),
        ) {
            let mut stratum = Stratum { come_again, visits_back: 5, ..Stratum::default() };
            let place = |number: usize| Place { nth: 0, lot: number as u64 };
            for (number, entry) in entries.iter().enumerate() {
                count(&mut stratum, key(number), entry, place(number), CYCLE, 1);
            }
            let of = |what: &dyn Fn(&Entry) -> bool| entries.iter().filter(|&entry| what(entry)).count();
            let is_visited = |entry: &Entry| entry.last_visit >= START;
            prop_assert_eq!(stratum.pages as usize, entries.len());
            prop_assert_eq!(stratum.waiting.len(), of(&|entry| is_waiting(entry, CYCLE, come_again)));
            prop_assert_eq!(stratum.unvisited as usize, of(&|entry| entry.errand.is_none() && !is_visited(entry)));
            let answered = of(&|entry| is_visited(entry) && matches!(entry.last, Last::Sample(Some(_))));
            let changed = of(&|entry| is_visited(entry) && entry.last == Last::Sample(Some(true)));
            prop_assert_eq!((stratum.tries as usize, stratum.hits as usize), (answered, changed));
            let tries = u64::from(stratum.tries);
            prop_assert!(tries <= stratum.sampled + stratum.free && stratum.success <= PARTS * tries);
            let is_sampled = |entry: &Entry| {
                let was_sampled = is_visited(entry) && matches!(entry.last, Last::Sample(_));
                entry.errand == Some(Errand::Sample) || was_sampled
            };
            let both = |entry: &Entry| {
                is_visited(entry) && matches!(entry.last, Last::Sample(_)) && entry.errand == Some(Errand::Sample)
            };
            let own = of(&|entry| is_sampled(entry) && entry.drawn_for == 0) + of(&|entry| both(entry) && entry.drawn_for == 0);
            prop_assert_eq!(stratum.sampled as usize, own, "what another topic drew is free");
            for (number, entry) in entries.iter().enumerate().rev() {
                count(&mut stratum, key(number), entry, place(number), CYCLE, -1);
            }
            prop_assert_eq!(format!("{stratum:?}"), format!("{:?}", Stratum { come_again, visits_back: 5, ..Stratum::default() }));
        }

        #[test]
        fn what_was_known_before_a_cycle_does_not_change_within_it(
            entry in entries(),
            changed in any::<bool>(),
            is_sample in any::<bool>(),
        ) {
            let kept = RecentVisits::KEPT;
            let entry = Entry { recent: entry.recent.newest(kept), ..entry };
            let before = Entry { last_visit: START - Span::from_secs(1), ..entry };
            let mut after = Entry { last_visit: START + Span::from_secs(1), ..entry };
            after.last = if is_sample { Last::Sample(Some(changed)) } else { Last::Download { compared: true } };
            after.recent.push(changed);
            prop_assert_eq!(history_before(&after, CYCLE, kept), history_before(&before, CYCLE, kept));
            prop_assert_eq!(features(&after, CYCLE), features(&before, CYCLE));
        }
    }
}
