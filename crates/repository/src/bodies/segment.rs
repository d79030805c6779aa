//! Segment files: their names, their order, and their ends.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use vernal_model::Moment;

use crate::{Error, Result};

/// The folder of segments within a repository.
pub(crate) const FOLDER: &str = "bodies";
const SEALED_SUFFIX: &str = ".warc.gz";
const OPEN_SUFFIX: &str = ".warc.gz.open";
const PREFIX: &str = "vernal";

/// The end of what was written: all bytes of earlier segments, and so many of this one. Serials begin with 1, so the default
/// means that nothing was written.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct End {
    pub segment: u32,
    pub length: u64,
}

/// One segment file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentFile {
    pub serial: u32,
    pub path: PathBuf,
    /// It may still grow.
    pub open: bool,
    pub bytes: u64,
}

impl SegmentFile {
    /// Where it is now: a crawl may have sealed it since it was listed.
    pub fn present_path(&self) -> PathBuf {
        if self.open && !self.path.exists() { sealed_path(&self.path) } else { self.path.clone() }
    }
}

/// The segments of the repository in `dir`, by serial. Files with other names are ignored.
pub fn segments(dir: &Path) -> Result<Vec<SegmentFile>> {
    let folder = dir.join(FOLDER);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("list", &folder)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::io("list", &folder))?;
        let name = entry.file_name();
        let Some((serial, open)) = name.to_str().and_then(serial_of) else { continue };
        let path = entry.path();
        let bytes = match fs::metadata(&path) {
            Ok(metadata) => metadata.len(),
            // The segment was renamed after the listing. The next listing of the caller finds it.
            Err(error) if open && error.kind() == std::io::ErrorKind::NotFound => {
                let sealed = sealed_path(&path);
                let bytes = fs::metadata(&sealed).map_err(Error::io("look at", &sealed))?.len();
                found.push(SegmentFile { serial, path: sealed, open: false, bytes });
                continue;
            }
            Err(error) => return Err(Error::io("look at", &path)(error)),
        };
        found.push(SegmentFile { serial, path, open, bytes });
    }
    found.sort_by(|a, b| (a.serial, a.open, &a.path).cmp(&(b.serial, b.open, &b.path)));
    found.dedup_by(|later, earlier| later.path == earlier.path);
    Ok(found)
}

/// `vernal-20260501120000-00001.warc.gz`.
pub(super) fn segment_name(serial: u32, now: Moment) -> String {
    format!("{PREFIX}-{}-{serial:05}{SEALED_SUFFIX}", now.fourteen_digits())
}

/// The name an open segment gets when it is sealed.
pub(crate) fn sealed_path(open: &Path) -> PathBuf {
    let name = open.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    open.with_file_name(name.strip_suffix(".open").unwrap_or(name))
}

/// Syncs a folder, so that new, changed and removed names survive a loss of power.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    let handle = File::open(folder).map_err(Error::io("open", folder))?;
    handle.sync_all().map_err(Error::io("sync", folder))
}

fn serial_of(name: &str) -> Option<(u32, bool)> {
    let (stem, open) = match name.strip_suffix(OPEN_SUFFIX) {
        Some(stem) => (stem, true),
        None => (name.strip_suffix(SEALED_SUFFIX)?, false),
    };
    let (time, serial) = stem.strip_prefix(PREFIX)?.strip_prefix('-')?.split_once('-')?;
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if time.len() != 14 || !all_digits(time) || serial.len() < 5 || !all_digits(serial) {
        return None;
    }
    Some((serial.parse().ok()?, open))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_carry_the_serial_and_strangers_are_left_alone() {
        let name = segment_name(7, Moment::from_secs(0));
        assert_eq!(name, "vernal-19700101000000-00007.warc.gz");
        assert_eq!(serial_of(&name), Some((7, false)));
        assert_eq!(serial_of(&format!("{name}.open")), Some((7, true)));
        assert_eq!(serial_of(&segment_name(1_234_567, Moment::EPOCH)), Some((1_234_567, false)));
        for stranger in ["x.warc.gz", "vernal-1-00001.warc.gz", "vernal-19700101000000-1.warc.gz", "vernal-.warc.gz"] {
            assert_eq!(serial_of(stranger), None, "{stranger}");
        }
    }
}
