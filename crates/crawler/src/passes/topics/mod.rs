//! Topics of the whole repository: a pass over all held pages, in turns, whose results arrive as deeds; and between two
//! passes the topics of a page when it is read.
//!
//! - [`Source`]: what a pass reads: pages, their words, their links.
//! - [`Pass`]: counts words, gathers who has which and who links to whom, reckons reputations column by column, and writes
//!   what became of it.
//! - `checkpoint`: how far a pass is, kept for the next process.
//! - [`why_none`]: why there are no topics.
//! - [`TopicBook`]: the topics there are, by their words; a page that was just read is categorised with it.

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

/// Below so many pages there is nothing to tell topics by.
pub(crate) const PAGES_MIN: u64 = 50;
