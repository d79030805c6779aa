//! The three cases of the paper, and what the printed formula does without a clamp.

use vernal_policy::schedule::adjusted;

use crate::lab::papers::exhibit::{Exhibit, Page};
use crate::lab::papers::trials::Trials;

pub fn tell(_: &Trials) -> Vec<Exhibit> {
    let at = |place| Page { paper: "004", place };
    let shorter = adjusted(100.0, 0.85);
    let cut = "printed 78.58: −21.42 is cut, not rounded; the value is 78.571";
    let runaway = "without a clamp the refresh time runs away both ways; the policy keeps it within a quarter and four mean waits";
    let cases = vec![
        at("Case 1").number("refresh time after 0.6 changed", adjusted(100.0, 0.6), 100.0, 0, ""),
        at("Case 2").number("refresh time after 0.85 changed", shorter, 78.58, 2, cut),
        at("Case 3").number("refresh time after 0.25 changed", adjusted(shorter, 0.25), 91.67, 2, "printed from 78.58"),
        at("3").shown(
            "factors at 0 and at 1 changed visits in each",
            &[adjusted(1.0, 0.0), adjusted(1.0, 1.0)],
            runaway,
        ),
    ];
    let method = "`adjusted` of the policy `refresh-time` (`policy/schedule/refresh_time.rs`).";
    vec![at("Cases 1 to 3").exhibit("The next refresh time", method, cases)]
}
