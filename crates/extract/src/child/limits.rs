//! What a file may cost.

use std::time::Duration;

/// The limits of one child.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Real time for one file. A child that takes longer is killed.
    pub time: Duration,
    /// Address space of a child. Every readable file that we met needs less than half of it.
    pub memory_bytes: u64,
    /// Processor time of a child over its whole life.
    pub cpu_seconds: u64,
    /// The HTML that one file gives.
    pub html_bytes: usize,
    /// A larger file is not given to a child.
    pub file_bytes: usize,
    /// Files that one child reads before another takes its place, so that nothing can grow for ever.
    pub files: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            time: Duration::from_secs(20),
            memory_bytes: 768 << 20,
            cpu_seconds: 120,
            html_bytes: 32 << 20,
            file_bytes: 256 << 20,
            files: 500,
        }
    }
}
