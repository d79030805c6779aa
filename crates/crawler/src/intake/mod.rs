//! A report becomes a verdict, rows, an event and new URLs (paper 003's document-and-URL buffer). Pure functions:
//!
//! - `verdict`: is it the same page as before, and by which test do we know.
//! - `keeping`: what the archive writes of the visit.
//! - `page_life`: the page's row after the visit, and when it is wanted again.
//! - `telling`: what the feed says of it.
//! - `discovery`: the URLs it names.
//! - `listing`: what a file of hints says that it did not say before.
//! - `record`: the way back: a kept record as the report that it was made of.

pub(crate) mod discovery;
pub(crate) mod keeping;
pub(crate) mod listing;
pub(crate) mod page_life;
pub(crate) mod record;
pub(crate) mod telling;
pub(crate) mod verdict;
