//! Changed visits over all visits of one cycle.

use vernal_model::Share;

/// The share of the visits that found a change; nothing for no visits.
pub fn change_ratio(changed: u64, visited: u64) -> Share {
    if visited == 0 { Share::clamped(0.0) } else { Share::clamped(changed as f64 / visited as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_of_no_visits_is_nothing() {
        assert_eq!(change_ratio(0, 0).value(), 0.0);
        assert_eq!(change_ratio(11, 20).value(), 0.55);
    }
}
