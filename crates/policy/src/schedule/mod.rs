//! Policies that keep a due Moment per page.
//!
//! - `agenda`: the pages in the order of their due Moments, site by site; what all of these policies share.
//! - `round_robin`: the oldest last visit first.
//! - `refresh_time`: the self-adjusting refresh time (the paper's refresh time controller).

mod agenda;
mod refresh_time;
mod round_robin;

pub use refresh_time::{RefreshTime, adjusted};
pub use round_robin::RoundRobin;
