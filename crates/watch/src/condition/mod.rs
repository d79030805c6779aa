//! When a watch tells: all given conditions hold, on what is left after noise.
//!
//! - `when`: the conditions as people give them.
//! - `words`: words and patterns of linear time, looked for in the words that came or went.
//! - `number`: the first number of a paragraph.

mod number;
mod when;
mod words;

pub use number::{MovesBy, Number, first_number};
pub use when::{Role, Side, When};
pub use words::{PATTERN_BYTES_MAX, WORDS_MAX, Words};
