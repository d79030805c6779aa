//! Bytes become meaning, and two meanings become a change. Pure functions: no network, no disk, no clock.
//!
//! - [`read`] takes one body through a single streaming pass and gives its [`Document`](vernal_model::Document) and its
//!   [`Signature`](vernal_model::Signature): media type and character set first (`parse/format`, `parse/encoding`), then
//!   one scan of the markup (`parse/scan`) that feeds text, links, hints and digests at once. There is no tree.
//! - [`of_status`] says what a status means for the visit.
//! - [`wall`] says when an answer is not the page but something in front of it, and on what evidence.
//! - [`compare`] holds two signatures against each other, cheapest test first (the papers' change detection module);
//!   [`compare_pages`] is the slow path for two pages that were read closely: words, notes, and what was set aside.
//! - [`noise`] says what of a change means nothing, on what evidence.
//! - [`diff`] shows what a person reads between two versions, and keeps the identity of paragraphs.
//! - [`flags`] and [`judge`] answer the plain questions of labelled pairs and count how often we are right.
//! - [`unpack`] takes content codings off, within limits.
//! - [`robots`] reads robots.txt.
//! - [`terms`] finds the words of a document that may be topics.
//! - [`fuzz`] holds what must be true for every input, as plain functions of bytes.
//!
//! Everything here is bounded by named limits, and no input makes it panic.

mod answer;
mod detect;
pub mod diff;
pub mod fuzz;
pub mod judge;
pub mod noise;
mod parse;
mod read;
mod signature;
pub mod terms;
mod unpack;

pub use answer::{Judged, of_status, robots_text};
pub use detect::structure::{self, StructureChange, compare_trees};
pub use detect::{Flags, compare, compare_pages, flags, tell_closely, wall};
pub use noise::builtin;
pub use parse::beside::Beside;
pub use parse::parts::{Part, Parts, parts};
pub use parse::robots;
pub use parse::tree::{DocumentTree, Node, document_tree, written_tree};
pub use parse::{cadence, listings};
pub use read::{
    Evidence, Input, LINKS_MAX, PARAGRAPHS_MAX, Parsed, read, read_closely, read_words, read_words_beside,
    read_words_of_start, source_text,
};
pub use signature::fingerprint::{TagLetters, tag_letters};
pub use signature::{checksum, rms, similarity};
pub use unpack::{UnpackLimits, is_likely_larger, unpack, unpack_into, unpack_start_into};
