//! What the files of the tables were when they were closed, so that the next opening notices what was damaged since.
//!
//! ```text
//! DIR/tables/closed      one line per file: bytes, XXH3-64 of its content or `-`, path; then "sum" and XXH3-64 of these lines
//! DIR/tables/distrusted  a read met damage; the tables are made anew at the next opening
//! ```
//!
//! The store has checksums of its own, but it reads a log that was cut as one that ends there, and old rows then pass for new
//! ones. The mark is removed before the store is opened, so that it always speaks of files that nobody has written since.
//! After a crash there is none. A mark that cannot be read counts as none.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::store::{FLUSHED_FILE, STORE_LOG_SUFFIX};
use crate::folder::sync_folder;
use crate::{Error, Result};

const CLOSED_FILE: &str = "closed";
const DISTRUSTED_FILE: &str = "distrusted";
/// Of each table the store has a file that names its newest list of table files, by number and checksum.
const KEYSPACES_FOLDER: &str = "keyspaces";
const CURRENT_FILE: &str = "current";
const SUM: &str = "sum ";
/// Tables up to this size are compared byte by byte at each opening.
const COMPARED_BYTES_MAX: u64 = 64 << 20;
/// Of larger tables only files up to this size are: those that say which files there are. The checksums of the store guard
/// the others, whose length is compared.
const SMALL_FILE_BYTES_MAX: u64 = 64 << 10;

/// Writes the mark when the tables are dropped, if they were closed in order.
#[derive(Default)]
pub(crate) struct ClosedMark {
    folder: PathBuf,
    in_order: AtomicBool,
}

impl ClosedMark {
    pub fn of(folder: PathBuf) -> ClosedMark {
        ClosedMark { folder, in_order: AtomicBool::new(false) }
    }

    /// Everything is synced and nothing will be written any more.
    pub fn set(&self) {
        self.in_order.store(true, Ordering::Relaxed);
    }
}

impl Drop for ClosedMark {
    fn drop(&mut self) {
        if self.in_order.load(Ordering::Relaxed)
            && let Err(error) = write(&self.folder)
        {
            // Without the mark the next opening trusts the checksums of the store, as after a crash.
            tracing::debug!("the tables were closed without a mark: {error}");
        }
    }
}

/// Compares the files of the tables with the mark, and removes it. `CorruptFile` names the first file that differs.
pub(crate) fn check(folder: &Path) -> Result<()> {
    let distrusted = folder.join(DISTRUSTED_FILE);
    if distrusted.exists() {
        return Err(damaged(&distrusted, "a read met damage in the tables"));
    }
    check_lists(folder)?;
    let path = folder.join(CLOSED_FILE);
    let Ok(bytes) = fs::read(&path) else { return Ok(()) };
    let written = String::from_utf8_lossy(&bytes).into_owned();
    if let Some(lines) = whole(&written) {
        compare(folder, lines, &described(folder)?)?;
    }
    fs::remove_file(&path).map_err(Error::io("remove", &path))?;
    sync_folder(folder)
}

/// Checks the lists of table files, of which the store writes a checksum that it does not read. Without this a table file
/// that a damaged list does not name is silently removed.
fn check_lists(folder: &Path) -> Result<()> {
    let Ok(tables) = fs::read_dir(folder.join(KEYSPACES_FOLDER)) else { return Ok(()) };
    for table in tables {
        let table = table.map_err(Error::io("list", folder))?.path();
        // What is no such file is left to the store, which refuses it.
        let Ok(current) = fs::read(table.join(CURRENT_FILE)) else { continue };
        let Some((number, rest)) = current.split_first_chunk::<8>() else { continue };
        let Some(sum) = rest.first_chunk::<16>() else { continue };
        let list = table.join(format!("v{}", u64::from_le_bytes(*number)));
        let bytes = fs::read(&list).map_err(Error::io("read", &list))?;
        if xxh3_128(&bytes) != u128::from_le_bytes(*sum) {
            return Err(damaged(&list, "its checksum is wrong"));
        }
    }
    Ok(())
}

/// Has the tables made anew at the next opening.
pub(crate) fn distrust(folder: &Path) -> Result<()> {
    let path = folder.join(DISTRUSTED_FILE);
    fs::write(&path, b"").map_err(Error::io("make", &path))
}

fn write(folder: &Path) -> Result<()> {
    let lines = described(folder)?;
    let (path, fresh) = (folder.join(CLOSED_FILE), folder.join("closed.new"));
    let sum = xxh3_64(lines.as_bytes());
    fs::write(&fresh, format!("{lines}{SUM}{sum:016x}\n")).map_err(Error::io("write", &fresh))?;
    fs::rename(&fresh, &path).map_err(Error::io("make", &path))
}

/// The lines before the sum; `None` where the sum is wrong.
fn whole(text: &str) -> Option<&str> {
    let (lines, sum) = text.trim_end().rsplit_once(SUM)?;
    (sum == format!("{:016x}", xxh3_64(lines.as_bytes()))).then_some(lines)
}

fn compare(folder: &Path, written: &str, found: &str) -> Result<()> {
    let differing = |one: &str, other: &str| one.lines().find(|line| !other.lines().any(|its| its == *line)).map(name);
    match differing(written, found).or_else(|| differing(found, written)) {
        None => Ok(()),
        Some(name) => Err(damaged(&folder.join(name), "it is not what it was when the tables were closed")),
    }
}

fn name(line: &str) -> String {
    line.splitn(3, ' ').nth(2).unwrap_or_default().to_owned()
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::CorruptFile { what: what.to_owned(), path: path.to_owned(), offset: 0 }
}

/// One line for each file of the store.
fn described(folder: &Path) -> Result<String> {
    let mut files = Vec::new();
    list(folder, folder, &mut files)?;
    files.sort_unstable();
    let stored = files.iter().filter(|(name, _)| !name.ends_with(STORE_LOG_SUFFIX)).map(|(_, bytes)| bytes);
    let compared = stored.sum::<u64>() <= COMPARED_BYTES_MAX;
    // Of tables that were flushed the log is emptied at the next opening.
    let is_flushed = folder.join(FLUSHED_FILE).exists();
    let mut lines = String::new();
    for (name, bytes) in files {
        let is_log = name.ends_with(STORE_LOG_SUFFIX);
        if is_log && is_flushed {
            continue;
        }
        let is_read = is_log || compared || bytes <= SMALL_FILE_BYTES_MAX;
        let path = folder.join(&name);
        let content = match is_read {
            true => format!("{:016x}", xxh3_64(&fs::read(&path).map_err(Error::io("read", &path))?)),
            false => "-".to_owned(),
        };
        let _ = writeln!(lines, "{bytes} {content} {name}");
    }
    Ok(lines)
}

fn list(folder: &Path, top: &Path, files: &mut Vec<(String, u64)>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let path = entry.map_err(Error::io("list", folder))?.path();
        let metadata = fs::metadata(&path).map_err(Error::io("look at", &path))?;
        if metadata.is_dir() {
            list(&path, top, files)?;
            continue;
        }
        let name = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().into_owned();
        if !name.starts_with(CLOSED_FILE) {
            files.push((name, metadata.len()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_since_the_tables_were_closed_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path();
        fs::create_dir(folder.join("deep")).unwrap();
        fs::write(folder.join("deep/one"), b"one").unwrap();
        fs::write(folder.join("0.jnl"), b"log").unwrap();
        check(folder).unwrap();
        let closed = || {
            let mark = ClosedMark::of(folder.to_owned());
            mark.set();
            drop(mark);
        };
        closed();
        check(folder).unwrap();
        assert!(!folder.join(CLOSED_FILE).exists(), "the mark is gone while the tables are open");
        closed();
        fs::write(folder.join("deep/one"), b"two").unwrap();
        let told = check(folder).unwrap_err();
        assert!(told.to_string().contains("deep/one") && told.is_damage(), "{told}");
        closed();
        fs::write(folder.join("0.jnl"), b"").unwrap();
        assert!(check(folder).unwrap_err().to_string().contains("0.jnl"));
        closed();
        fs::remove_file(folder.join("0.jnl")).unwrap();
        assert!(check(folder).unwrap_err().to_string().contains("0.jnl"));
        fs::write(folder.join(CLOSED_FILE), b"torn").unwrap();
        check(folder).unwrap();
        distrust(folder).unwrap();
        assert!(check(folder).unwrap_err().is_damage());
    }
}
