//! Reads RTF.
//!
//! - `tokens`: the letters, words and groups of the file.
//! - `reader`: what they mean.
//! - `blocks`: the open paragraph and row.
//! - `tables`: its lists of fonts and styles.

mod blocks;
mod reader;
mod tables;
mod tokens;

pub use reader::read_rtf;
