//! Two meanings become a change, and an answer that is no page becomes a wall.

pub mod alignment;
mod verdict;
mod wall;
mod wall_words;

pub use crate::diff::explain as compare_documents;
pub use verdict::compare;
pub use wall::wall;
