//! What differs without meaning.

pub mod builtin;
