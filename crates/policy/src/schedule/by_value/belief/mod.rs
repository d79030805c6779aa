//! What is believed of change rates: page → path → section or site → topic → all pages.
//!
//! - `beliefs`: the prior of a page and what its own visits make of it.
//! - `global_rate`: the mean rate of all pages.
//! - `topic_pool`: what the topics of a site say of a site of which nothing was seen yet.
//! - `importance`: what the importance of a page says of its rate.
//! - `prior_strength`: how closely a page is expected to keep to its prior.
//! - `calibration`: what was foretold against what was found.

mod beliefs;
mod calibration;
mod global_rate;
mod importance;
mod prior_strength;
mod topic_pool;

pub use beliefs::Beliefs;
pub use calibration::Calibration;
pub use global_rate::GlobalRate;
pub use importance::{Compared, ImportanceBuckets};
pub use prior_strength::PriorStrength;
pub use topic_pool::TopicPool;
