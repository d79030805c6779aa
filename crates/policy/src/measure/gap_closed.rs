//! How much of the way from one policy to another a third one went.

/// (F − F_rr)/(F_known − F_rr): 0 is no better than round-robin, 1 as good as with known rates, above 1 better. `None`
/// where the two are the same and nothing can be said.
pub fn gap_closed(freshness: f64, round_robin: f64, known: f64) -> Option<f64> {
    let gap = known - round_robin;
    (gap.abs() > 1e-9).then(|| (freshness - round_robin) / gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_trial_closed_58_percent_of_the_gap() {
        let closed = gap_closed(0.9341, 0.9227, 0.9425).unwrap();
        assert!((closed - 0.58).abs() < 0.005, "{closed}");
        assert_eq!(gap_closed(0.9, 0.8, 0.8), None);
    }
}
