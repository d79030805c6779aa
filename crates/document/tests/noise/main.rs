//! Learned noise on sequences of visits: what only varies falls silent, what was edited is found.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod folds;
mod invented;
mod laws;
mod numbers;
mod pairs;
mod sources;
mod truth;
mod watcher;
