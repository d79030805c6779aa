//! Bytes become a document: media type, character set, one pass over the markup, and what it finds on the way.

pub mod attribute;
pub mod beside;
pub mod cadence;
pub mod eights;
pub mod encoding;
pub mod foreign;
pub mod format;
pub mod hints;
pub mod html;
pub mod links;
pub mod listing;
pub mod listings;
pub mod name;
pub mod parts;
pub mod plain;
pub mod raw;
pub mod references;
pub mod robots;
pub mod scan;
pub mod slots;
pub mod surroundings;
pub mod tag;
pub mod text;
pub mod tree;
pub mod words;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod oracle_tests;
