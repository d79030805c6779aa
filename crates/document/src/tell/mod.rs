//! Verdicts in words, for people.
//!
//! - `verdict`: a change as one line, and what its paragraphs do not say.
//! - `methods`: what each method of change detection found.
//! - `direction`: letters that turn the direction of text, as escapes.

mod direction;
mod methods;
mod verdict;

pub use direction::escaped;
pub use methods::method_lines;
pub use verdict::{plain, quoted, remarks, sides, verdict};
