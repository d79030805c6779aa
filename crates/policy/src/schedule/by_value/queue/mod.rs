//! Which page is visited next: pages of all sites in the order of value, without a look at all of them.
//!
//! - `waiting_list`: pages that wait until they must be looked at again.
//! - `levels`: value in levels, each worth a fixed share more than the one below.
//! - `site_queue`: the eligible pages of one site: those that wait, and those at levels.
//! - `unobserved`: pages of a site that differ by their last visit alone, of which one stands for all.
//! - `front_runners`: the best page of each site, best first.
//! - `cooling_down`: pages that were visited too short a time ago.
//! - `timers`: when a site must be looked at again; `dirty`: sites that must be looked at now.
//! - `threshold`: the level below which nothing is sorted.
//! - `eligible`: the eligible pages of all sites.
//! - `queue`: all of this together.

mod cooling_down;
mod dirty;
mod eligible;
mod front_runners;
mod levels;
#[expect(clippy::module_inception, reason = "the queue of all sites, made of the parts beside it")]
mod queue;
mod site_queue;
mod threshold;
mod timers;
mod unobserved;
mod waiting_list;

pub use dirty::DirtySites;
pub use queue::Queue;
pub use waiting_list::{Entry, WaitingList};
