//! Reads RTF.
//!
//! - `tokens`: the letters, words and groups of the file.
//! - `reader`: what they mean.
//! - `tables`: its lists of fonts and styles.

mod reader;
mod tables;
mod tokens;

pub use reader::read_rtf;
