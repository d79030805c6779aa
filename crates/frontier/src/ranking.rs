//! Priority by forward and back links, the ranking module of the paper (Yadav 2012, 3.1.2), and two plain orders.

use std::fmt;
use std::str::FromStr;

/// In which order newly found URLs are visited.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum VisitOrder {
    /// Pvalue = forward − back links, highest first.
    #[default]
    Paper,
    /// Few links from the seeds first, then in order of arrival: strictly, as [`VisitOrder::is_strict`] says.
    BreadthFirst,
    /// Many links from the seeds first, then the latest arrival.
    DepthFirst,
    /// Most important first, by link score. A URL that no pass over the links has met yet is ranked by the pages that link to it.
    Importance,
}

/// Depth first uses so many bits of a rank for the arrival. Later arrivals share the highest value.
const ARRIVAL_BITS: u32 = 24;
const ARRIVAL_MAX: u64 = (1 << ARRIVAL_BITS) - 1;
/// Depth first distinguishes depths up to this.
const DEPTH_MAX: u16 = 127;

/// Breadth first gives depths below this a band of their own, so that they do not mix on disk. Deeper URLs are one depth.
const DEPTH_OF_LAST_BAND: u16 = 32;

impl VisitOrder {
    /// Whether no URL goes while one of a higher rank waits in the same window whose site is free. The paper's order draws
    /// from all three lists instead, so that no rank is starved.
    pub fn is_strict(self) -> bool {
        self == VisitOrder::BreadthFirst
    }
}

/// The rank of an unread URL, higher first; equal ranks keep their order of arrival. `forward` counts the links of the
/// page it was found on (all that is known of an unread URL), `back` the known pages that link to it.
pub fn rank(order: VisitOrder, forward: u32, back: u32, depth: u16, arrival: u64) -> i32 {
    match order {
        VisitOrder::Paper => {
            let value = i64::from(forward) - i64::from(back);
            value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
        }
        VisitOrder::BreadthFirst => match depth {
            0 => 0,
            DEPTH_OF_LAST_BAND.. => i32::MIN,
            depth => -(1 << (depth - 1)),
        },
        VisitOrder::Importance => back.min(i32::MAX as u32) as i32,
        VisitOrder::DepthFirst => i32::from(depth.min(DEPTH_MAX)) << ARRIVAL_BITS | arrival.min(ARRIVAL_MAX) as i32,
    }
}

/// A coarse priority for the order on disk, from 0 (first) to 63: sign and binary logarithm of the rank. A higher rank never
/// has a later band.
pub fn band(rank: i32) -> u8 {
    let bits = (32 - rank.unsigned_abs().leading_zeros()) as u8;
    if rank > 0 { 31 - bits } else { 31 + bits }
}

impl FromStr for VisitOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "paper" => VisitOrder::Paper,
            "breadth-first" => VisitOrder::BreadthFirst,
            "depth-first" => VisitOrder::DepthFirst,
            "importance" => VisitOrder::Importance,
            _ => {
                return Err(format!(
                    "`{text}` is no visit order: give paper, breadth-first, depth-first or importance"
                ));
            }
        })
    }
}

impl fmt::Display for VisitOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VisitOrder::Paper => "paper",
            VisitOrder::BreadthFirst => "breadth-first",
            VisitOrder::DepthFirst => "depth-first",
            VisitOrder::Importance => "importance",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_order_ranks_as_it_is_named() {
        let ranked = |order, depth, arrival| rank(order, 0, 0, depth, arrival);
        assert_eq!(rank(VisitOrder::Paper, 60, 7, 9, 9), 53);
        assert_eq!(rank(VisitOrder::Paper, 0, u32::MAX, 0, 0), i32::MIN);
        assert!(ranked(VisitOrder::BreadthFirst, 1, 9) > ranked(VisitOrder::BreadthFirst, 2, 1));
        assert_eq!(ranked(VisitOrder::BreadthFirst, 1, 9), ranked(VisitOrder::BreadthFirst, 1, 1));
        assert!(ranked(VisitOrder::DepthFirst, 2, 1) > ranked(VisitOrder::DepthFirst, 1, 9));
        assert!(ranked(VisitOrder::DepthFirst, 2, 9) > ranked(VisitOrder::DepthFirst, 2, 1));
        assert!(ranked(VisitOrder::DepthFirst, u16::MAX, u64::MAX) > 0);
        assert!(rank(VisitOrder::Importance, 60, 7, 0, 0) > rank(VisitOrder::Importance, 0, 6, 9, 9));
    }

    #[test]
    fn breadth_first_gives_each_depth_a_band_of_its_own() {
        let band_of = |depth| band(rank(VisitOrder::BreadthFirst, 60, 7, depth, 3));
        for depth in 0..DEPTH_OF_LAST_BAND {
            assert_eq!(band_of(depth + 1), band_of(depth) + 1, "{depth}");
        }
        assert_eq!(band_of(u16::MAX), band_of(DEPTH_OF_LAST_BAND));
        assert!(VisitOrder::BreadthFirst.is_strict() && !VisitOrder::default().is_strict());
    }

    #[test]
    fn every_order_is_read_as_written() {
        for order in [VisitOrder::Paper, VisitOrder::BreadthFirst, VisitOrder::DepthFirst, VisitOrder::Importance] {
            assert_eq!(order.to_string().parse(), Ok(order));
        }
        assert!("random".parse::<VisitOrder>().is_err());
    }

    proptest! {
        #[test]
        fn a_higher_rank_never_has_a_later_band(a: i32, b: i32, near in -70i32..70) {
            for (high, low) in [(a.max(b), a.min(b)), (near.saturating_add(1), near)] {
                prop_assert!(band(high) <= band(low));
            }
            prop_assert!(band(i32::MIN) <= 63 && band(i32::MAX) == 0);
        }
    }
}
