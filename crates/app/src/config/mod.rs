//! The settings in force, and where each one came from.
//!
//! - `catalogue`: every setting in one entry; each is a flag, an environment variable and a key of `vernal.toml`.
//! - `file`: `vernal.toml` read into texts, unknown keys refused with the nearest name.
//! - `resolve`: flag before environment before file before default.
//! - `value`: the texts as typed values. `settings`: where those values go.
//! - `promises`: how often pages are to be visited, as text and as tables of the file.
//! - `weights`: what people say of the importance of pages, the same way.
//! - `flags`: the catalogue as flags of a command.

mod catalogue;
mod file;
mod flags;
mod nearest;
pub mod promises;
mod resolve;
mod settings;
pub mod value;
mod weights;

pub use flags::Flags;
pub use nearest::nearest;
pub use resolve::{InForce, Row, Source, environment_strangers, resolve};
pub use settings::{Settings, Topics};
