//! Hints as effective time: each hint that a page changed is worth some days of waiting (Busa-Fekete and others, 2025).
//!
//! A source announces a change with probability `recall`, and gives `false_rate` false alarms a day. Changes that are
//! not announced come at (1 − recall)·rate; a hint multiplies the probability that the page is up to date by false_rate
//! / (recall·rate + false_rate), as β more days without a hint would.

/// No hint is worth more than this: for a source without false alarms the value would be infinite.
const DAYS_PER_HINT_MAX: f64 = 365.0;

/// β: the days that one hint is worth.
pub fn days_per_hint(rate: f64, recall: f64, false_rate: f64) -> f64 {
    let unsaid = (1.0 - recall) * rate;
    let said = recall * rate + false_rate;
    if said <= false_rate || unsaid.is_nan() {
        return 0.0;
    }
    ((said / false_rate).ln() / unsaid).min(DAYS_PER_HINT_MAX)
}

/// Like `days_per_hint`, for a clock that counts every change, announced or not, as the policies' own does: on it too a
/// hint multiplies the probability that the page is up to date by false_rate / (recall·rate + false_rate).
pub fn days_per_hint_of_all(rate: f64, recall: f64, false_rate: f64) -> f64 {
    let said = recall * rate + false_rate;
    if said <= false_rate || said.is_nan() {
        return 0.0;
    }
    ((said / false_rate).ln() / rate).min(DAYS_PER_HINT_MAX)
}

/// τ_eff = τ + β·n.
pub fn effective_time(elapsed_days: f64, days_per_hint: f64, hints: u32) -> f64 {
    elapsed_days + days_per_hint * f64::from(hints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_multiplies_the_probability_of_being_up_to_date() {
        let (rate, recall, false_rate) = (0.5, 0.6, 0.1);
        let days = days_per_hint(rate, recall, false_rate);
        let fresh = |days: f64| (-(1.0 - recall) * rate * days).exp();
        let factor = fresh(effective_time(3.0, days, 1)) / fresh(3.0);
        assert!((factor - false_rate / (recall * rate + false_rate)).abs() < 1e-12);
    }

    #[test]
    fn on_the_clock_of_all_changes_a_hint_means_the_same() {
        let (rate, recall, false_rate) = (0.5, 0.6, 0.1);
        let factor = (-rate * days_per_hint_of_all(rate, recall, false_rate)).exp();
        assert!((factor - false_rate / (recall * rate + false_rate)).abs() < 1e-12);
        assert_eq!(days_per_hint_of_all(0.5, 0.0, 0.1), 0.0);
        assert_eq!(days_per_hint_of_all(0.0, 0.5, 0.1), 0.0);
    }

    #[test]
    fn a_source_that_says_nothing_is_worth_nothing_and_a_perfect_one_has_an_end() {
        assert_eq!(days_per_hint(0.5, 0.0, 0.1), 0.0);
        assert_eq!(days_per_hint(0.5, 1.0, 0.1), DAYS_PER_HINT_MAX);
        assert_eq!(days_per_hint(0.5, 0.6, 0.0), DAYS_PER_HINT_MAX);
    }
}
