//! Events become units of the index.
//!
//! - `kept`: the body of a version, found and read.
//! - `recent`: the versions that were read last.
//! - `link_words`: what links out of a page say, and what links into a page say of it.
//! - `stale`: the pages whose words of links are to be looked at again.
//! - `page_unit`: the text of a page's newest version.
//! - `removed`: the paragraphs that a change took away.
//! - `writer`: the writer of the library, and how it lets go of erased words.
//! - `follower`: follows the events, batch by batch, and commits with the place that was reached.

pub mod follower;
pub mod kept;
pub(crate) mod link_words;
pub(crate) mod page_unit;
mod recent;
pub mod removed;
mod stale;
mod writer;
