//! The pass over all links that computes how important pages are: the links are gathered and sorted by target, the
//! scores are swept until they converge, and the results are written to the partitions as deeds. A pass that is
//! interrupted by the end of a process is resumed in the next.
//!
//! - `scores`: the stages of a pass, and when one is due.
//! - `checkpoint`: the progress of a pass, written after each sweep.

mod checkpoint;
mod scores;

pub(crate) use self::checkpoint::forget as forget_sweeps;
pub use self::scores::Weighed;
pub(crate) use self::scores::{LinkScores, Ranked};
