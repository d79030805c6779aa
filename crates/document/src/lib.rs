//! Bytes become meaning, and two meanings become a change. Pure functions: no network, no disk, no clock.
//!
//! - [`read`] takes one body through a single streaming pass and gives its [`Document`](vernal_model::Document) and its
//!   [`Signature`](vernal_model::Signature): media type and character set first (`parse/format`, `parse/encoding`), then
//!   one scan of the markup (`parse/scan`) that feeds text, links, hints and digests at once. There is no tree.
//! - [`of_status`] gives the meaning of a status for the visit.
//! - [`wall`] recognises an answer that is not the page but something in front of it, with its evidence.
//! - [`compare`] compares two signatures, cheapest test first (the change detection module of the papers). [`compare_pages`] is
//!   the slow path for two pages that were read closely: words, notes, and suppressed noise.
//! - [`methods`] runs each method of change detection alone: those of paper 003, and ours.
//! - [`noise`] finds the parts of a change without meaning, with their evidence.
//! - [`diff`] shows the difference of two versions to people, and keeps the identity of paragraphs.
//! - [`tell`] puts verdicts into words.
//! - [`flags`] and [`judge`] answer the questions of labelled pairs and evaluate the answers.
//! - [`unpack`] removes content codings, within limits.
//! - [`markdown`](markdown()) writes the main content of a body as Markdown.
//! - [`robots`] reads robots.txt.
//! - [`terms`] finds the words of a document that may be topics.
//!
//! Everything here is bounded by named limits, and no input makes it panic.

mod answer;
mod detect;
pub mod diff;
pub mod judge;
mod markdown;
pub mod noise;
mod parse;
mod read;
mod signature;
pub mod tell;
pub mod terms;
mod unpack;

pub use answer::{StatusMeaning, of_status, robots_text};
pub use detect::methods;
pub use detect::structure::{self, StructureChange, compare_trees};
pub use detect::{Flags, compare, compare_pages, flags, tell_closely, wall};
pub use markdown::{MarkdownOptions, ParagraphName, markdown};
pub use noise::builtin;
pub use parse::cadence;
pub use parse::incremental::IncrementalReader;
pub use parse::parts::{Part, Parts, parts};
pub use parse::picture::picture_size;
pub use parse::places::note_places;
pub use parse::robots;
pub use parse::site_lists;
pub use parse::tree::{DocumentTree, Node, written_tree};
pub use read::{
    Evidence, Input, LINKS_MAX, PARAGRAPHS_MAX, Parsed, read, read_closely, read_words, read_words_incrementally,
    read_words_of_prefix, source_text,
};
pub use signature::fingerprint::{TagLetters, tag_letters};
pub use signature::{checksum, rms, similarity};
pub use unpack::{UnpackLimits, is_likely_larger, unpack, unpack_into, unpack_start_into};
