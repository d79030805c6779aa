//! The share of the copy that is up to date.

use vernal_model::Share;

/// Pages up to date over pages held. An empty copy has nothing that is stale.
pub fn freshness(up_to_date: u64, held: u64) -> Share {
    if held == 0 { Share::clamped(1.0) } else { Share::clamped(up_to_date as f64 / held as f64) }
}

/// The share of pages up to date, with each page weighted by its importance.
pub fn weighted_freshness(pages: impl Iterator<Item = (f32, bool)>) -> Share {
    let (mut fresh, mut all) = (0.0, 0.0);
    for (importance, up_to_date) in pages {
        all += f64::from(importance);
        fresh += if up_to_date { f64::from(importance) } else { 0.0 };
    }
    if all <= 0.0 { Share::clamped(1.0) } else { Share::clamped(fresh / all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freshness_is_the_share_up_to_date() {
        assert_eq!(freshness(3, 4).value(), 0.75);
        assert_eq!(freshness(0, 0).value(), 1.0);
        assert_eq!(weighted_freshness([(3.0, true), (1.0, false)].into_iter()).value(), 0.75);
        assert_eq!(weighted_freshness(std::iter::empty()).value(), 1.0);
    }
}
