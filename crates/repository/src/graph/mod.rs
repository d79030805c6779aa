//! The link graph: which pages link to a page, and the file that a pass over all links reads.
//!
//! The row of a page names its link targets by fingerprint. To find the pages that link to a page, a pass reads all rows from
//! time to time, looks up the number of each target, and sorts the links by target. The result is one compact file, derived
//! and rebuildable. It answers the question with one small read, and importance is computed from it. The pages whose links
//! changed since are listed beside it, so that the answer is always exact (decision 11).
//!
//! - `numbering`: every URL of the repository as one dense number.
//! - `targets`: from fingerprints to these numbers.
//! - `pieces`: what a pass has read so far, on disk.
//! - `sort`: more links than fit into memory, sorted.
//! - `index`, `index_writer`: the file.
//! - `gather`: the pass, a little at a time.
//! - `back`: who links to a page.

mod back;
mod gather;
mod index;
mod index_writer;
mod numbering;
mod pieces;
mod sort;
mod targets;

pub use back::BackLink;
pub use gather::{GatheredLinks, LinkGathering, NodeState, PIECE_PAGES, URLS_MAX};
pub(crate) use index::remove_if_ahead;
pub use index::{LinkIndex, LinkStream};
pub use numbering::Numbering;
pub use pieces::PassStart;
pub(crate) use pieces::remove_pieces_if_ahead;

/// The folder of the link index within a repository.
pub(crate) const FOLDER: &str = "graph";
