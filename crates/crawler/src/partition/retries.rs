//! Pages that are not with the policy, by the Moment at which they are retried.

use std::collections::{BTreeMap, BTreeSet};

use vernal_model::{Moment, Outcome, Page, PageKey, Span};

use crate::coordinator::Lane;
use crate::intake::page_life::{VisitOwner, visit_owner};

/// Due retries examined in one call to find one whose site is free.
const LOOKS_MAX: usize = 256;
/// The wait before a page is tried again whose site has no known Moment at which it is free.
const LOOK_AGAIN: Span = Span::from_secs(60);

#[derive(Default)]
pub(crate) struct Retries {
    /// Pages that were never read or whose body is lost, which discovery pays for, and held pages, which refreshing pays for.
    new: BTreeSet<(Moment, PageKey)>,
    held: BTreeSet<(Moment, PageKey)>,
    /// Retries so soon that a crawl does not end before them, and the lane that pays.
    quick: BTreeMap<PageKey, Lane>,
}

impl Retries {
    /// Schedules a page by its row; a page that is with the policy is left alone.
    pub(crate) fn place(&mut self, page: &Page) {
        if let VisitOwner::Retry { at, quick } = visit_owner(page) {
            self.insert(page, at, quick);
        }
    }

    /// Makes a page due now, whatever its row says: it was taken out and could not be visited after all, or an earlier
    /// process refused what may be allowed now.
    pub(crate) fn place_now(&mut self, page: &Page, now: Moment) {
        let quick = matches!(page.last_outcome, Outcome::Refused(_));
        self.place_at_once(page, now, quick);
    }

    /// Makes a page due now, because something else has shown that its row is wrong. A crawl does not end before.
    pub(crate) fn place_again(&mut self, page: &Page, now: Moment) {
        self.place_at_once(page, now, true);
    }

    fn place_at_once(&mut self, page: &Page, now: Moment, keeps_from_end: bool) {
        if let VisitOwner::Retry { at, quick } = visit_owner(page) {
            self.list(lane_of(page)).remove(&(at, page.key));
            self.insert(page, at.min(now), quick || keeps_from_end);
        }
    }

    /// Takes out the first page of a lane that is due and whose site is free. `free` returns when a page's site may be
    /// asked. Pages of busy sites are rescheduled to that Moment, so that they do not block others.
    pub(crate) fn take(&mut self, lane: Lane, now: Moment, free: impl Fn(PageKey) -> Moment) -> Option<PageKey> {
        for _ in 0..LOOKS_MAX {
            let list = self.list(lane);
            let first = list.first().copied().filter(|&(at, _)| at <= now)?;
            list.remove(&first);
            let page = first.1;
            let free = free(page);
            if free <= now {
                self.quick.remove(&page);
                return Some(page);
            }
            let later = if free == Moment::NEVER { now + LOOK_AGAIN } else { free };
            self.list(lane).insert((later, page));
        }
        None
    }

    /// Lets go of a page that was erased, wherever it stands.
    pub(crate) fn forget(&mut self, page: &Page) {
        self.quick.remove(&page.key);
        if let VisitOwner::Retry { .. } = visit_owner(page) {
            self.new.retain(|(_, key)| *key != page.key);
            self.held.retain(|(_, key)| *key != page.key);
        }
    }

    pub(crate) fn first(&self) -> Option<Moment> {
        [self.new.first(), self.held.first()].into_iter().flatten().map(|&(at, _)| at).min()
    }

    /// Whether some page of a lane is due, whether or not its site is free.
    pub(crate) fn is_due(&self, lane: Lane, now: Moment) -> bool {
        let list = match lane {
            Lane::New => &self.new,
            Lane::Due => &self.held,
        };
        list.first().is_some_and(|&(at, _)| at <= now)
    }

    /// Held pages whose last visit failed.
    pub(crate) fn held(&self) -> impl Iterator<Item = PageKey> {
        self.held.iter().map(|&(_, page)| page)
    }

    pub(crate) fn len(&self) -> usize {
        self.new.len() + self.held.len()
    }

    pub(crate) fn quick(&self, lane: Lane) -> impl Iterator<Item = PageKey> {
        self.quick.iter().filter(move |&(_, &paid_by)| paid_by == lane).map(|(&page, _)| page)
    }

    fn insert(&mut self, page: &Page, at: Moment, quick: bool) {
        let lane = lane_of(page);
        self.list(lane).insert((at, page.key));
        if quick {
            self.quick.insert(page.key, lane);
        }
    }

    fn list(&mut self, lane: Lane) -> &mut BTreeSet<(Moment, PageKey)> {
        match lane {
            Lane::New => &mut self.new,
            Lane::Due => &mut self.held,
        }
    }
}

/// A page whose body is lost is read as if for the first time: no budget for refreshing has to pay for it.
fn lane_of(page: &Page) -> Lane {
    if page.version.is_none_or(|version| version.is_lost()) { Lane::New } else { Lane::Due }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use vernal_model::Partition;

    use super::*;
    use crate::testing::{START, after, failed, held};

    #[test]
    fn a_site_that_is_not_free_holds_nobody_else_back() {
        let now = Moment::from_secs(1_000);
        let page = |number| PageKey::new(Partition(0), number);
        let mut retries = Retries::default();
        retries.new.extend((0..1_000).map(|number| (Moment::from_secs(1), page(number))));
        retries.new.insert((Moment::from_secs(2), page(5_000)));
        let free = |page: PageKey| if page.number == 5_000 { now } else { Moment::NEVER };
        let taken = (0..8).find_map(|_| retries.take(Lane::New, now, free));
        assert_eq!(taken, Some(page(5_000)));
        assert_eq!(retries.len(), 1_000, "the others wait on");
        assert_eq!(retries.first(), Some(now + LOOK_AGAIN));
    }

    proptest! {
        #[test]
        fn every_retry_comes_once_at_its_time_or_when_its_site_is_free(
            times in prop::collection::vec((0u64..100, 0u64..150), 1..30),
        ) {
            let mut retries = Retries::default();
            let mut wanted = BTreeMap::new();
            for (number, &(at, free)) in times.iter().enumerate() {
                let page = failed("http://a.example/", number as u32, after(at));
                retries.place(&page);
                wanted.insert(page.key, (after(at), after(free)));
            }
            for second in 0..300 {
                let now = after(second);
                while let Some(key) = retries.take(Lane::New, now, |key| wanted[&key].1) {
                    let (at, free) = wanted.remove(&key).expect("it comes once");
                    prop_assert!(at <= now && free <= now);
                    prop_assert_eq!(now, at.max(free), "and no later than it may");
                }
                prop_assert_eq!(retries.len(), wanted.len());
            }
            prop_assert!(wanted.is_empty() && retries.first().is_none());
        }
    }

    #[test]
    fn pages_that_were_held_are_paid_for_by_refreshing_and_others_by_discovery() {
        let mut retries = Retries::default();
        retries.place(&failed("http://a.example/1", 1, START));
        let missing = Page { misses: 1, failures: 0, not_before: after(5), ..held("http://a.example/2", 2) };
        retries.place(&missing);
        retries.place(&held("http://a.example/3", 3));
        assert_eq!(retries.len(), 2, "a page that is well is with the policy");
        assert!(retries.is_due(Lane::New, START) && !retries.is_due(Lane::Due, START));
        assert!(retries.is_due(Lane::Due, after(5)));
        assert_eq!(retries.held().collect::<Vec<_>>(), [missing.key]);
        assert_eq!(retries.quick(Lane::New).count(), 1);
        assert_eq!(retries.quick(Lane::Due).count(), 0, "a miss is no failure that goes away soon");
    }

    #[test]
    fn a_page_that_could_not_be_asked_for_is_due_at_once_and_once() {
        let mut retries = Retries::default();
        let page = failed("http://a.example/1", 1, after(50));
        retries.place(&page);
        retries.place_now(&page, START);
        assert_eq!(retries.len(), 1);
        assert_eq!(retries.take(Lane::New, START, |_| START), Some(page.key));
        assert_eq!((retries.len(), retries.quick(Lane::New).count()), (0, 0));
    }
}
