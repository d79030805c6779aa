//! The threshold: the level from which on pages are ranked. Below it nothing is sorted. It follows the price.

use super::levels::TOPMOST;

/// The threshold lies this many levels below the lowest that pages were lately drawn from.
const BELOW_LOWEST: u16 = 1;
/// When it sinks, it sinks by so many more: each time every page is looked at.
const SINK_BELOW: u16 = 1;
/// A round of visits after which the threshold may rise: as many as there are pages, over this, and at least so many.
const ROUND_PAGES_OVER: u64 = 64;
const ROUND_VISITS_MIN: u64 = 32;
/// Rounds that are remembered.
const ROUNDS: usize = 4;
/// A threshold that lies further than `FAR` below all that was drawn lately rises half of the way at once, and one that lies
/// further than `VERY_FAR` below rises up to that: where a crawl begins, pages are worth nothing yet, and from a threshold that
/// low they would climb hundreds of levels that no page is drawn from. Lately is within as many visits as there are pages, over
/// this, and at least so many.
const FAR: u16 = 8;
const VERY_FAR: u16 = 32;
const LATELY_PAGES_OVER: u64 = 32;
const LATELY_VISITS_MIN: u64 = 12;
/// The threshold sinks far enough to rank this many times the visits wanted, and at least so many pages.
const SINK_TIMES: usize = 4;
const SINK_PAGES_MIN: usize = 64;
/// A threshold that sinks again before so much of all pages was visited sinks this many times deeper: each time looks at every
/// page, and a price that falls must not cost a look at all of them for a few visits.
const SOON_PAGES_OVER: usize = 4;
const DEEPER: usize = 4;
/// But it ranks at most one in so many of the pages below it, if they are enough for the visits wanted: the last of them were
/// visited just now, and from a threshold down there all pages climb dozens of levels that no page is drawn from.
const SINK_PAGES_OVER: usize = 8;

#[derive(Clone, Debug)]
pub struct Threshold {
    level: u16,
    rounds: Rounds,
    sinking: Sinking,
}

impl Default for Threshold {
    fn default() -> Self {
        Threshold { level: u16::MAX, rounds: Rounds::default(), sinking: Sinking::default() }
    }
}

impl Threshold {
    pub fn level(&self) -> u16 {
        self.level
    }

    /// A page was drawn from a level.
    pub fn note(&mut self, level: u16) {
        self.rounds.note(level);
    }

    /// Counts visits whose levels were noted. It rises after visits that all came from well above it.
    pub fn count(&mut self, drawn: usize, held: u64) {
        self.sinking.visits += drawn;
        self.level = self.rounds.count(drawn as u64, held, self.level);
    }

    /// Sinks until enough pages are ranked for so many visits. `reached` tells how many of the pages below it have reached each
    /// level.
    pub fn sink(&mut self, reached: &[u32], wanted: usize, held: u64) {
        let below = reached.iter().map(|&pages| pages as usize).sum();
        let wanted = self.sinking.pages_for(wanted, below, held as usize);
        let level = level_with(reached, wanted);
        self.level = level.saturating_sub(BELOW_LOWEST + SINK_BELOW).max(1).min(self.level);
        self.rounds = Rounds::after_sinking(self.level);
    }
}

/// What was drawn lately, which the threshold follows.
#[derive(Copy, Clone, Debug)]
struct Rounds {
    /// The lowest level drawn from in this round of visits and those before, and the visits of this round.
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
    /// As if all had been drawn from just above a threshold that sank.
    fn after_sinking(threshold: u16) -> Self {
        Rounds { lowest: [threshold + BELOW_LOWEST; ROUNDS], ..Rounds::default() }
    }

    /// A page was drawn from a level.
    fn note(&mut self, level: u16) {
        self.lowest[0] = self.lowest[0].min(level);
        // A page that has waited longest is at the topmost level whatever it is worth.
        if level < TOPMOST {
            self.lately = self.lately.min(level);
        }
    }

    /// Counts the visits whose levels were noted; where the threshold lies after them.
    fn count(&mut self, drawn: u64, held: u64, threshold: u16) -> u16 {
        self.drawn += drawn;
        self.drawn_lately += drawn;
        let mut threshold = threshold;
        if self.drawn_lately >= (held / LATELY_PAGES_OVER).max(LATELY_VISITS_MIN) {
            let lately = std::mem::replace(&mut self.lately, u16::MAX);
            let above = if lately < u16::MAX { lately.saturating_sub(threshold) } else { 0 };
            if above > FAR {
                threshold += (above / 2).max(above.saturating_sub(VERY_FAR));
                self.lowest = self.lowest.map(|lowest| lowest.max(threshold + BELOW_LOWEST));
            }
            self.drawn_lately = 0;
        }
        if self.drawn >= (held / ROUND_PAGES_OVER).max(ROUND_VISITS_MIN) {
            let lowest = self.lowest.iter().copied().min().unwrap_or(u16::MAX);
            threshold = threshold.max(lowest.min(TOPMOST - 1).saturating_sub(BELOW_LOWEST));
            self.lowest.rotate_right(1);
            self.lowest[0] = u16::MAX;
            self.drawn = 0;
        }
        threshold
    }
}

/// How deep the threshold sinks.
#[derive(Copy, Clone, Debug, Default)]
struct Sinking {
    /// Pages that were to be ranked when it last sank, and visits since.
    pages: usize,
    visits: usize,
}

impl Sinking {
    /// How many of the pages below it must be ranked for so many visits now.
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

/// The level that so many pages have reached, or all if they are fewer.
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
    fn a_threshold_far_below_all_visits_follows_within_a_few_of_them() {
        let (mut rounds, mut threshold) = (Rounds::after_sinking(1), 1);
        for _ in 0..100 {
            rounds.note(16_000);
            threshold = rounds.count(1, 300, threshold);
        }
        assert!((16_000 - FAR..16_000).contains(&threshold), "{threshold}");
    }

    #[test]
    fn a_threshold_of_nothing_is_left_behind_at_once() {
        let (mut rounds, mut threshold) = (Rounds::after_sinking(1), 1);
        for _ in 0..LATELY_VISITS_MIN {
            rounds.note(16_000);
            threshold = rounds.count(1, 300, threshold);
        }
        assert_eq!(threshold, 16_000 - VERY_FAR);
    }

    #[test]
    fn a_threshold_stays_below_the_lowest_visit_of_all_rounds_that_are_remembered() {
        let (mut rounds, mut threshold) = (Rounds::after_sinking(1_000), 1_000);
        for visit in 0..10 * ROUND_VISITS_MIN {
            rounds.note(if visit % 100 == 99 { 1_005 } else { 1_008 });
            threshold = rounds.count(1, 300, threshold);
            assert!(threshold < 1_005);
        }
        assert_eq!(threshold, 1_005 - BELOW_LOWEST);
    }

    #[test]
    fn a_threshold_that_sinks_again_and_again_leaves_most_pages_below_it() {
        let (mut sinking, held) = (Sinking::default(), 100_000);
        for below in [90_000, 8_000, 700, 90_000, 90_000, 90_000, 90_000] {
            let pages = sinking.pages_for(1, below, held);
            assert!((SINK_TIMES..=below / SINK_PAGES_OVER).contains(&pages), "{pages} of {below}");
        }
        assert_eq!(sinking.pages_for(1, 90_000, held), 90_000 / SINK_PAGES_OVER, "each time deeper");
        assert_eq!(sinking.pages_for(500, 900, held), 500 * SINK_TIMES, "whoever wants more is given more");
    }

    #[test]
    fn pages_that_have_waited_longest_do_not_lift_the_threshold_at_once() {
        let (mut rounds, mut threshold) = (Rounds::after_sinking(1_000), 1_000);
        for _ in 0..LATELY_VISITS_MIN * 2 {
            rounds.note(TOPMOST);
            threshold = rounds.count(1, 300, threshold);
        }
        assert_eq!(threshold, 1_000);
    }

    #[test]
    fn a_threshold_that_sinks_ranks_enough_pages_and_never_rises_by_it() {
        let mut threshold = Threshold::default();
        let mut reached = vec![0; 200];
        (reached[50], reached[100], reached[150]) = (10_000, 400, 3);
        threshold.sink(&reached, 100, 100_000);
        assert_eq!(threshold.level(), 100 - BELOW_LOWEST - SINK_BELOW);
        threshold.sink(&reached, 1, 100_000);
        assert!(threshold.level() <= 98);
    }
}
