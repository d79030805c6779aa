//! Lists that sites publish for machines: sitemaps, feeds, tables of volatile information.
//!
//! - `xml`: a scanner without entities, external references or memory of its own.
//! - `dates`: dates as sites write them, and the Moments between which they lie.
//! - `sitemap`, `feed`, `json_feed`, `table`: the formats.
//! - `hub`: the hub of a feed, from the head of its answer.
//! - `recognise`: which of them a body is.

pub mod dates;
pub mod feed;
pub mod hub;
mod json_feed;
mod recognise;
pub mod sitemap;
pub(crate) mod table;
pub mod xml;

pub use recognise::{LISTED_MAX, listing};
