//! Reads the journal: replays frames from a position on and finds the end, where writing continues.

use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::file::{self, HEAD_BYTES};
use super::frame::{self, Frame, FrameRead};
use crate::bodies::End;
use crate::{Error, Result};

/// Where the journal ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tail {
    /// The last file and its valid length; `None` when a new one must be made.
    pub file: Option<(u32, u64)>,
    /// The number of the next file.
    pub next_file: u32,
    /// The position of the next deed.
    pub next: u64,
    /// The end of the bodies that the last frame acknowledged.
    pub end: End,
    /// Bytes of a torn write that were cut.
    pub cut_bytes: u64,
}

/// Calls `take` with every frame after the position `applied`, in order, and cuts a torn tail.
pub(crate) fn replay(
    folder: &Path,
    seed: u64,
    applied: u64,
    take: &mut dyn FnMut(Frame) -> Result<()>,
) -> Result<Tail> {
    let numbers = file::numbers(folder)?;
    let mut tail = Tail { next_file: 1, next: 1, ..Tail::default() };
    let Some(&last) = numbers.last() else { return Ok(tail) };
    for number in first_needed(folder, &numbers, seed, applied)?..=last {
        let is_first = tail.file.is_none();
        let Some(mut opened) = OpenedFile::open(folder, number, seed, number == last)? else {
            return cut_whole(folder, number, tail);
        };
        // The tables contain the deeds of all files before the first one that is read. A restated file has all there is.
        if is_first && (number != numbers[0] || opened.restated) {
            tail.next = opened.first;
        }
        opened.replay(seed, applied, &mut tail, take)?;
    }
    Ok(tail)
}

/// The first file that may hold a frame after `applied`.
fn first_needed(folder: &Path, numbers: &[u32], seed: u64, applied: u64) -> Result<u32> {
    let last = numbers.len() - 1;
    for index in (1..=last).rev() {
        let opened = OpenedFile::open(folder, numbers[index], seed, index == last)?;
        // Its first frame is needed for the end of the bodies, unless the file is empty.
        if opened.is_some_and(|file| file.first <= applied && file.length > HEAD_BYTES as u64) {
            return Ok(numbers[index]);
        }
    }
    Ok(numbers[0])
}

/// The last file has no whole head, because making it was interrupted. It will be made again.
fn cut_whole(folder: &Path, number: u32, mut tail: Tail) -> Result<Tail> {
    let path = file::path(folder, number);
    let length = std::fs::metadata(&path).map_err(Error::io("look at", &path))?.len();
    tail.cut_bytes += length;
    tail.file = None;
    tail.next_file = number;
    Ok(tail)
}

struct OpenedFile {
    path: std::path::PathBuf,
    file: File,
    number: u32,
    /// The position of its first deed.
    first: u64,
    /// Nothing is missing before it.
    restated: bool,
    length: u64,
    is_last: bool,
}

impl OpenedFile {
    /// `None` when the last file is shorter than a head, as a crash may leave it.
    fn open(folder: &Path, number: u32, seed: u64, is_last: bool) -> Result<Option<OpenedFile>> {
        let path = file::path(folder, number);
        let file = File::options().read(true).write(is_last).open(&path).map_err(Error::io("open", &path))?;
        let length = file.metadata().map_err(Error::io("look at", &path))?.len();
        let mut head = [0; HEAD_BYTES];
        if length >= HEAD_BYTES as u64 {
            file.read_exact_at(&mut head, 0).map_err(Error::io("read", &path))?;
        }
        // A power cut may leave a file with its length but without its bytes. That is torn too.
        let torn_making = length < HEAD_BYTES as u64 || (length == HEAD_BYTES as u64 && head == [0; HEAD_BYTES]);
        if is_last && torn_making {
            return Ok(None);
        }
        match file::read_head(&head, number, seed) {
            Ok(file::FileHead { first, restated }) => {
                Ok(Some(OpenedFile { path, file, number, first, restated, length, is_last }))
            }
            Err(what) => Err(Error::CorruptFile { what, path, offset: 0 }),
        }
    }

    fn replay(
        &mut self,
        seed: u64,
        applied: u64,
        tail: &mut Tail,
        take: &mut dyn FnMut(Frame) -> Result<()>,
    ) -> Result<()> {
        if self.first != tail.next {
            return Err(self.corrupt(0, format!("it begins with deed {}, {} was due", self.first, tail.next)));
        }
        let (mut offset, first) = self.passed(applied)?.unwrap_or((HEAD_BYTES as u64, tail.next));
        tail.next = first;
        let handle = self.file.try_clone().map_err(Error::io("open", &self.path))?;
        let mut input = BufReader::new(ReadFrom { file: handle, offset });
        loop {
            let next = frame::next(&mut input, self.length - offset, seed);
            match next.map_err(Error::io("read", &self.path))? {
                FrameRead::End => break,
                FrameRead::Unreadable(why) => {
                    return Err(self.corrupt(offset, format!("a frame cannot be read: {why}")));
                }
                FrameRead::Torn(what) if tail.next <= applied => {
                    return Err(self.corrupt(offset, format!("{what}, and the tables have seen deed {applied}")));
                }
                FrameRead::Torn(what) => {
                    self.cut(offset, seed, what)?;
                    tail.cut_bytes += self.length - offset;
                    break;
                }
                FrameRead::Frame(frame, bytes) => {
                    if frame.first != tail.next {
                        let what = format!("a frame begins with deed {}, {} was due", frame.first, tail.next);
                        return Err(self.corrupt(offset, what));
                    }
                    tail.next += frame.entries.len() as u64;
                    tail.end = frame.end;
                    if frame.first > applied {
                        take(frame)?;
                    }
                    offset += bytes;
                }
            }
        }
        tail.file = Some((self.number, offset));
        tail.next_file = self.number + 1;
        Ok(())
    }

    /// The offset of the last frame that the tables have applied, and the position of its first deed. Frames before it need
    /// not be read. Only heads are read for this, so that opening does not read the whole file. Where heads do not suffice,
    /// everything is read. `verify` always reads everything.
    fn passed(&self, applied: u64) -> Result<Option<(u64, u64)>> {
        let mut seen = None;
        let mut offset = HEAD_BYTES as u64;
        let mut due = self.first;
        while offset + frame::HEAD_BYTES as u64 <= self.length {
            let mut head = [0; frame::HEAD_BYTES];
            self.file.read_exact_at(&mut head, offset).map_err(Error::io("read", &self.path))?;
            let Some((first, bytes)) = frame::read_head(&head).filter(|(first, _)| *first >= due) else {
                return Ok(None);
            };
            if first > applied {
                break;
            }
            seen = Some((offset, first));
            due = first + 1;
            offset += bytes;
        }
        Ok(seen.filter(|_| offset <= self.length))
    }

    /// Cuts a torn tail. Refuses when the bytes after it cannot come from a torn write.
    fn cut(&self, offset: u64, seed: u64, what: &str) -> Result<()> {
        if !self.is_last {
            return Err(self.corrupt(offset, what.to_owned()));
        }
        let mut rest = Vec::new();
        let handle = self.file.try_clone().map_err(Error::io("open", &self.path))?;
        ReadFrom { file: handle, offset }.read_to_end(&mut rest).map_err(Error::io("read", &self.path))?;
        // No whole frame begins at the first byte, so it is skipped.
        if frame::holds_a_frame(rest.get(1..).unwrap_or_default(), seed) {
            return Err(self.corrupt(offset, format!("{what}, and whole frames follow")));
        }
        self.file.set_len(offset).map_err(Error::io("cut the torn end of", &self.path))?;
        self.file.sync_all().map_err(Error::io("sync", &self.path))
    }

    fn corrupt(&self, offset: u64, what: String) -> Error {
        Error::CorruptFile { what, path: self.path.clone(), offset }
    }
}

/// Reads a file from an offset on without moving its shared position.
pub(super) struct ReadFrom {
    pub(super) file: File,
    pub(super) offset: u64,
}

impl Read for ReadFrom {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.file.read_at(buffer, self.offset)?;
        self.offset += bytes as u64;
        Ok(bytes)
    }
}
