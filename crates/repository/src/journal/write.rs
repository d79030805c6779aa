//! Writes the journal.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use vernal_model::{Deed, Moment, Partition, Sequence};

use super::frame::{VisitedRanges, WrittenFrame};
use super::{Checkpoint, Contains, Tail, file, frame};
use crate::bodies::End;
use crate::{Error, Result};

/// A file that has reached this size is followed by a new one.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// A larger buffer is freed before the next group.
const BUFFER_BYTES_KEPT: usize = 4 << 20;

pub(crate) struct Journal {
    folder: PathBuf,
    seed: u64,
    file: File,
    number: u32,
    length: u64,
    /// The position of the next deed.
    next: u64,
    buffer: Vec<u8>,
    /// The ranges of the visit deeds in the buffer.
    places: Vec<Option<VisitedRanges>>,
    /// A write failed and its bytes could not be removed, or a sync failed and the state on disk is unknown.
    broken: bool,
    file_bytes_max: u64,
    /// The end of the bodies that the last frame acknowledged.
    end: End,
    checkpoint_bytes: u64,
    /// The bytes behind the checkpoint.
    log_bytes: u64,
}

impl Journal {
    /// Continues at the end that `replay` found.
    pub fn resume(folder: &Path, seed: u64, tail: Tail) -> Result<Journal> {
        let (file, number, length) = match tail.file {
            Some((number, length)) => {
                let path = file::path(folder, number);
                let file = File::options().read(true).write(true).open(&path).map_err(Error::io("open", &path))?;
                (file, number, length)
            }
            None => {
                let number = tail.next_file;
                (file::create(folder, number, tail.next, seed)?, number, file::HEAD_BYTES as u64)
            }
        };
        Ok(Journal {
            folder: folder.to_owned(),
            seed,
            file,
            number,
            length,
            next: tail.next,
            buffer: Vec::new(),
            places: Vec::new(),
            broken: false,
            file_bytes_max: FILE_BYTES_MAX,
            end: tail.end,
            checkpoint_bytes: tail.checkpoint_bytes,
            log_bytes: tail.log_bytes,
        })
    }

    #[cfg(test)]
    pub fn with_file_bytes_max(mut self, bytes: u64) -> Journal {
        self.file_bytes_max = bytes;
        self
    }

    /// Appends one group as one frame, which is durable when this returns. On an error either nothing was appended, or the
    /// journal refuses all further writes.
    pub fn append<'a>(
        &mut self,
        moment: Moment,
        end: End,
        entries: impl ExactSizeIterator<Item = (Partition, Sequence, &'a Deed)>,
    ) -> Result<()> {
        if self.broken {
            return Err(Error::Broken);
        }
        let deeds = entries.len() as u64;
        if self.buffer.capacity() > BUFFER_BYTES_KEPT {
            self.buffer = Vec::new();
        }
        frame::encode((&mut self.buffer, &mut self.places), self.seed, moment, end, self.next, entries)?;
        if self.length >= self.file_bytes_max {
            self.begin_file()?;
        }
        let path = file::path(&self.folder, self.number);
        if let Err(source) = self.file.write_all_at(&self.buffer, self.length) {
            // After a full disk, writing may go on later: the half-written frame is removed.
            self.broken = self.file.set_len(self.length).is_err();
            return Err(Error::io("append to", &path)(source));
        }
        if let Err(source) = self.file.sync_data() {
            self.broken = true;
            return Err(Error::io("sync", &path)(source));
        }
        self.length += self.buffer.len() as u64;
        self.next += deeds;
        self.end = end;
        self.log_bytes += self.buffer.len() as u64;
        Ok(())
    }

    /// The bytes of the checkpoint that the journal begins with, and of the log behind it.
    pub fn sizes(&self) -> (u64, u64) {
        (self.checkpoint_bytes, self.log_bytes)
    }

    /// The last deed that the checkpoint at its beginning contains.
    pub fn begins_after(&self) -> Result<u64> {
        super::begins_after(&self.folder, self.seed)
    }

    /// Begins a checkpoint in the place of all files up to here. What is appended from now on goes to a new file.
    pub fn begin_checkpoint(&mut self, position: u64, moment: Moment) -> Result<Checkpoint> {
        let (number, contains) = (self.number, Contains { position, moment, end: self.end });
        self.begin_file()?;
        Checkpoint::begin(&self.folder, self.seed, number, contains)
    }

    /// Puts a checkpoint in the place of the files that it replaces, and counts what is left behind it.
    pub fn put_checkpoint(&mut self, checkpoint: Checkpoint, archive: Option<&Path>) -> Result<()> {
        self.checkpoint_bytes = checkpoint.put_in_place(&self.folder, archive)?;
        self.log_bytes = 0;
        for number in file::in_force(&self.folder, self.seed)?.0.into_iter().skip(1) {
            let path = file::path(&self.folder, number);
            let bytes = std::fs::metadata(&path).map_err(Error::io("look at", &path))?.len();
            self.log_bytes += bytes.saturating_sub(file::HEAD_BYTES as u64);
        }
        Ok(())
    }

    /// The frame that was appended last.
    pub fn written(&self) -> WrittenFrame<'_> {
        WrittenFrame { bytes: &self.buffer, places: &self.places }
    }

    fn begin_file(&mut self) -> Result<()> {
        self.file = file::create(&self.folder, self.number + 1, self.next, self.seed)?;
        self.number += 1;
        self.length = file::HEAD_BYTES as u64;
        tracing::debug!(file = self.number, position = self.next, "journal file begun");
        Ok(())
    }
}
