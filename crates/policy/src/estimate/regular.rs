//! The change rate of a page that was visited at equal Spans: X changes seen in n visits, `every` days apart.

/// X/(n·I): biased low, for it counts at most one change per visit. The papers' D over V, per day.
pub fn naive(visits: f64, changes: f64, every: f64) -> f64 {
    changes / (visits * every)
}

/// −ln(1 − X/n)/I: infinite if every visit found a change.
pub fn most_likely(visits: f64, changes: f64, every: f64) -> f64 {
    -(1.0 - changes / visits).ln() / every
}

/// −ln((n − X + ½)/(n + ½))/I (Cho and Garcia-Molina 2003): nearly without bias, finite for every history.
pub fn bias_reduced(visits: f64, changes: f64, every: f64) -> f64 {
    -((visits - changes + 0.5) / (visits + 0.5)).ln() / every
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_and_ten_changes_in_ten_visits_give_the_printed_rates() {
        let near = |value: f64, printed: f64| (value - printed).abs() < 5e-5;
        assert!(near(naive(10.0, 6.0, 1.0), 0.6));
        assert!(near(most_likely(10.0, 6.0, 1.0), 0.9163));
        assert!(near(bias_reduced(10.0, 6.0, 1.0), 0.8473));
        assert!(near(bias_reduced(10.0, 10.0, 1.0), 3.0445));
        assert_eq!(most_likely(10.0, 10.0, 1.0), f64::INFINITY);
    }

    #[test]
    fn half_the_span_is_twice_the_rate() {
        for rate in [naive, most_likely, bias_reduced] {
            assert!((rate(8.0, 3.0, 0.5) - 2.0 * rate(8.0, 3.0, 1.0)).abs() < 1e-12);
        }
    }
}
