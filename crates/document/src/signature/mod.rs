//! Makes the compact marks of a document while it is scanned.
//!
//! A body without text has the digest of its bytes as content and zero for every other mark. No markup has these marks.

pub mod checksum;
mod digest;
pub mod fingerprint;
mod implied;
pub(crate) mod letters;
mod marks;
pub mod rms;
pub mod similarity;

pub use digest::digest;
pub(crate) use marks::folded_product;
pub use marks::{Aspect, Marks, aspect_of, is_stylesheet, opaque, seal};
