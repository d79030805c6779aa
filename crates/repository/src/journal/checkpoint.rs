//! A checkpoint: the rows of the tables at one position, in place of all deeds up to it.
//!
//! ```text
//! DIR/journal/checkpoint.new    a checkpoint while it is written and read back
//! DIR/journal/NNNNNNNN.log      then it takes the place of the last file that it replaces, and the files before that one go
//! DIR/journal.archive/          the replaced files of the log, where they are archived
//! ```
//!
//! A checkpoint is a file of the journal with a format of its own. Each frame has one deed, a part of the tables, and the position
//! that the rows contain; the row with the progress of the tables comes last. One rename makes it count.

use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use vernal_model::{Deed, Moment, Partition, Restated, Sequence};

use super::file::{self, FileHead, HEAD_BYTES};
use super::frame::{self, FrameRead};
use super::read::ReadFrom;
use crate::bodies::End;
use crate::folder::{make_folder, sync_folder};
use crate::{Error, Result};

const UNFINISHED_FILE: &str = "checkpoint.new";
/// The folder of replaced files within a repository.
pub(crate) const ARCHIVE: &str = "journal.archive";

/// What a checkpoint contains.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Contains {
    /// The last deed.
    pub position: u64,
    pub moment: Moment,
    /// The end of the bodies that this deed acknowledged.
    pub end: End,
}

/// A checkpoint that is being written.
pub(crate) struct Checkpoint {
    path: PathBuf,
    file: File,
    seed: u64,
    /// The file of the journal whose place it takes.
    number: u32,
    contains: Contains,
    length: u64,
    /// Bytes that were read back.
    read: u64,
    buffer: Vec<u8>,
}

impl Checkpoint {
    /// Begins a checkpoint that will replace the files up to `number`.
    pub fn begin(folder: &Path, seed: u64, number: u32, contains: Contains) -> Result<Checkpoint> {
        Checkpoint::begin_at(folder.join(UNFINISHED_FILE), seed, number, contains)
    }

    /// Begins a checkpoint that is the first file of a journal of its own.
    pub fn begin_journal(folder: &Path, seed: u64, contains: Contains) -> Result<Checkpoint> {
        Checkpoint::begin_at(file::path(folder, 1), seed, 1, contains)
    }

    fn begin_at(path: PathBuf, seed: u64, number: u32, contains: Contains) -> Result<Checkpoint> {
        let file = file::create_at(&path, number, FileHead { first: contains.position, checkpoint: true }, seed)?;
        let length = HEAD_BYTES as u64;
        Ok(Checkpoint { path, file, seed, number, contains, length, read: length, buffer: Vec::new() })
    }

    pub fn append(&mut self, restated: Restated) -> Result<()> {
        let deed = Deed::Restated(Box::new(restated));
        let Contains { position, moment, end } = self.contains;
        let entry = std::iter::once((Partition(0), Sequence(0), &deed));
        frame::encode((&mut self.buffer, &mut Vec::new()), self.seed, moment, end, position, entry)?;
        self.file.write_all_at(&self.buffer, self.length).map_err(Error::io("write", &self.path))?;
        self.length += self.buffer.len() as u64;
        Ok(())
    }

    /// The bytes that were written.
    pub fn length(&self) -> u64 {
        self.length
    }

    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(Error::io("sync", &self.path))
    }

    /// Reads at least so many bytes back. True when all of it was read and is whole.
    pub fn read_back(&mut self, bytes: u64) -> Result<bool> {
        let from = self.read;
        while self.read < self.length {
            if self.read - from >= bytes {
                return Ok(false);
            }
            let handle = self.file.try_clone().map_err(Error::io("open", &self.path))?;
            let mut input = BufReader::new(ReadFrom { file: handle, offset: self.read });
            match frame::next(&mut input, self.length - self.read, self.seed) {
                Ok(FrameRead::Frame(frame, bytes)) if frame.first == self.contains.position => self.read += bytes,
                Ok(_) => return Err(self.corrupt()),
                Err(error) => return Err(Error::io("read", &self.path)(error)),
            }
        }
        Ok(true)
    }

    fn corrupt(&self) -> Error {
        let what = "what was written cannot be read back".to_owned();
        Error::CorruptFile { what, path: self.path.clone(), offset: self.read }
    }

    /// Puts the whole checkpoint, which was read back, in the place of the files that it replaces. They go to `archive` if that is
    /// given. A crash between any two steps leaves a journal that leads to the same rows.
    pub fn put_in_place(self, folder: &Path, archive: Option<&Path>) -> Result<u64> {
        if let Some(archive) = archive {
            archive_files(folder, self.seed, self.number, archive)?;
        }
        let place = file::path(folder, self.number);
        fs::rename(&self.path, &place).map_err(Error::io("put in place", &self.path))?;
        sync_folder(folder)?;
        remove_replaced(folder, self.seed)?;
        Ok(self.length)
    }

    /// Removes what was written.
    pub fn abandon(self) {
        // Where it stays, the next checkpoint overwrites it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Copies the files of the log up to `number` into the archive, which then has them under the same names. Earlier checkpoints
/// are left out, because the archive has the deeds that they replaced.
fn archive_files(folder: &Path, seed: u64, number: u32, archive: &Path) -> Result<()> {
    make_folder(archive)?;
    for old in file::listed(folder)?.into_iter().filter(|old| *old <= number) {
        let to = file::path(archive, old);
        if to.exists() || file::head_of(folder, old, seed)?.is_some_and(|head| head.checkpoint) {
            continue;
        }
        let (from, fresh) = (file::path(folder, old), archive.join("archived.new"));
        // A second name for the same bytes, where the file system has such; else a copy.
        let _ = fs::remove_file(&fresh);
        if fs::hard_link(&from, &fresh).is_err() {
            fs::copy(&from, &fresh).map_err(Error::io("archive", &from))?;
        }
        let written = File::open(&fresh).and_then(|file| file.sync_all());
        written.map_err(Error::io("sync", &fresh))?;
        fs::rename(&fresh, &to).map_err(Error::io("archive", &from))?;
    }
    sync_folder(archive)
}

/// Removes the files before the last checkpoint and an unfinished checkpoint, which a crash may leave behind.
pub(crate) fn remove_replaced(folder: &Path, seed: u64) -> Result<()> {
    let (_, replaced) = file::in_force(folder, seed)?;
    let unfinished = folder.join(UNFINISHED_FILE);
    let all = replaced.into_iter().map(|number| file::path(folder, number));
    for path in all.chain(unfinished.exists().then_some(unfinished)) {
        fs::remove_file(&path).map_err(Error::io("remove", &path))?;
    }
    Ok(())
}

/// The last deed that the checkpoint at the beginning of the journal contains; 0 where the journal begins with the first deed.
pub(crate) fn begins_after(folder: &Path, seed: u64) -> Result<u64> {
    let (numbers, _) = file::in_force(folder, seed)?;
    let head = numbers.first().map(|number| file::head_of(folder, *number, seed)).transpose()?.flatten();
    Ok(head.filter(|head| head.checkpoint).map_or(0, |head| head.first))
}
