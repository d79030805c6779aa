//! Discovered URLs met in sorted batches against the known ones; back-link counts are summed on the way.
//!
//! - `run`: one sorted file of known URLs, looked up by a sparse index and read in order.
//! - `filter`: says without a read that a run does not hold a key.
//! - `known`: the known set: a big run and a small one.
//! - `merge`: a decision of the sieve becomes the next generation.
//! - `candidates`: found rows on one side, the known set on the other, what is new between them.
//!
//! No store operation is spent on a single link: found URLs wait in packed rows, and one pass over sorted keys decides
//! about all of them (the sieve of Mercator, Heydon and Najork 1999, and of IRLbot, Lee et al. 2008).

mod candidates;
mod filter;
mod known;
mod merge;
mod run;

pub use candidates::{Candidate, PartitionSieving, Sieving};
pub(crate) use candidates::{each_found, sieve};
pub(crate) use known::{FOLDER, KnownSet, Resolved, Update, remove_orphans};
pub(crate) use run::BARRED;
