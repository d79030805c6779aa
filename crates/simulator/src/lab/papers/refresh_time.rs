//! Paper 004: self-adjusting refresh times, its three cases.

use vernal_policy::schedule::adjusted;

use super::{Page, Vector};

pub(super) fn vectors() -> Vec<Vector> {
    let at = |place| Page { paper: "004", place };
    let shorter = adjusted(100.0, 0.85);
    let cut = "printed 78.58: −21.42 is cut, not rounded";
    let from_cut = "printed from 78.58";
    let runaway = "at 0 and at 1 changed visits in each: without a clamp the refresh time runs away both ways";
    vec![
        at("Case 1").number("refresh time after 0.6 changed", adjusted(100.0, 0.6), 100.0, 0, ""),
        at("Case 2").number("refresh time after 0.85 changed", shorter, 78.58, 2, cut),
        at("Case 3").number("refresh time after 0.25 changed", adjusted(shorter, 0.25), 91.67, 2, from_cut),
        at("3").enacted("factors", &[adjusted(1.0, 0.0), adjusted(1.0, 1.0)], &[], runaway),
    ]
}
