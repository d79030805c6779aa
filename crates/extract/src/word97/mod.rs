//! Reads DOC files: Word 6 to Word 2003.
//!
//! - `bytes`: numbers at places that may not be there.
//! - `header`: what the file says at its beginning (the FIB).
//! - `pieces`: the text, put together from its pieces.
//! - `styles`: which paragraphs are headings, items and cells.
//! - `stories`: text becomes paragraphs and rows.
//! - `summary`: title, author and dates.

mod bytes;
mod header;
mod pieces;
mod stories;
mod styles;
mod summary;

pub use stories::read_word97;
