//! The floor: from its rung on all pages stand on ladders, and below it nothing is sorted. It follows the price.

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

impl Index {
    /// Lets the floor sink, until enough pages of sites with room stand on ladders; whether there were any.
    pub(super) fn sink(&mut self, view: &dyn View, wanted: usize, now: f64) -> bool {
        let homes: Vec<u32> = self.homes.iter().copied().collect();
        let mut open = Vec::new();
        // By rung; made when the first page is met, since most partitions are asked in vain.
        let mut reached = Vec::new();
        for site in homes {
            let Some(first) = self.below_floor(site).next() else { continue };
            if !view.has_room(self.pages.key(first)) {
                self.behind.push(site);
                continue;
            }
            self.attend(site, &[], now);
            reached.resize(usize::from(TOPMOST) + 1, 0u32);
            for number in self.below_floor(site) {
                reached[usize::from(self.level_now(number, now))] += 1;
            }
            open.push(site);
        }
        let Some(level) = level_with(&reached, (wanted * SINK_TIMES).max(SINK_PAGES_MIN)) else { return false };
        self.floor = level.saturating_sub(FLOOR_BELOW + SINK_BELOW).max(1).min(self.floor);
        self.lowest = [self.floor + FLOOR_BELOW; ROUNDS];
        self.drawn = 0;
        for site in open {
            self.lower_floor(site, now);
        }
        true
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

/// The rung from which on so many pages stand, or all if they are fewer; `None` if there are none.
fn level_with(reached: &[u32], wanted: usize) -> Option<u16> {
    let mut found = 0;
    let mut lowest = None;
    for (level, &pages) in reached.iter().enumerate().rev().filter(|&(_, &pages)| pages > 0) {
        found += pages as usize;
        lowest = Some(level as u16);
        if found >= wanted {
            break;
        }
    }
    lowest
}
