//! How a budget of visits is split over pages whose rates are known: three optima in closed form, each a rate of visits
//! for a page at a price, and the price at which they spend the budget.
//!
//! - Optimal (Cho and Garcia-Molina): even intervals, freshness; h(x) = θΔ/w with h(x) = 1 − e^(−x)(1 + x), f = Δ/x.
//! - Random optimal (Azar and others): visits at random instants; p = (√(wΔ/θ) − Δ)₊.
//! - Lambda (Kolobov and others): random instants, harmonic freshness; ρ = (−Δ + √(Δ² + 4wΔ/θ))/2.

/// Steps of halving in which a price is found, in logarithms over [`PRICE_RANGE`].
const STEPS: u32 = 100;
const PRICE_RANGE: (f64, f64) = (1e-18, 1e18);

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Allocation {
    Optimal,
    RandomOptimal,
    Lambda,
}

/// A page as an allocation sees it.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Wanted {
    pub rate: f64,
    pub importance: f64,
}

impl Allocation {
    /// Visits per day to a page at this price.
    pub fn visits(self, page: Wanted, price: f64) -> f64 {
        let Wanted { rate, importance } = page;
        if rate <= 0.0 || importance <= 0.0 {
            return 0.0;
        }
        match self {
            Allocation::Optimal if price * rate >= importance => 0.0,
            Allocation::Optimal => rate / missed_inverse(price * rate / importance),
            Allocation::RandomOptimal => ((importance * rate / price).sqrt() - rate).max(0.0),
            // The same as (−Δ + √(Δ² + 4wΔ/θ))/2, without its cancellation.
            Allocation::Lambda => {
                let spread = 4.0 * importance / (price * rate);
                rate * spread / (2.0 * (1.0 + (1.0 + spread).sqrt()))
            }
        }
    }

    /// The price at which these pages take `per_day` visits together.
    pub fn price(self, pages: &[Wanted], per_day: f64) -> f64 {
        self.price_between(pages, per_day, PRICE_RANGE)
    }

    /// The same, when the price is known to lie within bounds; what lies outside comes out as the nearer bound.
    pub fn price_between(self, pages: &[Wanted], per_day: f64, (low, high): (f64, f64)) -> f64 {
        let (mut low, mut high) = (low.ln(), high.ln());
        for _ in 0..STEPS {
            if high - low < 1e-12 {
                break;
            }
            let middle = (low + high) / 2.0;
            let spent: f64 = pages.iter().map(|&page| self.visits(page, middle.exp())).sum();
            if spent > per_day { low = middle } else { high = middle }
        }
        high.exp()
    }
}

/// Visits per day to each page, when the pages of some sites together may not take more than the site allows. A site
/// that is held back has its own, higher price; the others share what is left. `caps` gives each site's visits per day,
/// by the site number beside each page.
pub fn polite(allocation: Allocation, pages: &[(Wanted, u32)], caps: &[f64], per_day: f64) -> Vec<f64> {
    let mut visits = vec![0.0; pages.len()];
    let mut free: Vec<usize> = (0..pages.len()).collect();
    let mut left = per_day;
    loop {
        let wanted: Vec<Wanted> = free.iter().map(|&index| pages[index].0).collect();
        let price = allocation.price(&wanted, left);
        let mut per_site = vec![0.0; caps.len()];
        for &index in &free {
            visits[index] = allocation.visits(pages[index].0, price);
            per_site[pages[index].1 as usize] += visits[index];
        }
        let over: Vec<usize> = (0..caps.len()).filter(|&site| per_site[site] > caps[site] * (1.0 + 1e-9)).collect();
        if over.is_empty() {
            return visits;
        }
        for site in over {
            let own: Vec<usize> = free.iter().copied().filter(|&index| pages[index].1 as usize == site).collect();
            let wanted: Vec<Wanted> = own.iter().map(|&index| pages[index].0).collect();
            let price = allocation.price(&wanted, caps[site]);
            own.iter().for_each(|&index| visits[index] = allocation.visits(pages[index].0, price));
            free.retain(|&index| pages[index].1 as usize != site);
            left -= caps[site];
        }
        left = left.max(0.0);
    }
}

/// h(x) = 1 − e^(−x)(1 + x): the part of the largest value that x = rate · time has reached.
pub fn missed(x: f64) -> f64 {
    if x < 1e-3 { x * x / 2.0 - x * x * x / 3.0 } else { -(-x).exp_m1() - x * (-x).exp() }
}

/// The x at which h(x) = `y`, for y in 0..1.
pub fn missed_inverse(y: f64) -> f64 {
    if y <= 0.0 {
        return 0.0;
    }
    if y >= 1.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while missed(high) < y {
        (low, high) = (high, high * 2.0);
        if high > 1e4 {
            return high;
        }
    }
    // Newton's steps, held within the bounds: h' = x·e^(−x).
    let mut x = (2.0 * y).sqrt().clamp(low, high);
    for _ in 0..60 {
        let off = missed(x) - y;
        if off > 0.0 {
            high = x
        } else {
            low = x
        }
        let next = x - off / (x * (-x).exp()).max(1e-300);
        let next = if next > low && next < high { next } else { (low + high) / 2.0 };
        if (next - x).abs() <= 1e-13 * next {
            return next;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn five() -> Vec<Wanted> {
        (1..=5).map(|rate| Wanted { rate: f64::from(rate), importance: 1.0 }).collect()
    }

    fn split(allocation: Allocation) -> Vec<f64> {
        let price = allocation.price(&five(), 5.0);
        five().iter().map(|&page| allocation.visits(page, price)).collect()
    }

    fn close(values: &[f64], expected: &[f64], within: f64) {
        let all = values.iter().zip(expected).all(|(value, expected)| (value - expected).abs() < within);
        assert!(all, "{values:?} are not {expected:?}");
    }

    #[test]
    fn five_pages_get_what_cho_and_garcia_molina_print() {
        let visits = split(Allocation::Optimal);
        close(&visits, &[1.1499, 1.3584, 1.3538, 1.1379, 0.0], 1e-4);
        let fresh =
            |(rate, visits): (f64, &f64)| if *visits > 0.0 { visits / rate * -(-rate / visits).exp_m1() } else { 0.0 };
        let mean = |visits: &[f64]| (1..=5).map(f64::from).zip(visits).map(fresh).sum::<f64>() / 5.0;
        close(&[mean(&visits), mean(&[1.0; 5])], &[0.37389, 0.36505], 1e-5);
        close(&[mean(&[1.0, 2.0, 3.0, 4.0, 5.0].map(|rate| rate / 3.0))], &[0.31674], 1e-5);
    }

    #[test]
    fn five_pages_get_what_azar_and_kolobov_print() {
        close(&split(Allocation::RandomOptimal), &[1.386, 1.3743, 1.1326, 0.7719, 0.3352], 1e-4);
        close(&split(Allocation::Lambda), &[0.7829, 0.9472, 1.0372, 1.0956, 1.1371], 1e-4);
        assert!((Allocation::Lambda.price(&five(), 5.0) - 0.71646).abs() < 1e-5);
    }

    #[test]
    fn a_capped_site_pays_its_own_price_and_the_rest_share_what_is_left() {
        let pages: Vec<(Wanted, u32)> = five().into_iter().zip([0, 0, 1, 1, 1]).collect();
        for allocation in [Allocation::Optimal, Allocation::RandomOptimal, Allocation::Lambda] {
            let visits = polite(allocation, &pages, &[1.0, 100.0], 5.0);
            assert!((visits[0] + visits[1] - 1.0).abs() < 1e-6, "{allocation:?} {visits:?}");
            assert!((visits.iter().sum::<f64>() - 5.0).abs() < 1e-6, "{allocation:?} {visits:?}");
            assert_eq!(polite(allocation, &pages, &[9.0, 9.0], 5.0), split(allocation));
        }
    }

    proptest! {
        #[test]
        fn the_inverse_of_h_is_its_inverse(x in 1e-6f64..40.0) {
            let y = missed(x);
            if y < 1.0 - 1e-12 {
                prop_assert!((missed_inverse(y) / x - 1.0).abs() < 1e-4);
            }
        }

        #[test]
        fn the_price_spends_the_budget(
            pages in prop::collection::vec((1e-3f64..10.0, 0.1f64..5.0), 1..30),
            per_day in 0.1f64..20.0,
        ) {
            let pages: Vec<Wanted> = pages.iter().map(|&(rate, importance)| Wanted { rate, importance }).collect();
            for allocation in [Allocation::Optimal, Allocation::RandomOptimal, Allocation::Lambda] {
                let price = allocation.price(&pages, per_day);
                let spent: f64 = pages.iter().map(|&page| allocation.visits(page, price)).sum();
                // At its last price a page drops out more steeply than numbers can follow.
                let steep = pages.iter().map(|page| page.rate).fold(0.0, f64::max) / 25.0;
                let within = 1e-6 * per_day + if allocation == Allocation::Optimal { steep } else { 0.0 };
                prop_assert!((spent - per_day).abs() < within, "{:?} spends {} of {}", allocation, spent, per_day);
            }
        }
    }
}
