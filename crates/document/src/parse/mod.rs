//! Bytes become a document: media type, character set, one pass over the markup, and what it finds on the way.

pub mod attribute;
pub mod cadence;
pub mod directory;
pub mod element_stack;
pub mod encoding;
pub mod foreign;
pub mod format;
pub mod hints;
pub mod html;
pub mod incremental;
pub mod links;
pub mod name;
pub mod parts;
pub mod perfect_hash;
pub mod picture;
pub mod places;
pub mod plain;
pub mod raw;
pub mod references;
pub mod robots;
pub mod scan;
pub mod site_lists;
pub mod swar;
pub mod tag;
pub mod text;
pub mod tree;
pub mod words;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod oracle_tests;
