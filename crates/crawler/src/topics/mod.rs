//! Topics of the whole repository: a pass over all held pages, in turns, whose results arrive as deeds; and between two
//! passes the topics of a page when it is read.
//!
//! - [`Source`]: what a pass reads: pages, their words, their links.
//! - [`Pass`]: counts words, gathers who has which and who links to whom, reckons reputations column by column, and writes
//!   what became of it.
//! - [`TopicBook`]: the topics there are, by their words; a page that was just read is categorised with it.

mod book;
mod pass;
mod source;
mod stages;

pub use book::TopicBook;
pub use pass::{Pass, Turn};
pub use source::{HeldPage, Source};

pub(crate) use source::{Kept, followed};
