//! Decides which order leaves next.
//!
//! - [`Planner`]: the parts that ask for visits, and their order.
//! - `candidates`: the next page worth a visit, lane by lane.
//! - `choosing`: which partition's policy has the best held page.
//! - `orders`: turns a candidate into an order, if nothing prevents it.
//! - `sieve`: how found URLs become waiting ones.
//! - `second_looks`: visits soon after another, to learn what is noise.
//! - `freshness_samples`: measures how fresh the copy really is.
//! - `measured`: what the samples show, and how right the belief was about them.
//! - `discovery_pages`: held pages that link to new ones.
//! - `volatile_tables`: pages that wait for the table of their changing parts.
//! - `wanted`: URLs that the last pass over all links found worth a visit before all others.
//! - `forecast`: which pages would be visited when, without a request.

pub(crate) mod candidates;
pub(crate) mod choosing;
pub(crate) mod discovery_pages;
mod forecast;
pub(crate) mod freshness_samples;
pub(crate) mod measured;
pub(crate) mod orders;
mod planner;
pub(crate) mod second_looks;
pub(crate) mod sieve;
pub(crate) mod volatile_tables;
pub(crate) mod wanted;

pub use self::forecast::{Forecast, Plan, PlannedVisit, plan};
pub(crate) use self::planner::Planner;
