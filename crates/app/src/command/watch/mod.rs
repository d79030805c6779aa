//! `vernal watch`: alerts on pages, prefixes, sites, tags and saved searches.
//!
//! - `acts`: what can be done, and how the folder is asked.
//! - `add`: a watch from flags.
//! - `route`: where alerts go.
//! - `show`: watches, tests and deliveries as tables.

mod acts;
mod add;
mod route;
mod show;

pub use acts::{Arguments, watch};
