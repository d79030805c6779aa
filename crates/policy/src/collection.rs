//! Which pages a collection of bounded size holds: the least important make room for more important ones that are known
//! and not held (All_Urls and Coll_Urls of Sharma and Dixit's architecture, after Cho and Garcia-Molina 2000).
//!
//! The collection must not oscillate: a newcomer must be better by a margin, only a part of the collection changes in
//! one pass, and a page that left may not return for a while.

use vernal_model::{PageKey, Span};

/// A newcomer must be better by this factor than the page that makes room for it.
pub const MARGIN: f32 = 1.25;
/// The share of the collection that may change in one pass, and the smallest number of pages that may.
pub const SWAPS_SHARE: f64 = 0.1;
pub const SWAPS_MIN: usize = 16;
/// A page that left may not return before this has passed.
pub const RETURN_AFTER: Span = Span::from_days(7);
/// The history of a page that left is kept this long; a page that returns later starts without history.
pub const HISTORY_KEPT: Span = Span::from_days(90);

/// A page or an unread URL with its importance.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Weighted {
    pub page: PageKey,
    pub importance: f32,
}

/// A page that leaves, and the page that replaces it.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Swap {
    pub leaves: Weighted,
    pub comes: Weighted,
}

/// How many pages may leave in one pass.
pub fn swaps_max(pages_max: u64) -> usize {
    SWAPS_MIN.max((pages_max as f64 * SWAPS_SHARE) as usize)
}

/// Whether a URL of this importance may replace a page of that importance.
pub fn is_better(comes: f32, leaves: f32) -> bool {
    comes >= leaves * MARGIN
}

/// The swaps that improve the collection most: the best newcomers for the least important pages. `held` is sorted with
/// the least important first, `known` with the most important first. The newcomers first fill the free `room`.
pub fn swaps(held: &[Weighted], known: &[Weighted], room: usize, swaps_max: usize) -> Vec<Swap> {
    let pairs = held.iter().zip(known.iter().skip(room)).take(swaps_max);
    let better = pairs.take_while(|(leaves, comes)| is_better(comes.importance, leaves.importance));
    better.map(|(&leaves, &comes)| Swap { leaves, comes }).collect()
}

#[cfg(test)]
mod tests {
    use vernal_model::Partition;

    use super::*;

    fn weighted(importances: &[f32], from: u32) -> Vec<Weighted> {
        let page = |number: usize| PageKey::new(Partition(0), from + number as u32);
        importances.iter().enumerate().map(|(at, &importance)| Weighted { page: page(at), importance }).collect()
    }

    #[test]
    fn the_best_known_take_the_place_of_the_least_held_until_the_margin_is_reached() {
        let (held, known) = (weighted(&[0.1, 0.2, 1.0, 5.0], 0), weighted(&[9.0, 2.0, 1.2, 0.9], 100));
        let pairs: Vec<(u32, u32)> =
            swaps(&held, &known, 0, 10).iter().map(|swap| (swap.leaves.page.number, swap.comes.page.number)).collect();
        assert_eq!(pairs, [(0, 100), (1, 101)], "1.2 is not better than 1.0 by the margin");
        assert_eq!(swaps(&held, &known, 0, 1).len(), 1);
        assert_eq!(swaps(&held, &known, 2, 10)[0].comes.page.number, 102, "two of the best have room already");
    }

    #[test]
    fn after_the_swaps_a_second_pass_has_nothing_left_to_do() {
        let (mut held, mut known) = (weighted(&[0.1, 0.2, 1.0, 5.0], 0), weighted(&[9.0, 2.0, 1.2, 0.9], 100));
        for swap in swaps(&held, &known, 0, 10) {
            held.retain(|page| *page != swap.leaves);
            known.retain(|page| *page != swap.comes);
            held.push(swap.comes);
            known.push(swap.leaves);
        }
        held.sort_by(|a, b| a.importance.total_cmp(&b.importance));
        known.sort_by(|a, b| b.importance.total_cmp(&a.importance));
        assert_eq!(swaps(&held, &known, 0, 10), []);
    }
}
