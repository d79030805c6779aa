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
    /// The bytes of the checkpoint that the journal begins with, and of the files behind it.
    pub checkpoint_bytes: u64,
    pub log_bytes: u64,
}

/// Calls `take` with every frame after the position `applied`, in order, and cuts a torn tail.
pub(crate) fn replay(
    folder: &Path,
    seed: u64,
    applied: u64,
    take: &mut dyn FnMut(Frame) -> Result<()>,
) -> Result<Tail> {
    let numbers = file::numbers(folder, seed)?;
    let mut tail = Tail { next_file: 1, next: 1, ..Tail::default() };
    let Some(&last) = numbers.last() else { return Ok(tail) };
    for number in first_needed(folder, &numbers, seed, applied)?..=last {
        let is_first = tail.next_file == 1;
        let Some(mut opened) = OpenedFile::open(folder, number, seed, number == last)? else {
            return cut_whole(folder, number, sized(folder, seed, &numbers, tail)?);
        };
        if opened.checkpoint {
            opened.replay_checkpoint(seed, applied, &mut tail, take)?;
            continue;
        }
        // The tables contain the deeds of all files before the first one that is read.
        if is_first && number != numbers[0] {
            tail.next = opened.first;
        }
        opened.replay(seed, applied, &mut tail, take)?;
    }
    sized(folder, seed, &numbers, tail)
}

/// Says how large the checkpoint and the log behind it are.
fn sized(folder: &Path, seed: u64, numbers: &[u32], mut tail: Tail) -> Result<Tail> {
    for (place, &number) in numbers.iter().enumerate() {
        let path = file::path(folder, number);
        let bytes = std::fs::metadata(&path).map_err(Error::io("look at", &path))?.len();
        let is_checkpoint = place == 0 && file::head_of(folder, number, seed)?.is_some_and(|head| head.checkpoint);
        match is_checkpoint {
            true => tail.checkpoint_bytes = bytes,
            false => tail.log_bytes += bytes.saturating_sub(HEAD_BYTES as u64),
        }
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
    /// The position of its first deed; of a checkpoint, that of the last deed that it contains.
    first: u64,
    checkpoint: bool,
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
            Ok(file::FileHead { first, checkpoint }) => {
                Ok(Some(OpenedFile { path, file, number, first, checkpoint, length, is_last }))
            }
            Err(what) => Err(Error::CorruptFile { what, path, offset: 0 }),
        }
    }

    /// A checkpoint counts only once it is whole, so anything else than whole frames is damage. Its rows are given where the
    /// tables have seen nothing; the caller sees to it that they have then no rows that the checkpoint does not contain.
    fn replay_checkpoint(
        &mut self,
        seed: u64,
        applied: u64,
        tail: &mut Tail,
        take: &mut dyn FnMut(Frame) -> Result<()>,
    ) -> Result<()> {
        let mut offset = match applied {
            0 => HEAD_BYTES as u64,
            _ => self.last_frame()?.unwrap_or(HEAD_BYTES as u64),
        };
        let mut is_whole = false;
        while offset < self.length {
            let handle = self.file.try_clone().map_err(Error::io("open", &self.path))?;
            let mut input = BufReader::new(ReadFrom { file: handle, offset });
            match frame::next(&mut input, self.length - offset, seed).map_err(Error::io("read", &self.path))? {
                FrameRead::Frame(frame, bytes) if frame.first == self.first => {
                    is_whole = frame.ends_checkpoint();
                    tail.end = frame.end;
                    offset += bytes;
                    if applied == 0 {
                        take(frame)?;
                    }
                }
                FrameRead::Frame(frame, _) => {
                    let what = format!("a frame of the checkpoint of deed {} has deed {}", self.first, frame.first);
                    return Err(self.corrupt(offset, what));
                }
                FrameRead::Unreadable(what) => return Err(self.corrupt(offset, what)),
                FrameRead::Torn(what) => return Err(self.corrupt(offset, what.to_owned())),
                FrameRead::End => break,
            }
        }
        if !is_whole {
            return Err(self.corrupt(offset, "the checkpoint ends too soon".to_owned()));
        }
        tail.next = self.first + 1;
        tail.file = None;
        tail.next_file = self.number + 1;
        Ok(())
    }

    /// Where the last frame begins, as the heads of all frames say; `None` where they do not lead to the end of the file.
    fn last_frame(&self) -> Result<Option<u64>> {
        let (mut offset, mut last) = (HEAD_BYTES as u64, None);
        while offset + frame::HEAD_BYTES as u64 <= self.length {
            let mut head = [0; frame::HEAD_BYTES];
            self.file.read_exact_at(&mut head, offset).map_err(Error::io("read", &self.path))?;
            let Some((_, bytes)) = frame::read_head(&head) else { return Ok(None) };
            last = Some(offset);
            offset += bytes;
        }
        Ok(last.filter(|_| offset == self.length))
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
