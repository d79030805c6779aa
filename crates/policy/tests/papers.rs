//! The worked examples of the founding papers.

use vernal_policy::schedule::adjusted;

/// Seed 004, section 3, cases 1 to 3. The paper prints 78.58 after rounding Δt to −21.42; the value is 78.571….
#[test]
fn refresh_time_goes_from_100_to_78_57_to_91_67() {
    let hundredths = |value: f64| (value * 100.0).round() / 100.0;
    assert_eq!(hundredths(adjusted(100.0, 0.6)), 100.0);
    let shorter = adjusted(100.0, 0.85);
    assert_eq!(hundredths(shorter), 78.57);
    assert_eq!(hundredths(adjusted(shorter, 0.25)), 91.67);
}

/// u(x) is 1 for x > 0 only: at the thresholds themselves nothing moves.
#[test]
fn refresh_time_stays_at_the_thresholds() {
    assert_eq!(adjusted(100.0, 0.7), 100.0);
    assert_eq!(adjusted(100.0, 0.3), 100.0);
}
