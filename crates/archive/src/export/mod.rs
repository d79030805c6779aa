//! Getting data out: copies of the pages for search engines, language models, databases and replay tools.
//!
//! Every export is of one state of the repository, named by the cursor it is consistent with, or is the difference of two states.
//!
//! - `asked`: what is asked for: which pages, and which state or states.
//! - `held`: the version of a page that was held in a state, by its events. `body`: its bytes and their meaning.
//! - `rows`: the paragraphs of a held version with their histories. `difference`: what leads from one list of rows to another.
//! - `pages`: the walk over the pages of an export. `events`: that over its events.
//! - `json_lines`, `markdown`, `tables` (Parquet), `records` (WARC and CDXJ), `wacz`: the formats.
//! - `manifest`: what an export says of itself.

pub mod asked;
mod body;
mod difference;
mod error;
mod events;
mod file_name;
mod front_matter;
mod held;
pub mod json_lines;
pub mod manifest;
pub mod markdown;
mod pages;
pub mod records;
mod rows;
pub mod tables;
pub mod wacz;
mod zip_file;

pub use asked::{Asked, PageFilter, Until};
pub use error::{Error, Result};
pub use file_name::file_name;
pub use manifest::Manifest;
pub use pages::Progress;
