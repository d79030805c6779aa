//! The reader of the journal: replays frames from a position on, and finds where writing goes on.

use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::file::{self, HEAD_BYTES};
use super::frame::{self, Frame, Next};
use crate::bodies::End;
use crate::{Error, Result};

/// Where the journal ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tail {
    /// The last file and its good bytes; `None` when a new one must be made.
    pub file: Option<(u32, u64)>,
    /// The number of the file to make then.
    pub next_file: u32,
    /// The position of the next deed.
    pub next: u64,
    /// The end of the bodies that the last frame acknowledged.
    pub end: End,
    /// Bytes of a torn write that were cut.
    pub cut_bytes: u64,
}

/// Gives every frame behind the position `applied` to `take`, in order, and cuts a torn tail.
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
        // The files before the first one read are older than the tables; their deeds need no reading.
        if is_first && number != numbers[0] {
            tail.next = opened.first;
        }
        opened.replay(seed, applied, &mut tail, take)?;
    }
    Ok(tail)
}

/// The first file that may hold a frame behind `applied`.
fn first_needed(folder: &Path, numbers: &[u32], seed: u64, applied: u64) -> Result<u32> {
    let last = numbers.len() - 1;
    for index in (1..=last).rev() {
        let opened = OpenedFile::open(folder, numbers[index], seed, index == last)?;
        // The file's own first frame must be there to name the end of the bodies, unless nothing is in it.
        if opened.is_some_and(|file| file.first <= applied && file.length > HEAD_BYTES as u64) {
            return Ok(numbers[index]);
        }
    }
    Ok(numbers[0])
}

/// The last file holds not even a head: its making was torn, and it will be made anew.
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
    length: u64,
    is_last: bool,
}

impl OpenedFile {
    /// `None` when the last file is shorter than a head, which a crash while making it leaves.
    fn open(folder: &Path, number: u32, seed: u64, is_last: bool) -> Result<Option<OpenedFile>> {
        let path = file::path(folder, number);
        let file = File::options().read(true).write(is_last).open(&path).map_err(Error::io("open", &path))?;
        let length = file.metadata().map_err(Error::io("look at", &path))?.len();
        let mut head = [0; HEAD_BYTES];
        if length >= HEAD_BYTES as u64 {
            file.read_exact_at(&mut head, 0).map_err(Error::io("read", &path))?;
        }
        // A file that a power cut left with its length and without its bytes is torn too.
        let torn_making = length < HEAD_BYTES as u64 || (length == HEAD_BYTES as u64 && head == [0; HEAD_BYTES]);
        if is_last && torn_making {
            return Ok(None);
        }
        match file::read_head(&head, number, seed) {
            Ok(first) => Ok(Some(OpenedFile { path, file, number, first, length, is_last })),
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
        let mut input = BufReader::new(At { file: handle, offset });
        loop {
            let next = frame::next(&mut input, self.length - offset, seed);
            match next.map_err(Error::io("read", &self.path))? {
                Next::End => break,
                Next::Unreadable(why) => return Err(self.corrupt(offset, format!("a frame cannot be read: {why}"))),
                Next::Torn(what) if tail.next <= applied => {
                    return Err(self.corrupt(offset, format!("{what}, and the tables have seen deed {applied}")));
                }
                Next::Torn(what) => {
                    self.cut(offset, seed, what)?;
                    tail.cut_bytes += self.length - offset;
                    break;
                }
                Next::Frame(frame, bytes) => {
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

    /// Where the last frame that the tables have seen begins, and the position of its first deed: what stands before it
    /// was acknowledged and applied, and needs no reading. Heads alone tell, so that an opening does not read the whole
    /// file again; where they do not, everything is read. `verify` reads it all in any case.
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

    /// Cuts a torn tail; refuses when what follows is more than a torn write leaves behind.
    fn cut(&self, offset: u64, seed: u64, what: &str) -> Result<()> {
        if !self.is_last {
            return Err(self.corrupt(offset, what.to_owned()));
        }
        let mut rest = Vec::new();
        let handle = self.file.try_clone().map_err(Error::io("open", &self.path))?;
        At { file: handle, offset }.read_to_end(&mut rest).map_err(Error::io("read", &self.path))?;
        // The first byte is skipped: no whole frame begins there.
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

/// A file read from a place on, without moving a shared position.
pub(super) struct At {
    pub(super) file: File,
    pub(super) offset: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.file.read_at(buffer, self.offset)?;
        self.offset += bytes as u64;
        Ok(bytes)
    }
}

/// Any bytes are read as a journal file without a panic and without more memory than they have.
pub fn fuzz_journal(bytes: &[u8]) {
    const SEED: u64 = 7;
    if let Some(head) = bytes.first_chunk::<HEAD_BYTES>() {
        let _ = file::read_head(head, 1, SEED);
    }
    let mut rest = bytes.get(HEAD_BYTES..).unwrap_or(bytes);
    loop {
        let remaining = rest.len() as u64;
        match frame::next(&mut rest, remaining, SEED) {
            Ok(Next::Frame(..)) => {}
            Ok(Next::End | Next::Torn(_) | Next::Unreadable(_)) | Err(_) => break,
        }
    }
    let _ = frame::holds_a_frame(bytes, SEED);
    // The payload reader must stand anything behind a good checksum too.
    frame::fuzz_payload(bytes);
}
