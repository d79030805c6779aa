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
const ROUND_PAGES_OVER: u64 = 64;
const ROUND_VISITS_MIN: u64 = 32;
/// Rounds that are remembered.
const ROUNDS: usize = 4;
/// A floor that lies further than this below all that was drawn lately rises half of the way at once, and one that lies still
/// further down up to that: where a crawl begins, pages are worth nothing yet, and from a floor that low they would climb
/// hundreds of rungs that nobody draws from. Lately is within as many visits as there are pages, over this, and at least so many.
const FAR: u16 = 8;
const VERY_FAR: u16 = 32;
const LATELY_PAGES_OVER: u64 = 32;
const LATELY_VISITS_MIN: u64 = 12;
/// The floor sinks far enough to bring this many times the visits wanted onto the ladder, and at least so many.
const SINK_TIMES: usize = 4;
const SINK_PAGES_MIN: usize = 64;
/// A floor that sinks again before so much of all pages was visited sinks this many times deeper: each time looks at every
/// page, and a price that falls must not cost a look at all of them for a few visits.
const SOON_PAGES_OVER: usize = 4;
const DEEPER: usize = 4;
/// But it brings up at most one in so many of the pages that stand below it, if they are enough for the visits wanted: the
/// last of them were visited just now, and from a floor down there all pages climb dozens of rungs that nobody draws from.
const SINK_PAGES_OVER: usize = 8;
/// How deep it must sink is reckoned from about so many pages.
const LOOKED_AT: u64 = 1 << 13;

/// What was drawn lately, which the floor follows.
#[derive(Copy, Clone, Debug)]
pub(super) struct Rounds {
    /// The lowest rung drawn from in this round of visits and those before, and the visits of this round.
    lowest: [u16; ROUNDS],
    drawn: u64,
    /// The same of the last few visits.
    lately: u16,
    drawn_lately: u64,
}

impl Default for Rounds {
    fn default() -> Self {
        Rounds { lowest: [u16::MAX; ROUNDS], drawn: 0, lately: u16::MAX, drawn_lately: 0 }
    }
}

impl Rounds {
    /// As if all had been drawn from just above a floor that sank.
    fn after_sinking(floor: u16) -> Self {
        Rounds { lowest: [floor + FLOOR_BELOW; ROUNDS], ..Rounds::default() }
    }

    /// A page was drawn from a rung.
    pub fn note(&mut self, level: u16) {
        self.lowest[0] = self.lowest[0].min(level);
        // Who has waited longest stands on top whatever it is worth.
        if level < TOPMOST {
            self.lately = self.lately.min(level);
        }
    }

    /// Counts the visits whose rungs were noted; where the floor lies after them. It rises after visits that all came from
    /// well above it.
    pub fn count(&mut self, drawn: u64, held: u64, floor: u16) -> u16 {
        self.drawn += drawn;
        self.drawn_lately += drawn;
        let mut floor = floor;
        if self.drawn_lately >= (held / LATELY_PAGES_OVER).max(LATELY_VISITS_MIN) {
            let lately = std::mem::replace(&mut self.lately, u16::MAX);
            let above = if lately < u16::MAX { lately.saturating_sub(floor) } else { 0 };
            if above > FAR {
                floor += (above / 2).max(above.saturating_sub(VERY_FAR));
                self.lowest = self.lowest.map(|lowest| lowest.max(floor + FLOOR_BELOW));
            }
            self.drawn_lately = 0;
        }
        if self.drawn >= (held / ROUND_PAGES_OVER).max(ROUND_VISITS_MIN) {
            let lowest = self.lowest.iter().copied().min().unwrap_or(u16::MAX);
            floor = floor.max(lowest.min(TOPMOST - 1).saturating_sub(FLOOR_BELOW));
            self.lowest.rotate_right(1);
            self.lowest[0] = u16::MAX;
            self.drawn = 0;
        }
        floor
    }
}

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

    /// How many of the pages below it must be brought onto the ladder for so many visits now.
    fn pages_for(&mut self, wanted: usize, below: usize, held: usize) -> usize {
        let least = (wanted * SINK_TIMES).max(SINK_PAGES_MIN);
        let most = (wanted * SINK_TIMES).max(below / SINK_PAGES_OVER);
        self.pages = match self.visits < held / SOON_PAGES_OVER {
            true => (self.pages * DEEPER).min(held),
            false => self.pages / DEEPER,
        };
        self.pages = self.pages.max(least).min(most);
        self.visits = 0;
        self.pages
    }
}

impl Index {
    /// Lets the floor sink, until enough pages of sites with room stand on ladders; whether there were any.
    pub(super) fn sink(&mut self, view: &dyn View, wanted: usize, now: f64) -> bool {
        let homes: Vec<u32> = self.homes.iter().copied().collect();
        let (mut open, mut risen) = (Vec::new(), false);
        for site in homes {
            let life = &self.sites[site as usize];
            if life.waiting() == life.ladder.standing() {
                continue;
            }
            let Some(first) = self.below_floor(site).next() else { continue };
            if !view.has_room(self.pages.key(first)) {
                self.behind.push(site);
                continue;
            }
            let standing = life.ladder.standing();
            self.attend(site, &[], now);
            risen |= self.sites[site as usize].ladder.standing() > standing;
            open.push(site);
        }
        if open.is_empty() {
            return false;
        }
        let some = (view.held() / LOOKED_AT) as u32;
        let reached = self.reached_below(&open, some, now).or_else(|| self.reached_below(&open, 0, now));
        // Sites are not woken twice within a second: who has reached the floor since then stands on its ladder now.
        let Some(reached) = reached else { return risen };
        let below = reached.iter().map(|&pages| pages as usize).sum();
        let wanted = self.sinking.pages_for(wanted, below, view.held() as usize);
        let level = level_with(&reached, wanted);
        self.floor = level.saturating_sub(FLOOR_BELOW + SINK_BELOW).max(1).min(self.floor);
        self.rounds = Rounds::after_sinking(self.floor);
        for site in open {
            self.lower_floor(site, now);
        }
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
                reached[usize::from(self.level_now(number, self.pages.at(number), now))] += some;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_far_below_all_visits_follows_within_a_few_of_them() {
        let (mut rounds, mut floor) = (Rounds::after_sinking(1), 1);
        for _ in 0..100 {
            rounds.note(16_000);
            floor = rounds.count(1, 300, floor);
        }
        assert!((16_000 - FAR..16_000).contains(&floor), "{floor}");
    }

    #[test]
    fn a_floor_of_nothing_is_left_behind_at_once() {
        let (mut rounds, mut floor) = (Rounds::after_sinking(1), 1);
        for _ in 0..LATELY_VISITS_MIN {
            rounds.note(16_000);
            floor = rounds.count(1, 300, floor);
        }
        assert_eq!(floor, 16_000 - VERY_FAR);
    }

    #[test]
    fn a_floor_stays_below_the_lowest_visit_of_all_rounds_that_are_remembered() {
        let (mut rounds, mut floor) = (Rounds::after_sinking(1_000), 1_000);
        for visit in 0..10 * ROUND_VISITS_MIN {
            rounds.note(if visit % 100 == 99 { 1_005 } else { 1_008 });
            floor = rounds.count(1, 300, floor);
            assert!(floor < 1_005);
        }
        assert_eq!(floor, 1_005 - FLOOR_BELOW);
    }

    #[test]
    fn a_floor_that_sinks_again_and_again_leaves_most_pages_below_it() {
        let (mut sinking, held) = (Sinking::default(), 100_000);
        for below in [90_000, 8_000, 700, 90_000, 90_000, 90_000, 90_000] {
            let pages = sinking.pages_for(1, below, held);
            assert!((SINK_TIMES..=below / SINK_PAGES_OVER).contains(&pages), "{pages} of {below}");
        }
        assert_eq!(sinking.pages_for(1, 90_000, held), 90_000 / SINK_PAGES_OVER, "each time deeper");
        assert_eq!(sinking.pages_for(500, 900, held), 500 * SINK_TIMES, "whoever wants more is given more");
    }

    #[test]
    fn pages_that_have_waited_longest_do_not_lift_the_floor_at_once() {
        let (mut rounds, mut floor) = (Rounds::after_sinking(1_000), 1_000);
        for _ in 0..LATELY_VISITS_MIN * 2 {
            rounds.note(TOPMOST);
            floor = rounds.count(1, 300, floor);
        }
        assert_eq!(floor, 1_000);
    }
}
