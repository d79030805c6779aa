//! Compares found URLs with the known ones in sorted batches and sums back-link counts.
//!
//! - `run`, `run_writer`: one sorted file of known URLs, looked up by a sparse index and read in order.
//! - `filter`: a Bloom filter for the keys of a run.
//! - `known`: the known set: a big run and a small one.
//! - `merge`: merges decisions of the sieve into the next generation.
//! - `candidates`: compares found rows with the known set.
//!
//! No link costs a store operation of its own: found URLs are kept in packed rows, and one pass over sorted keys decides about
//! all of them (the sieve of Mercator, Heydon and Najork 1999, and of IRLbot, Lee et al. 2008).

mod candidates;
mod filter;
mod known;
mod merge;
mod run;
mod run_writer;

pub use candidates::{Candidate, PartitionSieving, Sieving};
pub(crate) use candidates::{each_found, sieve};
pub(crate) use known::{FOLDER, KnownSet, Resolved, Update, remove_orphans};
pub(crate) use run::{BARRED, FORGOTTEN};
