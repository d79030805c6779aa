//! Pages that were visited too short a time ago, in the order of their visits; and pages that were recalled and not looked at
//! since, which may have cooled down or not.

use std::collections::VecDeque;

use vernal_model::{Moment, Span};

use crate::schedule::by_value::page::State;
use crate::schedule::by_value::pages::Pages;
use crate::schedule::by_value::time::cooled_down_at;

/// Visits are heard of nearly in the order of time, so that a page goes to the end of the row, or near it. Visits of one second
/// stay in the order in which they were heard of: whole batches are visited in the same second of a laboratory, and to sort
/// them here would move half of the batch for each. A page that leaves early leaves its entry behind; entries are checked
/// against the page when they are read.
#[derive(Clone, Debug, Default)]
pub struct CoolingDown {
    visited: VecDeque<Visited>,
    recalled: Vec<u32>,
}

/// A page by its last visit. The site is kept beside it, so that pages are sorted by site without a look at them.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Visited {
    pub site: u32,
    pub last: u32,
    pub number: u32,
}

impl Visited {
    pub fn of(pages: &Pages, number: u32) -> Self {
        let page = pages.at(number);
        Visited { site: page.site, last: page.last, number }
    }

    /// Whether the page still waits for this: it was neither chosen, visited nor moved to another site since.
    pub fn stands(&self, pages: &Pages) -> bool {
        let page = pages.at(self.number);
        matches!(page.state(), State::CoolingDown | State::Recalled) && (page.last, page.site) == (self.last, self.site)
    }
}

impl CoolingDown {
    /// A page was visited, or could not be visited now.
    pub fn insert(&mut self, pages: &mut Pages, number: u32) {
        pages.at_mut(number).enter(State::CoolingDown);
        self.push(Visited::of(pages, number));
    }

    pub fn recall(&mut self, pages: &mut Pages, number: u32) {
        pages.at_mut(number).enter(State::Recalled);
        self.recalled.push(number);
    }

    /// Takes out the pages that have cooled down by now, by site and visit. Entries of some may not stand any more.
    pub fn take_cooled(&mut self, refresh_min: Span, now: Moment) -> Vec<Visited> {
        let cooled = self.visited.partition_point(|visited| cooled_down_at(visited.last, refresh_min) <= now);
        in_order(self.visited.drain(..cooled).collect())
    }

    /// Takes out the recalled pages that have cooled down by now, by site and visit; the others cool down with the rest.
    pub fn take_recalled(&mut self, pages: &mut Pages, refresh_min: Span, now: Moment) -> Vec<Visited> {
        let mut cooled = Vec::new();
        for number in std::mem::take(&mut self.recalled) {
            // It may have been visited or forgotten since, or recalled twice.
            if pages.at(number).state() != State::Recalled {
                continue;
            }
            let visited = Visited::of(pages, number);
            match cooled_down_at(visited.last, refresh_min) > now {
                true => self.insert(pages, number),
                false => cooled.push(visited),
            }
        }
        in_order(cooled)
    }

    /// Pages that cool down, by their last visit.
    pub fn cooling(&self, pages: &Pages) -> impl Iterator<Item = Visited> {
        let stands = |visited: &&Visited| {
            let page = pages.at(visited.number);
            page.state() == State::CoolingDown && page.last == visited.last
        };
        self.visited.iter().filter(stands).copied()
    }

    /// Pages that were recalled and not looked at since, in no order.
    pub fn recalled(&self, pages: &Pages) -> impl Iterator<Item = Visited> {
        let recalled = self.recalled.iter().filter(|&&number| pages.at(number).state() == State::Recalled);
        recalled.map(|&number| Visited::of(pages, number))
    }

    /// Pages went to other sites.
    pub fn update_sites(&mut self, pages: &Pages) {
        self.visited.iter_mut().for_each(|visited| visited.site = pages.at(visited.number).site);
    }

    fn push(&mut self, visited: Visited) {
        if self.visited.back().is_none_or(|back| back.last <= visited.last) {
            return self.visited.push_back(visited);
        }
        let index = self.visited.partition_point(|before| before.last <= visited.last);
        self.visited.insert(index, visited);
    }
}

fn in_order(mut visited: Vec<Visited>) -> Vec<Visited> {
    // Many were drawn and heard of in the order of their sites: the sort joins rows that are in order already.
    visited.sort();
    visited.dedup();
    visited
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use vernal_model::{PageKey, Partition};

    fn pages(visits: &[u32]) -> Pages {
        let mut pages = Pages::default();
        for (number, &last) in (0u32..).zip(visits) {
            let page = pages.make(PageKey::new(Partition(0), number));
            (page.last, page.site) = (last, 1 + number % 2);
        }
        pages
    }

    proptest! {
        #[test]
        fn pages_leave_when_they_have_cooled_down_and_not_before(
            visits in prop::collection::vec(0u32..50, 0..60),
            is_recalled in any::<bool>(),
            (refresh_min, now) in (1u64..20, 0i64..80),
        ) {
            let (mut pages, mut cooling) = (pages(&visits), CoolingDown::default());
            let (refresh_min, now) = (Span::from_secs(refresh_min), Moment::from_secs(now));
            for number in 0..visits.len() as u32 {
                match is_recalled {
                    true => cooling.recall(&mut pages, number),
                    false => cooling.insert(&mut pages, number),
                }
            }
            let early = match is_recalled {
                true => cooling.take_recalled(&mut pages, refresh_min, now),
                false => cooling.take_cooled(refresh_min, now),
            };
            let has_cooled = |last: u32| Moment::from_secs(last.into()) + refresh_min <= now;
            prop_assert!(early.is_sorted() && early.iter().all(|visited| has_cooled(visited.last)));
            prop_assert_eq!(early.len(), visits.iter().filter(|&&last| has_cooled(last)).count());
            let left: Vec<u32> = cooling.cooling(&pages).map(|visited| visited.last).filter(|&last| !has_cooled(last)).collect();
            prop_assert!(left.is_sorted());
            prop_assert_eq!(left.len(), visits.len() - early.len());
        }
    }

    #[test]
    fn an_entry_is_void_once_its_page_was_visited_chosen_or_moved() {
        let (mut pages, mut cooling) = (pages(&[10, 11, 12, 13]), CoolingDown::default());
        (0..4).for_each(|number| cooling.insert(&mut pages, number));
        pages.at_mut(0).last = 20;
        pages.at_mut(1).enter(State::InFlight);
        pages.at_mut(2).site = 9;
        let cooled = cooling.take_cooled(Span::from_secs(1), Moment::from_secs(40));
        let standing: Vec<u32> = cooled.iter().filter(|one| one.stands(&pages)).map(|one| one.number).collect();
        assert_eq!(standing, [3]);
    }
}
