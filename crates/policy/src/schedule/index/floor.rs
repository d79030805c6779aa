//! The floor: from its rung on all pages stand on ladders, and below it nothing is sorted. It follows the price.

use super::page::spread;
use super::policy::Index;
use super::rungs::TOPMOST;
use crate::View;

/// The floor lies this many rungs below the lowest that pages were lately drawn from.
const FLOOR_BELOW: u16 = 1;
/// When it sinks, it sinks by so many more: each time every page is looked at.
const SINK_BELOW: u16 = 1;
/// A round of visits after which the floor may rise: as many as there are pages, over this, and at least so many.
const ROUND_PAGES_OVER: u64 = 8;
const ROUND_VISITS_MIN: u64 = 64;
/// Rounds that are remembered.
pub(super) const ROUNDS: usize = 4;
/// The floor sinks far enough to bring this many times the visits wanted onto the ladder, and at least so many.
const SINK_TIMES: usize = 4;
const SINK_PAGES_MIN: usize = 64;
/// A floor that sinks again before so much of all pages was visited sinks this many times deeper: each time looks at every
/// page, and a price that falls must not cost a look at all of them for a few visits.
const SOON_PAGES_OVER: usize = 4;
const DEEPER: usize = 4;
/// How deep it must sink is reckoned from about so many pages.
const LOOKED_AT: u64 = 1 << 13;

/// How deep the floor sinks.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Sinking {
    /// Pages that it was to bring onto the ladder when it last sank, and visits since.
    pages: usize,
    visits: usize,
}

impl Sinking {
    pub fn count(&mut self, visits: usize) {
        self.visits += visits;
    }

    /// How many pages it must bring onto the ladder for so many visits now.
    fn pages_for(&mut self, wanted: usize, held: usize) -> usize {
        let least = (wanted * SINK_TIMES).max(SINK_PAGES_MIN);
        self.pages = match self.visits < held / SOON_PAGES_OVER {
            true => (self.pages * DEEPER).min(held),
            false => self.pages / DEEPER,
        };
        self.pages = self.pages.max(least);
        self.visits = 0;
        self.pages
    }
}

impl Index {
    /// Lets the floor sink, until enough pages of sites with room stand on ladders; whether there were any.
    pub(super) fn sink(&mut self, view: &dyn View, wanted: usize, now: f64) -> bool {
        let homes: Vec<u32> = self.homes.iter().copied().collect();
        let mut open = Vec::new();
        for site in homes {
            let Some(first) = self.below_floor(site).next() else { continue };
            if !view.has_room(self.pages.key(first)) {
                self.behind.push(site);
                continue;
            }
            self.attend(site, &[], now);
            open.push(site);
        }
        self.heads.settle();
        if open.is_empty() {
            return false;
        }
        let some = (view.held() / LOOKED_AT) as u32;
        let reached = self.reached_below(&open, some, now).or_else(|| self.reached_below(&open, 0, now));
        let Some(reached) = reached else { return false };
        let wanted = self.sinking.pages_for(wanted, view.held() as usize);
        let level = level_with(&reached, wanted);
        self.floor = level.saturating_sub(FLOOR_BELOW + SINK_BELOW).max(1).min(self.floor);
        self.lowest = [self.floor + FLOOR_BELOW; ROUNDS];
        self.drawn = 0;
        for site in open {
            self.lower_floor(site, now);
        }
        self.heads.settle();
        true
    }

    /// How many pages of these sites below the floor have reached each rung, reckoned from one in `some` of them; `None` if
    /// there was none among these.
    fn reached_below(&self, sites: &[u32], some: u32, now: f64) -> Option<Vec<u32>> {
        let some = some.max(1);
        let mut reached = vec![0u32; usize::from(TOPMOST) + 1];
        let mut any = false;
        for &site in sites {
            for number in self.below_floor(site).filter(|&number| spread(number).is_multiple_of(some)) {
                reached[usize::from(self.level_now(number, now))] += some;
                any = true;
            }
        }
        any.then_some(reached)
    }

    fn lower_floor(&mut self, site: u32, now: f64) {
        let life = &mut self.sites[site as usize];
        life.floor = self.floor;
        life.stale = true;
        self.attend(site, &[], now);
    }

    /// A site that had no room when the floor sank follows when it has.
    pub(super) fn catch_up(&mut self, site: u32, view: &dyn View, now: f64) {
        if self.sites[site as usize].floor <= self.floor || self.sites[site as usize].at_home == 0 {
            return;
        }
        match view.has_room(self.pages.key(self.sites[site as usize].sample)) {
            true => self.lower_floor(site, now),
            false => self.behind.push(site),
        }
    }

    /// Lets the floor rise after a round of visits that all came from well above it.
    pub(super) fn close_round(&mut self, drawn: u64, held: u64) {
        self.drawn += drawn;
        if self.drawn < (held / ROUND_PAGES_OVER).max(ROUND_VISITS_MIN) {
            return;
        }
        let lowest = self.lowest.iter().copied().min().unwrap_or(u16::MAX);
        self.floor = self.floor.max(lowest.min(TOPMOST - 1).saturating_sub(FLOOR_BELOW));
        self.lowest.rotate_right(1);
        self.lowest[0] = u16::MAX;
        self.drawn = 0;
    }
}

/// The rung from which on so many pages stand, or all if they are fewer.
fn level_with(reached: &[u32], wanted: usize) -> u16 {
    let mut found = 0;
    let mut lowest = 0;
    for (level, &pages) in reached.iter().enumerate().rev().filter(|&(_, &pages)| pages > 0) {
        found += pages as usize;
        lowest = level as u16;
        if found >= wanted {
            break;
        }
    }
    lowest
}
