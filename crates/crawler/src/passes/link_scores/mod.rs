//! The pass over all links that says how important pages are: the links are gathered and sorted by target, the scores are
//! swept until they stand still, and what came out is told to the partitions as deeds. A pass that the end of a process cuts
//! short goes on in the next.
//!
//! - `scores`: the stages of a pass, and when one is due.
//! - `checkpoint`: where it stands, kept behind each sweep.

mod checkpoint;
mod scores;

pub(crate) use self::checkpoint::forget as forget_sweeps;
pub use self::scores::Weighed;
pub(crate) use self::scores::{LinkScores, Ranked};
