//! Links as a whole: which pages link to a page, and the file that a pass over all links reads.
//!
//! A page's row names its targets by fingerprint; who links to a page is the question the other way round. Once in a
//! while a pass reads all rows, finds the number of each target, and sorts the links by target. What comes of it is one
//! compact file, derived and rebuildable, which answers the question with one small read and is what importance is
//! computed from. Pages whose links changed since are on a short list beside it, so that the answer is always exact
//! (decision 11).
//!
//! - `numbering`: every URL of the repository as one dense number.
//! - `targets`: from fingerprints to these numbers.
//! - `pieces`: what a pass has read so far, on disk.
//! - `sort`: more links than fit into memory, sorted.
//! - `index`: the file.
//! - `gather`: the pass, a little at a time.
//! - `back`: who links to a page.

mod back;
mod gather;
mod index;
mod numbering;
mod pieces;
mod sort;
mod targets;

pub use back::BackLink;
pub use gather::{Gathered, LinkGathering, NodeState, PIECE_PAGES, URLS_MAX};
pub(crate) use index::remove_if_ahead;
pub use index::{LinkIndex, LinkStream};
pub use numbering::Numbering;
pub use pieces::Begun;
pub(crate) use pieces::remove_pieces_if_ahead;

/// The folder of the link index within a repository.
pub(crate) const FOLDER: &str = "graph";
