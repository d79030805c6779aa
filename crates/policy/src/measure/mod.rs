//! Measures of freshness and cost. Pure ratios leave the counting to the caller; `Visits`, `PageLife` and `OverTime`
//! count.

mod age;
pub mod bound;
mod change_ratio;
pub mod clairvoyant;
mod freshness;
mod gap_closed;
mod over_time;

pub use age::{age, expected_age, mean_age};
pub use change_ratio::{Visits, change_ratio};
pub use freshness::{freshness, weighted_freshness};
pub use gap_closed::{GAP_FROM, GAP_TO, HINDSIGHT_RATE_MIN, gap_closed, hindsight_rate};
pub use over_time::{OverTime, PageLife, harmonic_number};
