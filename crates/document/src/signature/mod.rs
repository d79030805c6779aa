//! The compact marks of a document, made while it is scanned.
//!
//! Each mark is one xxh3 digest over a stream of items, each item ended by a byte that no UTF-8 text contains.
//! A body without a text of its own has the digest of its bytes as content and zero for every other mark, which no
//! stream gives: the digest of an empty stream is not zero.

mod marks;

pub use marks::{Marks, opaque, seal};
