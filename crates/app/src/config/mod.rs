//! The settings in force, and where each one came from.
//!
//! - `catalogue`: every setting in one entry; each is a flag, an environment variable and a key of `vernal.toml`.
//! - `setting`: what an entry of it is made of.
//! - `file`: `vernal.toml` read into texts, unknown keys refused with the nearest name.
//! - `resolve`: flag before environment before file before default.
//! - `value`: the texts as typed values. `settings`: where those values go.
//! - `policies`: parameters of policies, as text and as tables of the file.
//! - `promises`: how often pages are to be visited, as text and as tables of the file.
//! - `weights`: what people say of the importance of pages, the same way.
//! - `alerts`: watches and routes, as tables of the file.
//! - `listener`: the settings of the network listener.
//! - `flags`: the catalogue as flags of a command.

mod alerts;
mod catalogue;
mod file;
mod flags;
mod listener;
mod policies;
pub mod promises;
mod resolve;
mod setting;
mod settings;
pub mod value;
mod weights;

pub use flags::Flags;
pub use policies::{url_terms, with_parameters};
pub use resolve::{InForce, Source, environment_strangers, resolve};
pub use settings::{Settings, Topics};
