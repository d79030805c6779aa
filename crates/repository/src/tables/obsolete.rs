//! What commits made obsolete.

use std::path::PathBuf;

use vernal_model::{Partition, Sequence};

/// Files and rows that a commit made obsolete. They are removed at the next sync of the tables.
#[derive(Debug, Default)]
pub(crate) struct Obsolete {
    pub runs: Vec<PathBuf>,
    /// Ranges of found rows that have passed the sieve.
    pub found: Vec<(Partition, Sequence, Sequence)>,
    /// The number of findings in these ranges.
    pub findings: usize,
}

impl Obsolete {
    pub fn append(&mut self, mut other: Obsolete) {
        self.runs.append(&mut other.runs);
        self.found.append(&mut other.found);
        self.findings += other.findings;
    }
}
