//! Writes the journal.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use vernal_model::{Deed, Moment, Partition, Sequence};

use super::file::FileHead;
use super::frame::{VisitedRanges, WrittenFrame};
use super::{Tail, file, frame};
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
                let begins = FileHead { first: tail.next, restated: false };
                (file::create(folder, number, begins, seed)?, number, file::HEAD_BYTES as u64)
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
        })
    }

    /// Begins a journal whose first deed has the position `first`. Its deeds restate what was known before.
    pub fn begin_restated(folder: &Path, seed: u64, first: u64) -> Result<Journal> {
        let file = file::create(folder, 1, FileHead { first, restated: true }, seed)?;
        let tail = Tail { file: Some((1, file::HEAD_BYTES as u64)), next: first, ..Tail::default() };
        drop(file);
        Journal::resume(folder, seed, tail)
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
        Ok(())
    }

    /// The frame that was appended last.
    pub fn written(&self) -> WrittenFrame<'_> {
        WrittenFrame { bytes: &self.buffer, places: &self.places }
    }

    fn begin_file(&mut self) -> Result<()> {
        let begins = FileHead { first: self.next, restated: false };
        self.file = file::create(&self.folder, self.number + 1, begins, self.seed)?;
        self.number += 1;
        self.length = file::HEAD_BYTES as u64;
        tracing::debug!(file = self.number, position = self.next, "journal file begun");
        Ok(())
    }
}
