//! Full text over current, past and removed text (the indexer of paper 003, 3.1.5 and 3.1.6).
//!
//! The index follows the events of the journal and reads acknowledged state only. It is derived: it can be removed at any time
//! and is then made anew. Each commit carries the place in the journal that it is consistent with, so that a crash at any
//! instant loses nothing and repeats nothing.
//!
//! There are two units (decision 43). A page is one unit with the text of its newest version. A paragraph that an edit took
//! away is a unit with its own text, and the two versions and moments between which it went.
//!
//! - [`analysis`]: text becomes words.
//! - [`query`]: what a person typed becomes an expression, or a fault with its place.
//! - [`index`]: the index on disk.
//! - [`follow`]: events become units of the index.
//! - [`ask`]: an expression becomes hits.

pub mod analysis;
pub mod ask;
mod error;
pub mod follow;
pub mod index;
pub mod query;

pub use ask::answer::{Answer, Asked, Facets, Hit, RemovedText, Sort, Within};
pub use error::{Error, Result};
pub use follow::follower::{Follower, Progress};
pub use index::opened::{Opened, SearchIndex, SearchStatus};
pub use query::fault::QueryFault;
