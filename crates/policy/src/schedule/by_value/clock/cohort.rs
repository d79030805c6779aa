//! Pages of a site that were last visited within one bin of its clock: a cohort. Operational time passes alike for all of
//! them, so that a clock which moves moves the cohort and no page of it.

use crate::estimate::{ReadBin, Reading};
use crate::schedule::by_value::page::State;
use crate::schedule::by_value::pages::Pages;
use crate::schedule::by_value::queue::{Entry, WaitingList};

/// There is room for one in so many more cohorts than a site has, and for no more than half as many: most memory that sites
/// need beyond their pages is in cohorts.
const COHORTS_SPARE: usize = 4;

/// Pages last visited within a time that runs at one speed, by the operational time at which each must be looked at.
#[derive(Clone, Debug)]
pub struct Cohort {
    /// Operational time from its start until the clock was read.
    pub until: f64,
    /// In days. Bins begin at quarters of a day, so that this is exact.
    start: f32,
    pub width: f32,
    pub speed: f32,
    /// The first and the last of its pages' last visits, in days after its start.
    first: f32,
    last: f32,
    /// How much earlier than their keys say pages of this cohort may be due because its speed changed; if it is negative,
    /// they are due so much later.
    pub slack: f32,
    /// The least key that it holds; infinite if none.
    pub first_key: f32,
    /// Some of its pages may have waited as long as any page may, and were looked at for it.
    pub expiring: bool,
    pub pages: WaitingList,
}

impl Cohort {
    pub fn of(bin: &ReadBin) -> Self {
        Cohort {
            until: bin.until_now,
            start: bin.start as f32,
            width: bin.width as f32,
            speed: bin.speed as f32,
            first: f32::INFINITY,
            last: 0.0,
            slack: 0.0,
            first_key: f32::INFINITY,
            expiring: false,
            pages: WaitingList::default(),
        }
    }

    pub fn start(&self) -> f64 {
        f64::from(self.start)
    }

    /// Whether a visit at this instant belongs here.
    pub fn covers(&self, last: f64) -> bool {
        last >= self.start() && last < self.start() + f64::from(self.width)
    }

    /// Takes in a page that was last visited at this instant.
    pub fn push(&mut self, entry: Entry, last: f64) {
        let after = (last - self.start()) as f32;
        (self.first, self.last) = (self.first.min(after), self.last.max(after));
        self.first_key = self.first_key.min(entry.key);
        self.pages.push(entry);
    }

    /// The entry with the least key leaves.
    pub fn pop(&mut self) -> Option<Entry> {
        let entry = self.pages.pop();
        self.first_key = self.pages.peek().map_or(f32::INFINITY, |entry| entry.key);
        entry
    }

    /// Gives out all pages.
    pub fn drain(&mut self, into: &mut Vec<Entry>) {
        self.drain_unless(|_| false, into);
    }

    /// Gives out the pages that do not stay.
    pub fn drain_unless(&mut self, stays: impl Fn(&Entry) -> bool, into: &mut Vec<Entry>) {
        self.pages.drain_unless(stays, into);
        self.first_key = self.pages.peek().map_or(f32::INFINITY, |entry| entry.key);
        if self.pages.is_empty() {
            (self.slack, self.first, self.last) = (0.0, f32::INFINITY, 0.0);
        }
    }

    /// What keys are compared with, so much operational time after the clock was read.
    pub fn time(&self, passed: f64) -> f64 {
        self.until + passed + f64::from(self.slack)
    }

    /// The operational time since a last visit.
    pub fn operational(&self, last: f64, passed: f64) -> f64 {
        self.until + passed - f64::from(self.speed) * (last - self.start())
    }

    /// Takes the speed of the bin that it lies in now.
    fn set(&mut self, bin: &ReadBin) {
        let speed = bin.speed as f32;
        let slower = self.speed - speed;
        // What the change of speed means to the page to which it means most. The width of the cohort would do as well, but
        // pages that were all visited just now would be looked at after each visit that slows the clock by a little.
        self.slack += slower * if slower > 0.0 { self.last } else { self.first };
        self.speed = speed;
        self.until = bin.until_now - bin.speed * (self.start() - bin.start);
    }

    /// Takes over the pages of the cohort after it, whose time runs at the same speed by now. Keys are moved by what lies
    /// between the two starts; no value is looked at.
    fn join(&mut self, mut next: Cohort, pages: &mut Pages) {
        let moved = (self.until - next.until) as f32 + self.slack - next.slack;
        let between = next.start - self.start;
        self.width = between + next.width;
        (self.first, self.last) = (self.first.min(next.first + between), self.last.max(next.last + between));
        self.expiring = false;
        let mut entries = next.pages.take();
        entries.retain_mut(|entry| {
            let page = pages.at_mut(entry.page);
            let stands = page.state() == State::Eligible && page.waits_with(entry.key);
            entry.key += moved;
            if stands {
                page.wait_with(entry.key);
            }
            stands
        });
        self.pages.append(entries);
        self.first_key = self.pages.peek().map_or(f32::INFINITY, |entry| entry.key);
    }
}

/// Puts a new cohort among those of a site, in the order of their starts; its index.
pub fn insert(cohorts: &mut Vec<Cohort>, cohort: Cohort) -> usize {
    if cohorts.len() == cohorts.capacity() {
        cohorts.reserve_exact(1 + cohorts.len() / COHORTS_SPARE);
    }
    let index = cohorts.partition_point(|other| other.start() < cohort.start());
    cohorts.insert(index, cohort);
    index
}

/// Sets the cohorts of a site by a new reading: empty ones go, those that lie in one bin now are joined, and pages before all
/// bins are given out to be placed anew.
pub fn set_all(cohorts: &mut Vec<Cohort>, reading: &Reading, pages: &mut Pages, out: &mut Vec<Entry>) {
    let mut bins = reading.bins().iter().peekable();
    let mut joined: Option<f64> = None;
    let mut kept = 0;
    for index in 0..cohorts.len() {
        if cohorts[index].pages.is_empty() {
            continue;
        }
        let start = cohorts[index].start();
        while bins.next_if(|bin| bin.start + bin.width <= start).is_some() {}
        let bin = bins.peek().filter(|bin| bin.start <= start).map(|bin| **bin).or_else(|| reading.bin_of(start));
        let Some(bin) = bin else {
            cohorts[index].drain(out);
            continue;
        };
        cohorts[index].set(&bin);
        if joined == Some(bin.start) {
            let empty = Cohort { pages: WaitingList::default(), ..cohorts[index] };
            let next = std::mem::replace(&mut cohorts[index], empty);
            cohorts[kept - 1].join(next, pages);
            continue;
        }
        joined = Some(bin.start);
        cohorts.swap(kept, index);
        kept += 1;
    }
    cohorts.truncate(kept);
    cohorts.iter_mut().for_each(|cohort| cohort.pages.shrink());
    if cohorts.capacity() > kept + kept / 2 + COHORTS_SPARE {
        cohorts.shrink_to(kept + kept / COHORTS_SPARE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use vernal_model::{PageKey, Partition};

    const START: f64 = 19_000.0;

    fn bin(start: f64, speed: f64, now: f64) -> ReadBin {
        ReadBin { start, width: 0.25, speed, until_now: speed * 0.25 + (now - start - 0.25) }
    }

    proptest! {
        /// Whoever is told a key and asks for it at that operational time, and not before, is told of the page then.
        #[test]
        fn pages_come_due_at_their_time_whatever_the_speed_becomes(
            pages in prop::collection::vec((0.0f64..0.25, 0.1f64..20.0), 1..20),
            speeds in prop::collection::vec(0.1f64..4.0, 1..5),
        ) {
            let now = START + 10.0;
            let mut cohort = Cohort::of(&bin(START, 1.0, now));
            for (page, &(after, o)) in (0u32..).zip(&pages) {
                let last = START + after;
                let more = o - cohort.operational(last, 0.0);
                cohort.push(Entry { key: (cohort.time(0.0) + more) as f32, page }, last);
            }
            for speed in speeds {
                cohort.set(&bin(START, speed, now));
            }
            // Whoever has reached its operational time by now must be due; others may be looked at too early.
            let due = |entry: &Entry| f64::from(entry.key) <= cohort.time(0.0) + 1e-3;
            for entry in cohort.pages.iter() {
                let (after, o) = pages[entry.page as usize];
                if cohort.operational(START + after, 0.0) >= o {
                    prop_assert!(due(entry), "{} has not come", entry.page);
                }
            }
        }
    }

    #[test]
    fn cohorts_of_one_bin_are_joined_and_their_pages_wait_on() {
        let mut pages = Pages::default();
        let (now, mut cohorts) = (START + 10.0, Vec::new());
        for (page, start) in [(0u32, START), (1, START + 0.25)] {
            let mut cohort = Cohort::of(&bin(start, 1.0, now));
            let key = (cohort.time(0.0) + 3.0) as f32;
            let row = pages.make(PageKey::new(Partition(0), page));
            row.enter(State::Eligible);
            row.wait_with(key);
            cohort.push(Entry { key, page }, start + 0.1);
            insert(&mut cohorts, cohort);
        }
        let [first, second] = [0, 1].map(|index: usize| cohorts[index].clone());
        let mut joined = first.clone();
        joined.join(second, &mut pages);
        assert!(joined.covers(START) && joined.covers(START + 0.4) && !joined.covers(START + 0.5));
        assert_eq!(joined.pages.len(), 2);
        assert!(joined.pages.iter().all(|entry| pages.waits(entry, 0)), "their keys moved with them");
        let left = |entry: &Entry| f64::from(entry.key) - joined.time(0.0);
        assert!(joined.pages.iter().all(|entry| (left(entry) - 3.0).abs() < 0.01));
    }
}
