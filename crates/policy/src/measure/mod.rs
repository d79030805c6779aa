//! How well it went. Each function only divides; who counts what is decided by its caller.

mod age;
pub mod bound;
mod change_ratio;
mod freshness;

pub use age::{age, mean_age};
pub use change_ratio::change_ratio;
pub use freshness::{freshness, weighted_freshness};
