//! Worlds from a chance number, by the scenarios of the protocol.
//!
//! - [`scenario`]: what a scenario file says, and the scenarios that come with the program.
//! - [`settings`]: what an invented world is made of.
//! - `draw`: a world drawn from those settings.
//! - `process`: how one page changes.

mod draw;
mod process;
pub mod scenario;
pub mod settings;

pub use scenario::LabScenario;
pub use settings::WorldSettings;
