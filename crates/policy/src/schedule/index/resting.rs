//! Pages that were visited too short a time ago, in the order of their visits.

use std::collections::VecDeque;

/// Visits are heard of nearly in the order of time, so that a page goes to the end, or near it. Those of one second stand in
/// the order in which they were heard of: whole batches are visited in the same second of a laboratory, and to sort them
/// here would move half of the batch for each. Who leaves before its time leaves its entry behind; whoever reads it must
/// ask the page whether it still stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Resting {
    /// In the order of visits.
    pages: VecDeque<Rest>,
}

/// A page that rests. Its site is told beside it, so that pages are put in the order of their sites without a look at them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Rest {
    pub site: u32,
    /// The last visit.
    pub last: u32,
    pub number: u32,
}

impl Rest {
    /// By their sites, and there by their visits; as one number, for many are put in order.
    pub fn turn(&self) -> u128 {
        u128::from(self.site) << 64 | u128::from(self.last) << 32 | u128::from(self.number)
    }
}

impl Resting {
    pub fn insert(&mut self, rest: Rest) {
        if self.pages.back().is_none_or(|back| back.last <= rest.last) {
            return self.pages.push_back(rest);
        }
        let index = self.pages.partition_point(|before| before.last <= rest.last);
        self.pages.insert(index, rest);
    }

    /// Takes out the pages that were visited first, those whose visits were so long ago as `have_rested` says.
    pub fn take_while(&mut self, have_rested: impl Fn(u32) -> bool) -> Vec<Rest> {
        let rested = self.pages.partition_point(|rest| have_rested(rest.last));
        self.pages.drain(..rested).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Rest> {
        self.pages.iter()
    }

    /// Pages went to other sites.
    pub fn move_to(&mut self, site_of: impl Fn(u32) -> u32) {
        self.pages.iter_mut().for_each(|rest| rest.site = site_of(rest.number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pages_come_out_in_the_order_of_their_visits(visits in prop::collection::vec((0u32..50, 0u32..9), 0..60)) {
            let mut resting = Resting::default();
            let rest = |&(last, number): &(u32, u32)| Rest { site: number % 2, last, number };
            let mut sorted: Vec<Rest> = visits.iter().map(rest).collect();
            sorted.iter().for_each(|&rest| resting.insert(rest));
            sorted.sort_by_key(|rest| rest.last);
            prop_assert!(resting.iter().eq(&sorted));
            let early = resting.take_while(|last| last < 25);
            sorted.retain(|rest| rest.last < 25);
            prop_assert_eq!(early, sorted);
        }
    }
}
