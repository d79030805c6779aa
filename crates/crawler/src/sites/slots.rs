//! Who may use the slots of the crawl, which are the requests at a time: sites that answer promptly always find some.
//!
//! A site has a level by how long its requests keep a slot. Together with all slower sites, the sites of a level share the
//! slots that faster ones leave, and never get all of them. Those beyond their share wait in line. A site that never
//! answered is of the slowest level, and so is one that did not answer lately.

use std::collections::VecDeque;

use vernal_model::{Failure, Outcome, Partition as PartitionId, Site, Span};

/// Requests of the first levels take at most this long in real time, those of the last level longer.
const LEVELS_UNTIL: [Span; 3] = [Span::from_millis(250), Span::from_secs(1), Span::from_secs(4)];
const LAST: u8 = LEVELS_UNTIL.len() as u8;
/// Each level has one in so many slots that slower sites never use.
const LEVEL_PART: usize = 8;
/// However many slots faster sites use, slower ones may use one in so many.
const SLOWER_PART_MIN: usize = 4;
/// Faster sites have so many times the slots that they use, so that they can always begin more requests.
const FASTER_ROOM: usize = 2;
/// A new site leaves the last level by so many prompt answers. One is not enough: robots.txt costs a site nothing.
const PROMPT_FIRST: u16 = 2;
/// A site becomes faster by so many answers that are; after it fell to the last level by twice as many each time, up to 2⁶
/// times.
const PROMPT_AGAIN: u16 = 4;
const PROMPT_DOUBLED_MAX: u8 = 6;
/// Where many sites are of the last level, a request to one that never left it may take this long in real time, and twice as
/// long each time that it is not answered. After so many doublings it may take its usual time.
const PATIENCE_MIN: Span = Span::from_secs(4);
const PATIENCE_DOUBLED_MAX: u8 = 3;
/// Many are so many times fewer than the slots.
const MANY_PART: usize = 8;
/// The first requests that are not held against a site if they were given less than the usual time.
const HURRIED_TRIES_MAX: u8 = 2;
/// One in so many turns in line belongs to a site that did not answer or was slow before.
const TURN_OF_DOUBTFUL: u32 = 8;

/// How a site used the slots that it had.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    level: u8,
    /// Answers in a row that were faster than its level.
    prompt: u16,
    /// How often it fell to the last level.
    lapses: u8,
    /// Requests that were not answered since it left the last level.
    tries: u8,
    has_answered: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { level: LAST, prompt: 0, lapses: 0, tries: 0, has_answered: false }
    }
}

impl Pace {
    /// The pace of a site that answered an earlier process.
    pub fn known() -> Self {
        Pace { level: 0, has_answered: true, ..Pace::default() }
    }

    pub fn level(self) -> u8 {
        self.level
    }

    /// Whether it is of the last level.
    pub fn is_slow(self) -> bool {
        self.level == LAST
    }

    /// Whether less than the usual time explains that this site has not answered.
    pub fn was_hurried(self) -> bool {
        !self.has_answered && self.tries < HURRIED_TRIES_MAX
    }

    fn is_doubtful(self) -> bool {
        self.tries > 0 || self.lapses > 0
    }

    fn prompt_min(self) -> u16 {
        match self.lapses {
            0 if self.level == LAST => PROMPT_FIRST,
            0 => PROMPT_AGAIN,
            lapses => PROMPT_AGAIN << (lapses - 1).min(PROMPT_DOUBLED_MAX),
        }
    }

    /// The time that a request may take where many sites are of the last level; `None` for the usual time.
    fn patience(self) -> Option<Span> {
        let is_short = self.level == LAST && self.lapses == 0 && self.tries <= PATIENCE_DOUBLED_MAX;
        is_short.then(|| PATIENCE_MIN.scaled(f64::from(1u16 << self.tries)))
    }

    /// Notes how a request ended that kept its slot this long in real time.
    pub fn note(&mut self, outcome: &Outcome, took: Span) {
        let level = match outcome {
            Outcome::Refused(_) | Outcome::Failed(Failure::Lost) => return,
            Outcome::Failed(Failure::Dns(_) | Failure::Timeout(_)) => LAST,
            _ => LEVELS_UNTIL.iter().take_while(|&&until| took > until).count() as u8,
        };
        let is_answer = is_answer(outcome);
        self.has_answered |= is_answer;
        self.tries = self.tries.saturating_add(u8::from(!is_answer));
        if level > self.level {
            self.level = level;
            self.lapses = self.lapses.saturating_add(u8::from(level == LAST));
        }
        if level >= self.level {
            self.prompt = 0;
        } else if is_answer {
            self.prompt += 1;
            if self.prompt >= self.prompt_min() {
                (self.level, self.prompt, self.tries) = (level, 0, 0);
            }
        }
    }
}

/// Whether the site said something that can be understood.
fn is_answer(outcome: &Outcome) -> bool {
    !matches!(
        outcome,
        Outcome::Failed(
            Failure::Dns(_) | Failure::Connect(_) | Failure::Tls(_) | Failure::Timeout(_) | Failure::Protocol(_)
        )
    )
}

type Line = VecDeque<(PartitionId, Site)>;

/// The slots in use, and the sites that wait for one.
#[derive(Debug)]
pub(crate) struct Slots {
    concurrency: usize,
    /// By level.
    used: [usize; LAST as usize + 1],
    waiting: [Line; LAST as usize + 1],
    /// Sites that did not answer or were slow before wait beside those of the last level.
    doubtful: Line,
    turns: u32,
}

impl Slots {
    pub fn new(concurrency: usize) -> Self {
        let (used, waiting, doubtful) = Default::default();
        Slots { concurrency, used, waiting, doubtful, turns: 0 }
    }

    /// How many requests to sites of this level may begin now. The slots in all are limited elsewhere.
    pub fn room(&self, level: u8) -> usize {
        let level = usize::from(level.min(LAST));
        let (faster, here) = self.used.split_at(level);
        let kept = if level == 0 { 0 } else { (level * self.concurrency / LEVEL_PART).max(1) };
        let most = self.concurrency.saturating_sub(kept).max(1);
        let least = self.concurrency.div_ceil(SLOWER_PART_MIN).min(most);
        let left = self.concurrency.saturating_sub(FASTER_ROOM * faster.iter().sum::<usize>());
        left.clamp(least, most).saturating_sub(here.iter().sum())
    }

    /// The time that a request to a site may take; `None` for the usual time. It is short only beside many others.
    pub fn patience(&self, pace: Pace) -> Option<Span> {
        let last = usize::from(LAST);
        let do_wait = !self.doubtful.is_empty() || !self.waiting[last].is_empty();
        let are_many = do_wait || self.used[last] >= self.concurrency.div_ceil(MANY_PART);
        pace.patience().filter(|_| are_many)
    }

    /// A request to a site that had this level begins.
    pub fn began(&mut self, level: u8) {
        self.used[usize::from(level.min(LAST))] += 1;
    }

    pub fn ended(&mut self, level: u8) {
        let used = &mut self.used[usize::from(level.min(LAST))];
        *used = used.saturating_sub(1);
    }

    /// Puts a site at the end of its line.
    pub fn wait(&mut self, id: PartitionId, site: Site, pace: Pace) {
        let line = match pace.level {
            LAST if pace.is_doubtful() => &mut self.doubtful,
            level => &mut self.waiting[usize::from(level)],
        };
        line.push_back((id, site));
    }

    /// Takes as many sites out of the lines as there is room for.
    pub fn call_up(&mut self) -> Vec<(PartitionId, Site)> {
        let mut called = Vec::new();
        for level in 0..LAST {
            let room = self.room(level).min(self.waiting[usize::from(level)].len());
            called.extend(self.waiting[usize::from(level)].drain(..room));
        }
        called.extend((0..self.room(LAST)).map_while(|_| self.next_of_last()));
        called
    }

    fn next_of_last(&mut self) -> Option<(PartitionId, Site)> {
        let new = &mut self.waiting[usize::from(LAST)];
        if new.is_empty() && self.doubtful.is_empty() {
            return None;
        }
        self.turns = self.turns.wrapping_add(1);
        let (first, second) = match self.turns.is_multiple_of(TURN_OF_DOUBTFUL) {
            true => (&mut self.doubtful, new),
            false => (new, &mut self.doubtful),
        };
        first.pop_front().or_else(|| second.pop_front())
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::Stage;

    use super::*;

    const QUICK: Span = Span::from_millis(100);
    const LATE: Span = Span::from_secs(10);

    fn answer() -> Outcome {
        Outcome::Gone { status: 404 }
    }

    fn no_answer() -> Outcome {
        Outcome::Failed(Failure::Timeout(Stage::Total))
    }

    /// How many sites of this level get slots of as many as they want.
    fn fill(slots: &mut Slots, level: u8) -> usize {
        let mut filled = 0;
        while slots.room(level) > 0 && slots.used.iter().sum::<usize>() < slots.concurrency {
            slots.began(level);
            filled += 1;
        }
        filled
    }

    #[test]
    fn slower_sites_leave_slots_to_faster_ones_and_faster_ones_to_slower_ones() {
        let mut slots = Slots::new(64);
        assert_eq!([3, 2, 1, 0].map(|level| fill(&mut slots, level)), [40, 8, 8, 8]);
        for concurrency in 2..200 {
            for level in 1..=LAST {
                let faster = if concurrency < 2 * LEVEL_PART { 0 } else { level - 1 };
                let mut slots = Slots::new(concurrency);
                assert!(fill(&mut slots, level) > 0 && fill(&mut slots, faster) > 0, "{level} of {concurrency}");
                let mut slots = Slots::new(concurrency);
                (0..concurrency - 1).for_each(|_| slots.began(level - 1));
                assert!(slots.room(level) > 0, "{level} of {concurrency}");
            }
        }
        assert!((0..=LAST).all(|level| Slots::new(1).room(level) == 1), "a single slot is for all");
    }

    #[test]
    fn what_faster_sites_use_more_of_slower_ones_get_less_of() {
        let mut slots = Slots::new(64);
        let mut most = Vec::new();
        for _ in 0..4 {
            most.push(slots.room(LAST));
            (0..8).for_each(|_| slots.began(0));
        }
        assert_eq!(most, [40, 40, 32, 16]);
        (0..24).for_each(|_| slots.ended(0));
        assert_eq!(slots.room(LAST), 40);
    }

    /// The quick answers after which the site is fast.
    fn answers_until_fast(pace: &mut Pace) -> u16 {
        let mut answers = 0;
        while pace.level() > 0 {
            pace.note(&answer(), QUICK);
            answers += 1;
        }
        answers
    }

    #[test]
    fn a_site_becomes_fast_by_two_answers_and_again_by_ever_more_of_them() {
        let mut pace = Pace::default();
        let mut needed = Vec::new();
        for _ in 0..9 {
            needed.push(answers_until_fast(&mut pace));
            pace.note(&no_answer(), LATE);
            assert_eq!(pace.level(), LAST);
        }
        assert_eq!(needed, [2, 4, 8, 16, 32, 64, 128, 256, 256]);
    }

    #[test]
    fn the_level_of_a_site_follows_the_time_that_its_requests_take() {
        let levels = [(QUICK, 0), (Span::from_millis(900), 1), (Span::from_secs(3), 2), (LATE, LAST)];
        for (took, level) in levels {
            let mut pace = Pace::known();
            pace.note(&answer(), took);
            assert_eq!(pace.level(), level, "{took:?}");
            assert_eq!(answers_until_fast(&mut pace), if level == 0 { 0 } else { PROMPT_AGAIN });
        }
    }

    #[test]
    fn a_quick_failure_is_neither_slow_nor_an_answer_and_a_refusal_of_ours_says_nothing() {
        let refused = Outcome::Failed(Failure::Connect("refused".into()));
        for (mut pace, level) in [(Pace::known(), 0), (Pace::default(), LAST)] {
            for _ in 0..PROMPT_AGAIN {
                pace.note(&Outcome::Failed(Failure::Lost), LATE);
                pace.note(&refused, QUICK);
            }
            assert_eq!(pace.level(), level);
        }
    }

    #[test]
    fn only_a_site_that_never_was_faster_is_hurried_and_only_beside_many() {
        let (mut slots, mut pace) = (Slots::new(8), Pace::default());
        assert_eq!(slots.patience(pace), None, "nobody waits");
        slots.wait(PartitionId(0), Site::new("a.org"), pace);
        let mut given = Vec::new();
        for _ in 0..5 {
            given.push(slots.patience(pace).map(|span| span.micros() / 1_000_000));
            pace.note(&no_answer(), PATIENCE_MIN);
        }
        assert_eq!(given, [Some(4), Some(8), Some(16), Some(32), None]);
        assert_eq!(slots.patience(Pace::known()), None);
        assert_eq!(slots.call_up().len(), 1);
        assert_eq!(slots.patience(Pace::default()), None);
        slots.began(LAST);
        assert!(slots.patience(Pace::default()).is_some(), "one in eight is in use");
    }

    #[test]
    fn new_sites_come_first_but_not_for_ever_and_no_more_are_called_than_find_a_slot() {
        let mut slots = Slots::new(8);
        let doubtful = Pace { tries: 1, ..Pace::default() };
        for number in 0..9 {
            slots.wait(PartitionId(0), Site::new(&format!("d{number}.org")), doubtful);
            slots.wait(PartitionId(0), Site::new(&format!("n{number}.org")), Pace::default());
        }
        let mut line = String::new();
        loop {
            let called = slots.call_up();
            assert!(called.len() <= 5);
            line.extend(called.iter().map(|(_, site)| &site.as_str()[..1]));
            if called.is_empty() {
                break;
            }
        }
        assert_eq!(line, "nnnnnnndnndddddddd");
        let slow = Pace { level: 1, ..Pace::known() };
        (0..9).for_each(|number| slots.wait(PartitionId(0), Site::new(&format!("s{number}.org")), slow));
        (0..4).for_each(|_| slots.began(LAST));
        assert_eq!(slots.call_up().len(), 3, "slower sites use the rest of their share");
    }
}
