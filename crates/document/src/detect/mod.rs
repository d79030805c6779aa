//! Two meanings become a change, and an answer that is no page becomes a wall.

mod alignment;
mod edits;
mod verdict;
mod wall;
mod wall_words;

pub use edits::compare_documents;
pub use verdict::compare;
pub use wall::wall;
