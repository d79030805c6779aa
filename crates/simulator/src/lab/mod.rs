//! The laboratory: policies alone, in virtual time, on worlds whose every change is known.
//!
//! - [`world`]: sites, pages, changes, hints and politeness caps.
//! - [`generate`]: worlds from a chance number, by the scenarios of the protocol.
//! - [`trace`]: worlds from recordings of real pages.
//! - [`trial`]: one policy on one world, its visits paid from a budget; what came of it is measured exactly.
//! - [`measure`]: the integrals behind that.

pub mod generate;
pub mod measure;
pub mod trace;
pub mod trial;
pub mod world;

pub use generate::LabScenario;
pub use measure::Findings;
pub use trial::{LabTrial, Options};
pub use world::World;
