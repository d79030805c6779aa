//! Opens a repository that cannot be written: on a read-only mount, on a full disk, or in a folder of somebody else.
//!
//! The store writes at every opening. So the journal and the caches are copied to a folder of their own, and the segments, which
//! are most of the bytes, are read where they lie. What such a process writes is lost with its folder.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;
use vernal_model::Moment;

use crate::bodies::{sealed_path, segments};
use crate::recover::{Recovery, TABLES_FOLDER};
use crate::repository::{Repository, Settings};
use crate::{Error, Result, folder, graph, journal, mend, passes, sieve};

/// Journal and caches beyond this are not copied: it would take minutes before the first answer.
const COPIED_BYTES_MAX: u64 = 8 << 30;

/// A copy of a repository that cannot be written. The folder lives as long as this.
pub struct ReadOnlyCopy {
    pub repository: Repository,
    pub recovery: Recovery,
    pub folder: TempDir,
}

impl Repository {
    /// Opens a copy of the repository in `dir`, which nothing is written to. The copy lies in the folder for temporary files.
    pub fn open_copy(dir: &Path, settings: Settings, now: Moment) -> Result<ReadOnlyCopy> {
        let _held = held_by_nobody(dir)?;
        let dir = fs::canonicalize(dir).map_err(Error::io("find", dir))?;
        let copy = tempfile::Builder::new().prefix("vernal-").tempdir();
        let copy = copy.map_err(Error::io("make a folder in", &std::env::temp_dir()))?;
        let folders = [journal::FOLDER, mend::FOLDER, TABLES_FOLDER, sieve::FOLDER, graph::FOLDER, passes::FOLDER];
        let mut room = COPIED_BYTES_MAX;
        for name in folders.into_iter().chain(folder::COPIED_FILES) {
            copy_all(&dir.join(name), &copy.path().join(name), &mut room)?;
        }
        for segment in segments(&dir)? {
            // Under the name of a sealed one, because those are never written.
            let name = sealed_path(&segment.path);
            let link = copy.path().join(name.strip_prefix(&dir).unwrap_or(&name));
            folder::make_folder(link.parent().unwrap_or(copy.path()))?;
            symlink(&segment.path, &link).map_err(Error::io("link", &link))?;
        }
        let (repository, recovery) = Repository::open(copy.path(), settings, now)?;
        Ok(ReadOnlyCopy { repository, recovery, folder: copy })
    }
}

/// Fails while another process writes. The lock file is opened for reading, because nothing can be written.
fn held_by_nobody(dir: &Path) -> Result<Option<File>> {
    let path = dir.join(folder::LOCK_FILE);
    let file = match File::open(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(Error::io("open", &path))?,
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            let process = fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
            Err(Error::Held { dir: dir.to_owned(), process })
        }
        Err(TryLockError::Error(error)) => Err(Error::io("lock", &path)(error)),
    }
}

/// Copies a file or a folder, if it is there.
fn copy_all(from: &Path, to: &Path, room: &mut u64) -> Result<()> {
    let metadata = match fs::metadata(from) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        read => read.map_err(Error::io("look at", from))?,
    };
    if metadata.is_dir() {
        fs::create_dir_all(to).map_err(Error::io("make", to))?;
        for entry in fs::read_dir(from).map_err(Error::io("list", from))? {
            let entry = entry.map_err(Error::io("list", from))?;
            copy_all(&entry.path(), &to.join(entry.file_name()), room)?;
        }
        return Ok(());
    }
    *room = room.checked_sub(metadata.len()).ok_or(Error::CopyTooLarge { limit: COPIED_BYTES_MAX })?;
    // Not `fs::copy`, which would copy the permissions too: the copy must be writable.
    let mut source = File::open(from).map_err(Error::io("open", from))?;
    let mut target = File::create(to).map_err(Error::io("make", to))?;
    std::io::copy(&mut source, &mut target).map_err(Error::io("write", to)).map(drop)
}
