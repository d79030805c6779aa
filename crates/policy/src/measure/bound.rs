//! Upper bounds that no policy can exceed, to compare the measured freshness with.
//!
//! - With known rates and changes that are independent: the optimum of Cho and Garcia-Molina, for a window without end
//!   and, certified, for one of finite length.
//! - On a recorded history: the schedule of a policy that knows the future.

use crate::schedule::allocation::{Allocation, Wanted, missed_inverse};

/// F*: the best mean freshness, weighted by importance, that `per_day` visits a day can keep in the long run.
pub fn freshness_bound(pages: &[Wanted], per_day: f64) -> f64 {
    let importance: f64 = pages.iter().map(|page| page.importance).sum();
    if importance <= 0.0 {
        return 1.0;
    }
    let price = Allocation::Optimal.price(pages, per_day);
    let fresh = |page: &Wanted| {
        let visits = Allocation::Optimal.visits(*page, price);
        let share = match () {
            () if page.rate <= 0.0 => 1.0,
            () if visits <= 0.0 => 0.0,
            () => visits / page.rate * -(-page.rate / visits).exp_m1(),
        };
        page.importance * share
    };
    pages.iter().map(fresh).sum::<f64>() / importance
}

/// The certified bound for a window of so many days that begins fresh: n visits make at most n + 1 intervals.
pub fn freshness_bound_of_window(pages: &[Wanted], per_day: f64, days: f64) -> f64 {
    freshness_bound(pages, per_day + pages.len() as f64 / days)
}

/// CR* = 1 − exp(−ΣΔ/R): the best change ratio, reached by visits in proportion to the rates.
pub fn change_ratio_bound(rates: impl Iterator<Item = f64>, per_day: f64) -> f64 {
    -(-rates.sum::<f64>() / per_day).exp_m1()
}

/// The bound with each visit weighted by importance: Σ w·f·(1 − e^(−Δ/f)) / Σ w·f over the visits that maximise the
/// sum. At the optimum w·h(x) is the same for all pages that are visited, x = Δ/f.
pub fn weighted_change_ratio_bound(pages: &[Wanted], per_day: f64) -> f64 {
    let visits = |page: &Wanted, price: f64| match price < page.importance && page.rate > 0.0 {
        true => page.rate / missed_inverse(price / page.importance),
        false => 0.0,
    };
    let highest = pages.iter().map(|page| page.importance).fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, highest);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        let spent: f64 = pages.iter().map(|page| visits(page, middle)).sum();
        if spent > per_day { low = middle } else { high = middle }
    }
    let (mut changed, mut all) = (0.0, 0.0);
    for page in pages {
        let visits = visits(page, high);
        if visits > 0.0 {
            changed += page.importance * visits * -(-page.rate / visits).exp_m1();
            all += page.importance * visits;
        }
    }
    if all > 0.0 { changed / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn five() -> Vec<Wanted> {
        (1..=5).map(|rate| Wanted { rate: f64::from(rate), importance: 1.0 }).collect()
    }

    #[test]
    fn the_bounds_are_those_in_print() {
        assert!((freshness_bound(&five(), 5.0) - 0.37389).abs() < 1e-5);
        assert!((freshness_bound_of_window(&five(), 4.0, 5.0) - 0.37389).abs() < 1e-5);
        let ratio = change_ratio_bound(five().iter().map(|page| page.rate), 5.0);
        assert!((ratio - (1.0 - (-3.0f64).exp())).abs() < 1e-12);
        assert!((weighted_change_ratio_bound(&five(), 5.0) - ratio).abs() < 1e-6);
    }
}
