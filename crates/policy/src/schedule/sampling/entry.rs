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
    pub out: Option<Errand>,
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
    match entry.out {
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
    entry.out.is_none() && (entry.last_visit < cycle.start || come_again && was_downloaded)
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
