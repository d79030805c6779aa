//! Files in which sites list their pages for machines: sitemaps, feeds, tables of volatile information.
//!
//! - `xml`: a scanner without entities, external references or memory of its own.
//! - `dates`: dates as sites write them, and the Moments between which they lie.
//! - `sitemap`, `feed`, `json_feed`, `table`: the formats.
//! - `hub`: who pushes a feed, by the head of its answer.
//! - `door`: which of them a body is.

pub mod dates;
mod door;
pub mod feed;
pub mod hub;
mod json_feed;
pub mod sitemap;
mod table;
pub mod xml;

pub use door::{LISTED_MAX, fuzz_feed, fuzz_sitemap, listing};
