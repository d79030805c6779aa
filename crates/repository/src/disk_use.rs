//! What the parts of a repository take on disk.

use std::path::Path;

use vernal_model::DiskBytes;

use crate::bodies::segments;
use crate::recover::TABLES_FOLDER;
use crate::{Reader, Result, journal};

impl Reader {
    /// What the parts of the repository take on disk now.
    pub fn disk_bytes(&self) -> Result<DiskBytes> {
        let bodies = segments(self.dir())?.iter().map(|segment| segment.bytes).sum();
        let of = |name: &str| bytes_below(&self.dir().join(name));
        Ok(DiskBytes { bodies, journal: of(journal::FOLDER), tables: of(TABLES_FOLDER) })
    }
}

/// The files below a folder, added up; what goes meanwhile counts nothing.
fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let bytes = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(data) if data.is_dir() => bytes_below(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    entries.filter_map(std::result::Result::ok).map(bytes).sum()
}
