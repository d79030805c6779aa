//! Bytes become meaning, and two meanings become a change. Pure functions: no network, no disk, no clock.
//!
//! - [`read`] takes one body through a single streaming pass and gives its [`Document`](vernal_model::Document) and its
//!   [`Signature`](vernal_model::Signature): media type and character set first (`parse/format`, `parse/encoding`), then
//!   one scan of the markup (`parse/scan`) that feeds text, links, hints and digests at once. There is no tree.
//! - [`of_status`] says what a status means for the visit.
//! - [`wall`] says when an answer is not the page but something in front of it, and on what evidence.
//! - [`compare`] holds two signatures against each other, cheapest test first (the papers' change detection module);
//!   [`compare_documents`] adds the words.
//! - [`noise`] says what of a change means nothing, on what evidence.
//! - [`robots`] reads robots.txt.
//! - [`fuzz`] holds what must be true for every input, as plain functions of bytes.
//!
//! Everything here is bounded by named limits, and no input makes it panic.

mod answer;
mod detect;
pub mod fuzz;
pub mod noise;
mod parse;
mod read;
mod signature;

pub use answer::{Judged, of_status, robots_text};
pub use detect::{compare, compare_documents, wall};
pub use parse::robots;
pub use read::{Evidence, Input, LINKS_MAX, PARAGRAPHS_MAX, Parsed, read};
