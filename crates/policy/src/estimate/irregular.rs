//! The most likely change rate of a page that was visited at irregular times: the rate at which Σ τ/(e^(rate·τ) − 1)
//! over the visits that found a change equals Σ τ over those that did not.

/// One visit: days since the visit before, and whether it found a change.
pub type Look = (f64, bool);

/// Rates beyond these bounds, per day, are clamped to them.
pub const RATE_MIN: f64 = 1e-9;
pub const RATE_MAX: f64 = 1e6;
/// Bisection steps: more than the precision of a double needs.
const STEPS: usize = 200;

/// The most likely rate per day: 0 if no visit found a change, [`RATE_MAX`] if every one did, `None` without visits.
pub fn irregular(looks: &[Look]) -> Option<f64> {
    let span = |wanted: bool| looks.iter().filter(move |&&(days, changed)| changed == wanted && days > 0.0);
    if span(true).next().is_none() {
        return span(false).next().map(|_| 0.0);
    }
    let quiet: f64 = span(false).map(|&(days, _)| days).sum();
    if quiet <= 0.0 {
        return Some(RATE_MAX);
    }
    let excess = |rate: f64| span(true).map(|&(days, _)| days / (rate * days).exp_m1()).sum::<f64>() - quiet;
    let (mut low, mut high) = (RATE_MIN, RATE_MAX);
    for _ in 0..STEPS {
        // The rate spans many orders of magnitude: bisect its logarithm.
        let middle = (low * high).sqrt();
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    Some((low * high).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::most_likely;

    #[test]
    fn changed_after_1_and_2_and_quiet_for_1_and_3_days_is_the_printed_rate() {
        let rate = irregular(&[(1.0, true), (2.0, true), (1.0, false), (3.0, false)]).unwrap();
        assert!((rate - 0.374159).abs() < 1e-6, "{rate}");
    }

    #[test]
    fn at_equal_spans_it_is_the_regular_one() {
        let looks: Vec<Look> = (0..10).map(|visit| (2.0, visit < 6)).collect();
        assert!((irregular(&looks).unwrap() - most_likely(10.0, 6.0, 2.0)).abs() < 1e-9);
    }

    #[test]
    fn one_sided_histories_have_an_answer() {
        assert_eq!(irregular(&[]), None);
        assert_eq!(irregular(&[(3.0, false)]), Some(0.0));
        assert_eq!(irregular(&[(3.0, true)]), Some(RATE_MAX));
    }
}
