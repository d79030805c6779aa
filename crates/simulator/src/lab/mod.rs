//! The laboratory: policies alone, in virtual time, on worlds whose every change is known.
//!
//! - [`world`]: sites, pages, changes, hints and politeness caps.
//! - [`generate`]: worlds from a chance number, by the scenarios of the protocol.
//! - [`trace`]: worlds from recordings of real pages.
//! - [`trial`]: one policy on one world, its visits paid from a budget.
//! - [`measure`]: how well it went, as exact integrals.
//! - [`bounds`]: what no policy can exceed on a world; [`computed_bounds`]: their values for a world and a budget.
//! - [`outside`]: policies that are programs of their own.
//! - [`compare`]: many policies on many worlds; [`statistics`]: what their differences mean; [`findings`]: a report of it.
//! - [`papers`]: the founding papers' tables and figures, beside what was printed.

pub mod bounds;
pub mod compare;
pub mod computed_bounds;
pub mod findings;
pub mod generate;
pub mod measure;
pub mod outside;
pub mod papers;
pub mod statistics;
pub mod trace;
pub mod trial;
pub mod world;

pub use bounds::{Bounder, Bounds, Unbounded};
pub use compare::{Compared, Comparison, Means, Row, Source};
pub use computed_bounds::ComputedBounds;
pub use generate::{LabScenario, WorldSettings};
pub use measure::Findings;
pub use trial::{LabTrial, Options};
pub use world::World;
