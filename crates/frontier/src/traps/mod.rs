//! Traps: places where a site makes URLs without end. A trap closes its pattern only, never the rest of the site, and is
//! told in words.
//!
//! - `rules`: by the look of a URL.
//! - `sessions`: parameters that carry a session, by evidence: dropped, so that they make no trap.
//! - `book`: by evidence, many URLs of one pattern with the same content.

mod book;
mod rules;
mod sessions;

pub use book::TrapBook;
