//! The eligible pages of one site: in cohorts by their last visit, each with the operational time at which it must be looked
//! at again, and those that reached the threshold by their levels as well.
//!
//! A clock is read when a visit moved it, and only visits move it, so that what is chosen does not depend on when it was read.
//! Until the next visit the snapshot goes on by itself, and a site that is looked at again is not read again.

use super::levels::RankedPages;
use super::unobserved::UnobservedGroups;
use super::waiting_list::{Entry, WaitingList};
use crate::estimate::Reading;
use crate::schedule::by_value::clock::{ClockSnapshot, Cohort, insert, set_all};
use crate::schedule::by_value::page::Page;
use crate::schedule::by_value::pages::Pages;
use crate::schedule::by_value::site::Site;

/// About a second, in days: what the rounding of keys may hide. No site is looked at again sooner, or it might be for ever.
const AGAIN_DAYS_MIN: f64 = 1e-5;

#[derive(Clone, Debug)]
pub struct SiteQueue {
    pub snapshot: ClockSnapshot,
    /// Pages that wait, by the bin of their last visit; in its order.
    cohorts: Vec<Cohort>,
    /// Pages that wait and were last visited before all bins, or whose site has no clock.
    older: WaitingList,
    /// Pages whose value reached the threshold.
    pub ranked: RankedPages,
    pub unobserved: UnobservedGroups,
    /// All eligible pages, followers among them.
    pub eligible: u32,
    /// The level from which on all its eligible pages are ranked.
    pub threshold: u16,
    /// The instant since which the keys of `older` are counted, in days.
    origin: f64,
}

impl SiteQueue {
    pub fn new(threshold: u16, origin: f64) -> Self {
        SiteQueue {
            snapshot: ClockSnapshot::default(),
            cohorts: Vec::new(),
            older: WaitingList::default(),
            ranked: RankedPages::default(),
            unobserved: UnobservedGroups::default(),
            eligible: 0,
            threshold,
            origin,
        }
    }

    /// Sets the cohorts by a new reading of the site's clock; pages that are before all bins now are given out.
    pub fn read(&mut self, reading: &Reading, pages: &mut Pages, out: &mut Vec<Entry>) {
        self.snapshot = ClockSnapshot::of(reading);
        set_all(&mut self.cohorts, reading, pages, out);
    }

    /// Whether a page that was last visited before all bins is due.
    pub fn is_older_due(&self, now: f64) -> bool {
        let hour = self.snapshot.hour(now) - self.origin;
        self.older.peek().is_some_and(|entry| f64::from(entry.key) <= hour)
    }

    /// Gives out all pages that wait, or those of groups whose prior moved.
    pub fn take_stale(&mut self, is_stale: bool, site: &Site, pages: &Pages, out: &mut Vec<Entry>) {
        self.take_unless(|group| !is_stale && !site.has_prior_moved(group), pages, out);
    }

    /// Gives out the pages that wait and whose path group does not stay.
    pub fn take_unless(&mut self, stays: impl Fn(u8) -> bool, pages: &Pages, out: &mut Vec<Entry>) {
        let stays = |entry: &Entry| stays(pages.at(entry.page).group);
        self.cohorts.iter_mut().for_each(|cohort| cohort.drain_unless(stays, out));
        self.older.drain_unless(stays, out);
    }

    /// Gives out the pages whose time has come: to reach a level, or to have waited longest.
    pub fn take_due(&mut self, now: f64, longest_wait: f64, out: &mut Vec<Entry>) {
        let passed = self.snapshot.passed(now);
        for cohort in &mut self.cohorts {
            if !cohort.expiring && cohort.start() + longest_wait <= now {
                cohort.expiring = true;
                cohort.drain(out);
            }
            let time = cohort.time(passed) as f32;
            while cohort.first_key <= time {
                out.extend(cohort.pop());
            }
        }
        let hour = (self.snapshot.hour(now) - self.origin) as f32;
        while let Some(entry) = self.older.peek().filter(|entry| entry.key <= hour) {
            out.push(*entry);
            self.older.pop();
        }
    }

    /// Gives back memory that waiting pages do not need any more.
    pub fn shrink(&mut self) {
        self.older.shrink();
    }

    /// When the next page must be looked at; infinite if none. Entries of pages that were visited since are dropped on the
    /// way, so that the site is not looked at for them.
    pub fn next_due(&mut self, place: u32, pages: &Pages, longest_wait: f64, now: f64) -> f64 {
        let mut more = self.next_in_cohorts(place, pages);
        if let Some(first) = self.older.peek() {
            more = more.min(self.snapshot.passed_at(f64::from(first.key) + self.origin));
        }
        let first = self.cohorts.iter().find(|cohort| !cohort.expiring && !cohort.pages.is_empty());
        let expires = first.map_or(f64::INFINITY, |cohort| cohort.start() + longest_wait);
        self.instant_of(more).min(expires).max(now + AGAIN_DAYS_MIN)
    }

    /// The same for one cohort alone, or for the pages before all bins.
    pub fn next_due_in(&self, cohort: Option<usize>, longest_wait: f64, now: f64) -> f64 {
        let cohort = cohort.map(|index| &self.cohorts[index]);
        let more = match (cohort, self.older.peek()) {
            (Some(cohort), _) => f64::from(cohort.first_key) - cohort.time(0.0),
            (None, Some(first)) => self.snapshot.passed_at(f64::from(first.key) + self.origin),
            (None, None) => f64::INFINITY,
        };
        let expires = cohort.filter(|cohort| !cohort.expiring).map(|cohort| cohort.start() + longest_wait);
        self.instant_of(more).min(expires.unwrap_or(f64::INFINITY)).max(now + AGAIN_DAYS_MIN)
    }

    /// The cohort of a page that was last visited at this instant; `None` if there is none.
    pub fn cohort_of(&self, last: f64) -> Option<usize> {
        let index = self.cohorts.partition_point(|cohort| cohort.start() <= last).checked_sub(1)?;
        self.cohorts[index].covers(last).then_some(index)
    }

    /// The operational time since a last visit, by the snapshot; `None` where only the clock itself can tell.
    pub fn operational(&self, cohort: Option<usize>, last: f64, now: f64) -> Option<f64> {
        match cohort {
            Some(index) => Some(self.cohorts[index].operational(last, self.snapshot.passed(now)).max(0.0)),
            None if last < self.snapshot.edge => Some((self.snapshot.hour(now) - last).max(0.0)),
            None => None,
        }
    }

    /// Whether pages of a cohort may have waited longest, so that each must be looked at for it by itself.
    pub fn is_expiring(&self, cohort: Option<usize>) -> bool {
        cohort.is_none_or(|index| self.cohorts[index].expiring)
    }

    /// Lets a page wait until so much more operational time has passed; the key that it waits with. Its cohort is made by the
    /// reading if there is none.
    pub fn wait(
        &mut self,
        cohort: Option<usize>,
        number: u32,
        page: &Page,
        more: f64,
        now: f64,
        reading: Option<&Reading>,
    ) -> f32 {
        let last = page.last_day();
        let bin = || reading?.bin_of(last);
        let cohort = cohort.or_else(|| bin().map(|bin| insert(&mut self.cohorts, Cohort::of(&bin))));
        match cohort {
            Some(index) => {
                let cohort = &mut self.cohorts[index];
                let key = (cohort.time(self.snapshot.passed(now)) + more) as f32;
                cohort.push(Entry { key, page: number }, last);
                key
            }
            None => {
                let key = (self.snapshot.hour(now) - self.origin + more) as f32;
                self.older.push(Entry { key, page: number });
                key
            }
        }
    }

    /// A page leaves; entries in cohorts are left behind and void.
    pub fn drop_entry(&mut self, number: u32, page: &Page) {
        if self.cohort_of(page.last_day()).is_none() {
            self.older.remove(number);
        }
    }

    /// Eligible pages that wait below the threshold.
    pub fn below_threshold(&self, place: u32, pages: &Pages) -> impl Iterator<Item = u32> {
        let entries = self.cohorts.iter().flat_map(|cohort| cohort.pages.iter()).chain(self.older.iter());
        let below = entries.filter(move |entry| pages.waits(entry, place) && pages.at(entry.page).level() == 0);
        below.map(|entry| entry.page)
    }

    /// Eligible pages that follow no other.
    pub fn waiting(&self) -> u32 {
        self.eligible - self.unobserved.followers()
    }

    /// How much operational time has to pass since the snapshot until the first page of a cohort is due.
    fn next_in_cohorts(&mut self, place: u32, pages: &Pages) -> f64 {
        loop {
            let (mut more, mut first) = (f64::INFINITY, None);
            for cohort in &mut self.cohorts {
                let left = f64::from(cohort.first_key) - cohort.time(0.0);
                if left < more {
                    (more, first) = (left, Some(cohort));
                }
            }
            let Some(first) = first else { return more };
            if first.pages.peek().is_none_or(|entry| pages.waits(entry, place)) {
                return more;
            }
            first.pop();
        }
    }

    /// When so much operational time will have passed since the snapshot.
    fn instant_of(&self, more: f64) -> f64 {
        if more.is_finite() { self.snapshot.when(more) } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::by_value::page::State;
    use proptest::prelude::*;
    use vernal_model::{PageKey, Partition};

    const LONGEST: f64 = 90.0;

    fn pages(visits: &[u32]) -> Pages {
        let mut pages = Pages::default();
        for (number, &last) in (0u32..).zip(visits) {
            let page = pages.make(PageKey::new(Partition(0), number));
            (page.last, page.site) = (last, 1);
            page.enter(State::Eligible);
        }
        pages
    }

    fn wait(queue: &mut SiteQueue, pages: &mut Pages, number: u32, more: f64, now: f64) {
        let page = *pages.at(number);
        let key = queue.wait(None, number, &page, more, now, None);
        pages.at_mut(number).wait_with(key);
    }

    proptest! {
        /// Without a clock operational time is plain time.
        #[test]
        fn a_page_is_given_out_when_its_time_has_come(waits in prop::collection::vec(0.01f64..20.0, 1..40), step in 0.05f64..3.0) {
            let (mut pages, mut queue) = (pages(&vec![86_400; waits.len()]), SiteQueue::new(1, 0.0));
            for (number, &more) in (0u32..).zip(&waits) {
                wait(&mut queue, &mut pages, number, more, 2.0);
            }
            let (mut now, mut given) = (2.0, 0);
            while given < waits.len() {
                let next = queue.next_due(1, &pages, LONGEST, now);
                now += step;
                let mut out = Vec::new();
                queue.take_due(now, LONGEST, &mut out);
                for entry in &out {
                    let due = 2.0 + waits[entry.page as usize];
                    prop_assert!(due <= now + 1e-4 && due >= now - step - 1e-4);
                }
                prop_assert!(out.is_empty() || next <= now + 1e-4, "nobody would have looked before {next}");
                given += out.len();
            }
            prop_assert_eq!(queue.next_due(1, &pages, LONGEST, now), f64::INFINITY);
        }
    }

    #[test]
    fn who_left_does_not_wake_its_site() {
        let (mut pages, mut queue) = (pages(&[86_400; 2]), SiteQueue::new(1, 0.0));
        wait(&mut queue, &mut pages, 0, 1.0, 2.0);
        wait(&mut queue, &mut pages, 1, 5.0, 2.0);
        assert_eq!(queue.below_threshold(1, &pages).count(), 2);
        let page = *pages.at(0);
        queue.drop_entry(0, &page);
        pages.at_mut(0).enter(State::InFlight);
        assert!((queue.next_due(1, &pages, LONGEST, 2.0) - 7.0).abs() < 1e-5);
        assert_eq!(queue.below_threshold(1, &pages).collect::<Vec<u32>>(), [1]);
    }
}
