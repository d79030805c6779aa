//! Pages that were visited too short a time ago, in the order of their visits.

use std::collections::VecDeque;

/// Visits are heard of nearly in the order of time, so that a page goes to the end, or near it. Those of one second stand in
/// the order in which they were heard of: whole batches are visited in the same second of a laboratory, and to sort them
/// here would move half of the batch for each. Who leaves before its time leaves its entry behind; whoever reads it must
/// ask the page whether it still stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Resting {
    /// Last visit and number of the page, in the order of visits.
    pages: VecDeque<(u32, u32)>,
}

impl Resting {
    pub fn insert(&mut self, last: u32, number: u32) {
        if self.pages.back().is_none_or(|&(back, _)| back <= last) {
            return self.pages.push_back((last, number));
        }
        let index = self.pages.partition_point(|&(before, _)| before <= last);
        self.pages.insert(index, (last, number));
    }

    /// The page that was visited first, if that was so long ago as `has_rested` says.
    pub fn pop_if(&mut self, has_rested: impl Fn(u32) -> bool) -> Option<(u32, u32)> {
        self.pages.pop_front_if(|&mut (last, _)| has_rested(last))
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.pages.iter().copied()
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
            for &(last, number) in &visits {
                resting.insert(last, number);
            }
            let mut sorted = visits;
            sorted.sort_by_key(|&(last, _)| last);
            prop_assert_eq!(resting.iter().collect::<Vec<_>>(), sorted.clone());
            let early: Vec<_> = std::iter::from_fn(|| resting.pop_if(|last| last < 25)).collect();
            sorted.retain(|&(last, _)| last < 25);
            prop_assert_eq!(early, sorted);
        }
    }
}
