//! Topics of the whole repository: a pass over all held pages, in turns, whose results are deeds; between two passes,
//! the topics of a page when it is read.
//!
//! - [`Source`]: the input of a pass: pages, their words, their links.
//! - [`Pass`]: counts words, gathers which pages have which words and links, computes reputations column by column, and
//!   writes the results.
//! - `checkpoint`: the progress of a pass, kept for the next process.
//! - [`why_none`]: why there are no topics.
//! - [`TopicBook`]: the topics, by their words; categorises a page that was just read.

mod absence;
mod book;
mod checkpoint;
mod pass;
mod source;
mod stages;
mod turns;

pub use absence::why_none;
pub use book::TopicBook;
pub use pass::{Pass, TopicWork, Turn};
pub use source::{HeldPage, Source};

pub(crate) use turns::{Topics, forget_topics};

/// With fewer pages than this, topics cannot be told apart.
pub(crate) const PAGES_MIN: u64 = 50;
