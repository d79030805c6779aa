//! Which order leaves next.
//!
//! - [`Planner`]: what is wanted, and in which turn.
//! - `candidates`: the next page worth a visit, lane by lane.
//! - `choosing`: which partition's policy has the best held page.
//! - `orders`: a candidate becomes an order, if nothing stands in its way.
//! - `sieve`: how found URLs become waiting ones.
//! - `second_looks`: visits soon after another, to learn what is noise.
//! - `freshness_samples`: how fresh the copy really is.
//! - `discovery_pages`: held pages that lead to new ones.
//! - `volatile_tables`: pages that wait for the table of their changing parts.
//! - `wanted`: URLs that the last pass over all links found worth a visit before all others.
//! - `forecast`: who would be visited when, without a request.

pub(crate) mod candidates;
pub(crate) mod choosing;
pub(crate) mod discovery_pages;
mod forecast;
pub(crate) mod freshness_samples;
pub(crate) mod orders;
mod planner;
pub(crate) mod second_looks;
pub(crate) mod sieve;
pub(crate) mod volatile_tables;
pub(crate) mod wanted;

pub use self::forecast::{Forecast, Plan, PlannedVisit, plan};
pub(crate) use self::planner::Planner;
