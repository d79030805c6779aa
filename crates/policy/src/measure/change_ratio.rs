//! Changed visits over all visits of one cycle.

use vernal_model::Share;

/// The share of the visits that found a change; nothing for no visits.
pub fn change_ratio(changed: u64, visited: u64) -> Share {
    if visited == 0 { Share::clamped(0.0) } else { Share::clamped(changed as f64 / visited as f64) }
}

/// Visits as they come, each counted by the importance of its page as well. A visit that found no change was wasted.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Visits {
    pub visited: u64,
    pub changed: u64,
    weight: f64,
    weight_changed: f64,
}

impl Visits {
    pub fn add(&mut self, importance: f32, changed: bool) {
        self.visited += 1;
        self.changed += u64::from(changed);
        self.weight += f64::from(importance);
        self.weight_changed += if changed { f64::from(importance) } else { 0.0 };
    }

    pub fn change_ratio(&self) -> Share {
        change_ratio(self.changed, self.visited)
    }

    /// Σ w·changed / Σ w over the visits (seed 000, 2.4.2, which leaves out the divisor).
    pub fn weighted_change_ratio(&self) -> Share {
        if self.weight <= 0.0 { Share::clamped(0.0) } else { Share::clamped(self.weight_changed / self.weight) }
    }

    /// Visits that found nothing new.
    pub fn wasted(&self) -> u64 {
        self.visited - self.changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_of_no_visits_is_nothing() {
        assert_eq!(change_ratio(0, 0).value(), 0.0);
        assert_eq!(change_ratio(11, 20).value(), 0.55);
        assert_eq!(Visits::default().weighted_change_ratio().value(), 0.0);
    }

    #[test]
    fn an_important_page_counts_for_more() {
        let mut visits = Visits::default();
        visits.add(3.0, true);
        visits.add(1.0, false);
        assert_eq!((visits.change_ratio().value(), visits.weighted_change_ratio().value()), (0.5, 0.75));
        assert_eq!(visits.wasted(), 1);
    }
}
