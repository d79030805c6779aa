//! Policies that keep a due Moment per page.
//!
//! - `agenda`: the pages in the order of their due Moments, site by site; what the simple ones share.
//! - `round_robin`: the oldest last visit first.
//! - `refresh_time`: the self-adjusting refresh time (the paper's refresh time controller).
//! - `value`: what a visit is worth, for each objective.
//! - `allocation`: how a budget is split over pages whose rates are known.
//! - `index`: the policies that visit by value, with the default among them.

mod agenda;
pub mod allocation;
mod index;
mod refresh_time;
mod round_robin;
mod value;

pub use index::Index;
pub use refresh_time::{RefreshTime, adjusted};
pub use round_robin::RoundRobin;
pub use value::{HARMONIC_SHARE, Objective, Rate};
