//! The parameters of the papers' policies as settings of those policies: `hybrid:v=4,p=5%`.
//!
//! - `parameter`: one parameter: its name, the papers' sign for it, its default, its range, and how its text is read.
//! - `catalogue`: all of them. What reads a setting, refuses it, lists it and explains it comes from this table.
//! - `spec`: the name of a policy with the values that somebody gave.

mod catalogue;
mod parameter;
mod spec;

pub use catalogue::ALL;
pub use parameter::{Default, Parameter, Unit};
pub use spec::{PolicySpec, SpecError};
