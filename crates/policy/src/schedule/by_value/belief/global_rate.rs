//! The mean change rate of all pages.

use crate::RateSums;

/// The mean moves only when it is off by this much, in logarithm: each move looks at all pages of sites that have no rate
/// of their own yet.
const MEAN_STEP: f64 = 0.2;

#[derive(Clone, Debug)]
pub struct GlobalRate {
    /// As it was last fitted, per day.
    pub mean: f64,
    /// What the coordinator said of the mean over all partitions.
    pub told: Option<f64>,
    /// What the sites of this partition showed.
    pub sums: RateSums,
}

impl Default for GlobalRate {
    fn default() -> Self {
        GlobalRate { mean: RateSums::default().mean(), told: None, sums: RateSums::default() }
    }
}

impl GlobalRate {
    /// A site's share in the mean is another one now.
    pub fn count(&mut self, before: (f64, f64), after: (f64, f64)) {
        self.sums.weight += after.0 - before.0;
        self.sums.weighted += after.1 - before.1;
    }

    /// Fits the mean; whether it moved.
    pub fn fit(&mut self) -> bool {
        let mean = self.told.filter(|told| told.is_finite() && *told > 0.0).unwrap_or_else(|| self.sums.mean());
        if (mean / self.mean).ln().abs() < MEAN_STEP {
            return false;
        }
        self.mean = mean;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_coordinator_says_goes_before_what_one_partition_knows() {
        let mut rate = GlobalRate::default();
        assert!(!rate.fit(), "nothing was heard yet");
        rate.count((0.0, 0.0), (10.0, 5.0));
        assert!(rate.fit() && (0.3..0.5).contains(&rate.mean));
        rate.told = Some(2.0);
        assert!(rate.fit() && rate.mean == 2.0);
        for nonsense in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            rate.told = Some(nonsense);
            rate.fit();
            assert!((0.3..0.5).contains(&rate.mean));
        }
    }
}
