//! Traps: places where a site makes URLs without end. A trap closes its pattern only, never the rest of the site, and its
//! reason is given in words.
//!
//! - `rules`: traps by the form of a URL.
//! - `pattern`: the pattern of a URL.
//! - `sessions`: parameters that carry a session, found by evidence and dropped from URLs.
//! - `sitemaps`: indexes of sitemaps that name files without end.
//! - `book`: traps by evidence, such as many URLs of one pattern with the same content.

mod book;
mod pattern;
mod rules;
mod sessions;
mod sitemaps;

pub use book::{PatternMark, TrapBook};
pub use sitemaps::{IndexReach, SITEMAPS_MAX};
