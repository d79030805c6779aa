//! Discovery pages: held pages that link to unknown pages, such as front pages and lists. Such a page changes so often
//! that a policy which maximises freshness alone abandons it, and with it all the pages that it would have led to. So a
//! share of the visits to held pages goes to discovery pages, each when it is expected to name one new page.

use std::collections::BTreeSet;

use foldhash::{HashMap, HashSet};
use vernal_model::{Moment, Page, PageKey, PageState, Span};

use crate::Result;
use crate::coordinator::LANE_SHARE_MIN;
use crate::core::Core;
use crate::intake::page_life::{VisitOwner, visit_owner};

/// Finds on a page are weighted less as they age, over about this time.
const MEMORY: Span = Span::from_days(30);
/// A page that is not expected to name a new page within this time is no discovery page.
const EXPECTED_WITHIN: Span = Span::from_days(30);
/// A seed is assumed to name one new page in this time, until its visits show the real rate.
const SEED_NAMES_ONE_IN: Span = Span::from_days(1);
/// After a restart, the finds of each page are unknown: a page compared at least this often that differed every time is
/// assumed to name one new page per visit.
const CHANGES_SUPPOSED: u32 = 2;
/// Discovery pages kept in memory; further ones are not noted.
const DISCOVERY_PAGES_MAX: usize = 100_000;
/// Due discovery pages examined for one visit: their sites may be busy.
const LOOKS_MAX: usize = 16;
/// A discovery page that was ordered and not read is due again after this.
const AGAIN_AFTER: Span = Span::from_hours(1);
/// Visits that may be saved up, so that a busy hour is not followed by a burst.
const SAVED_MAX: f64 = 8.0;

#[derive(Default)]
pub(crate) struct DiscoveryPages {
    /// Looked up only, never iterated: its order is random.
    pages: HashMap<PageKey, DiscoveryPage>,
    /// When each page is expected to name a new page.
    turns: BTreeSet<(Moment, PageKey)>,
    /// Pages that were read again and named URLs which have not passed the sieve.
    told: HashSet<PageKey>,
    /// Visits to discovery pages that may be made now.
    saved: f64,
}

/// The number of new pages that a page named, and over which time; both decay.
#[derive(Copy, Clone, Debug)]
struct DiscoveryPage {
    found: f64,
    days: f64,
    visited: Moment,
    turn: Moment,
}

impl DiscoveryPage {
    /// The expected time until the page names one new page.
    fn one_in(&self) -> Span {
        Span::from_secs_f64((self.days / self.found.max(f64::MIN_POSITIVE)).min(1e6) * 86_400.0)
    }
}

impl DiscoveryPages {
    /// Assumes that a page names one new page in this time.
    fn suppose(&mut self, page: PageKey, visited: Moment, one_in: Span) {
        if !self.pages.contains_key(&page) && self.pages.len() < DISCOVERY_PAGES_MAX {
            let days = one_in.secs_f64() / 86_400.0;
            self.pages.insert(page, DiscoveryPage { found: 1.0, days, visited, turn: visited });
            self.place(page);
        }
    }

    /// Notes that a page was read again, or confirmed unchanged.
    fn visited(&mut self, page: PageKey, now: Moment) {
        let Some(entry) = self.pages.get_mut(&page) else { return };
        let days = now.since(entry.visited).secs_f64() / 86_400.0;
        let fading = (-days * 86_400.0 / MEMORY.secs_f64()).exp();
        (entry.found, entry.days) = (entry.found * fading, entry.days * fading + days);
        entry.visited = now;
        self.place(page);
    }

    /// Notes that links of a page that was read again are on their way to the sieve.
    fn told(&mut self, page: PageKey, before: Moment, now: Moment) {
        self.told.insert(page);
        if !self.pages.contains_key(&page) && self.pages.len() < DISCOVERY_PAGES_MAX {
            let days = now.since(before).secs_f64() / 86_400.0;
            self.pages.insert(page, DiscoveryPage { found: 0.0, days, visited: now, turn: now });
            self.place(page);
        }
    }

    /// The sieve admitted a URL that was found on this page.
    pub fn led_to_one(&mut self, page: PageKey) {
        if !self.told.contains(&page) {
            return;
        }
        if let Some(entry) = self.pages.get_mut(&page) {
            entry.found += 1.0;
            self.place(page);
        }
    }

    /// All announced links have passed the sieve; pages that named nothing new are forgotten.
    pub fn all_sieved(&mut self) {
        for page in std::mem::take(&mut self.told) {
            if self.pages.get(&page).is_some_and(|entry| entry.one_in() > EXPECTED_WITHIN) {
                self.forget(page);
            }
        }
    }

    pub fn forget(&mut self, page: PageKey) {
        if let Some(entry) = self.pages.remove(&page) {
            self.turns.remove(&(entry.turn, page));
        }
    }

    /// Adds the share of a discovery visit that a visit to a held page allows.
    fn earn(&mut self) {
        self.saved = (self.saved + LANE_SHARE_MIN).min(SAVED_MAX);
    }

    /// Schedules a page for the time at which it is expected to name a new page.
    fn place(&mut self, page: PageKey) {
        let Some(entry) = self.pages.get_mut(&page) else { return };
        self.turns.remove(&(entry.turn, page));
        let one_in = entry.one_in();
        if one_in > EXPECTED_WITHIN && !self.told.contains(&page) {
            self.pages.remove(&page);
            return;
        }
        entry.turn = entry.visited + one_in;
        self.turns.insert((entry.turn, page));
    }

    /// Takes the first page that is due and may be visited.
    fn take(&mut self, now: Moment, may_ask: impl Fn(PageKey) -> bool) -> Option<PageKey> {
        if self.saved < 1.0 {
            return None;
        }
        let due = self.turns.range(..=(now, PageKey::new(vernal_model::Partition(u8::MAX), u32::MAX))).take(LOOKS_MAX);
        let (_, page) = due.copied().find(|&(_, page)| may_ask(page))?;
        self.saved -= 1.0;
        let entry = self.pages.get_mut(&page)?;
        self.turns.remove(&(entry.turn, page));
        entry.turn = now + AGAIN_AFTER;
        self.turns.insert((entry.turn, page));
        Some(page)
    }

    /// Puts back a page that was taken and cannot be visited yet, before those that were due after it.
    pub fn put_back(&mut self, page: PageKey) {
        self.saved = (self.saved + 1.0).min(SAVED_MAX);
        self.place(page);
    }

    /// The discovery page to visit now, if one is due.
    pub fn next_page(&mut self, core: &Core, now: Moment) -> Result<Option<Page>> {
        if core.settings.once {
            return Ok(None);
        }
        self.earn();
        let may_ask = |page: PageKey| !core.in_flight.has(page) && core.partitions.may_ask(page, now);
        let Some(key) = self.take(now, may_ask) else { return Ok(None) };
        match core.work.page(key)?.filter(|page| visit_owner(page) == VisitOwner::Policy) {
            Some(page) => Ok((now.since(page.last_visit) >= core.settings.refresh_min).then_some(page)),
            None => {
                self.forget(key);
                Ok(None)
            }
        }
    }

    /// Learns from a visit whether the page names new pages. A crawl that visits each page once needs no discovery
    /// pages.
    pub fn note_visit(&mut self, before: Option<&Page>, page: &Page, named_urls: bool, once: bool) {
        let now = page.last_visit;
        if page.last_confirmed != Some(now) || once {
            return;
        }
        match before.filter(|before| before.state == PageState::Held) {
            Some(before) => {
                self.visited(page.key, now);
                if named_urls {
                    self.told(page.key, before.last_visit, now);
                }
            }
            None if page.depth == 0 && named_urls => self.suppose(page.key, now, SEED_NAMES_ONE_IN),
            None => {}
        }
    }

    /// Restores a page after a restart.
    pub fn recall(&mut self, page: &Page, once: bool) {
        let differs_always = page.compared >= CHANGES_SUPPOSED && page.changes == page.compared;
        if differs_always && page.state == PageState::Held && !once {
            let between = page.last_visit.since(page.first_visit).scaled(1.0 / f64::from(page.visits.max(2) - 1));
            self.suppose(page.key, page.last_visit, between);
        }
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::Partition;

    use super::*;

    const DAY: Span = Span::from_days(1);

    fn page(number: u32) -> PageKey {
        PageKey::new(Partition(0), number)
    }

    fn day(number: f64) -> Moment {
        Moment::from_secs(0) + DAY.scaled(number)
    }

    /// A page that is visited whenever it is due, and names this many new pages on each day.
    fn visits(names_per_day: impl Fn(f64) -> f64, days: u32) -> Vec<f64> {
        let (mut pages, mut named, mut visits) = (DiscoveryPages::default(), 0.0, Vec::new());
        pages.suppose(page(1), day(0.0), SEED_NAMES_ONE_IN);
        for hour in 1..days * 24 {
            let now = f64::from(hour) / 24.0;
            named += names_per_day(now) / 24.0;
            pages.saved = SAVED_MAX;
            if pages.take(day(now), |_| true).is_some() {
                visits.push(now);
                pages.visited(page(1), day(now));
                if named >= 1.0 {
                    pages.told(page(1), day(now), day(now));
                    (0..named as u32).for_each(|_| pages.led_to_one(page(1)));
                    pages.all_sieved();
                    named = named.fract();
                }
            }
        }
        visits
    }

    #[test]
    fn a_discovery_page_is_visited_about_as_often_as_it_names_new_pages() {
        for names_per_day in [0.25, 1.0, 4.0] {
            let after = visits(|_| names_per_day, 120).into_iter().filter(|&day| day > 60.0).count() as f64;
            let wanted = names_per_day * 60.0;
            assert!((wanted * 0.6..wanted * 1.6).contains(&after), "{names_per_day} a day: {after} visits");
        }
    }

    #[test]
    fn a_discovery_page_that_could_not_be_asked_for_is_the_next_again() {
        let mut pages = DiscoveryPages { saved: 1.0, ..DiscoveryPages::default() };
        pages.suppose(page(1), day(0.0), DAY);
        pages.suppose(page(2), day(0.5), DAY);
        for _ in 0..3 {
            assert_eq!(pages.take(day(2.0), |_| true), Some(page(1)));
            pages.put_back(page(1));
        }
        assert_eq!(pages.take(day(2.0), |page| page.number != 1), Some(page(2)), "while its site waits others may go");
        assert_eq!(pages.take(day(2.0), |_| true), None, "one visit was saved up");
    }

    #[test]
    fn a_page_that_leads_nowhere_is_soon_left_to_the_policy() {
        let seen = visits(|_| 0.0, 200);
        assert!((3..9).contains(&seen.len()), "{seen:?}");
        assert!(seen.last().is_some_and(|&last| last < 70.0), "{seen:?}");
    }

    #[test]
    fn urls_of_a_first_visit_make_no_discovery_page() {
        let mut pages = DiscoveryPages::default();
        pages.led_to_one(page(1));
        assert!(pages.pages.is_empty() && pages.turns.is_empty());
        pages.told(page(1), day(0.0), day(10.0));
        pages.all_sieved();
        assert!(pages.pages.is_empty() && pages.turns.is_empty(), "known URLs neither");
    }

    #[test]
    fn discovery_pages_get_their_share_of_the_visits_and_no_more() {
        let mut pages = DiscoveryPages::default();
        (0..500).for_each(|number| pages.suppose(page(number), day(0.0), SEED_NAMES_ONE_IN));
        let mut taken = 0;
        for visit in 0..1_000 {
            pages.earn();
            taken += u32::from(pages.take(day(2.0) + Span::from_secs(visit), |_| true).is_some());
        }
        assert!((95..=100).contains(&taken), "{taken}");
    }
}
