//! Reading members from files that may be torn, damaged or hostile: every step has a limit.

use std::io::{self, Read, Seek, SeekFrom};

use flate2::{Decompress, FlushDecompress, Status};

const WINDOW_BYTES: usize = 64 << 10; // read at a time
const NAME_BYTES_MAX: usize = 4 << 10; // names and comments in a member's header; ours have none

/// Why a record cannot be read.
#[derive(Debug)]
pub(super) enum Fault {
    Io(io::Error),
    /// The file ends within it.
    Truncated,
    /// The stream is complete, but its CRC-32 or length differs. The next member begins where this one ended.
    Checksum,
    Malformed(String),
    /// A limit was exceeded, so the scan stops.
    TooLarge(&'static str),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Io(error)
    }
}

pub(super) fn malformed<T>(what: &str) -> Result<T, Fault> {
    Err(Fault::Malformed(what.to_owned()))
}

/// A buffered window over a file. It can move back.
pub(super) struct Window<R> {
    inner: R,
    window: Vec<u8>,
    window_start: u64,
    place: usize,
}

impl Window<io::Empty> {
    /// A window over bytes in memory.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        Window { inner: io::empty(), window: bytes, window_start: 0, place: 0 }
    }
}

impl<R: Read + Seek> Window<R> {
    pub(super) fn new(inner: R) -> Self {
        Window { inner, window: Vec::new(), window_start: 0, place: 0 }
    }

    pub(super) fn offset(&self) -> u64 {
        self.window_start + self.place as u64
    }

    /// The bytes ahead: at least so many, fewer only at the end of the file.
    pub(super) fn peek(&mut self, bytes_min: usize) -> io::Result<&[u8]> {
        while self.window.len() - self.place < bytes_min {
            if self.place > 0 {
                self.window.drain(..self.place);
                self.window_start += self.place as u64;
                self.place = 0;
            }
            let had = self.window.len();
            self.window.resize(had + WINDOW_BYTES.max(bytes_min - had), 0);
            let read = loop {
                match self.inner.read(&mut self.window[had..]) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    other => break other,
                }
            };
            self.window.truncate(had + *read.as_ref().unwrap_or(&0));
            if read? == 0 {
                break;
            }
        }
        Ok(&self.window[self.place..])
    }

    /// Moves on by bytes that `peek` has shown.
    pub(super) fn consume(&mut self, bytes: usize) {
        debug_assert!(self.place + bytes <= self.window.len(), "only what was seen is passed");
        self.place += bytes;
    }

    pub(super) fn seek(&mut self, offset: u64) -> io::Result<()> {
        if (self.window_start..=self.window_start + self.window.len() as u64).contains(&offset) {
            self.place = (offset - self.window_start) as usize;
            return Ok(());
        }
        self.window.clear();
        (self.window_start, self.place) = (offset, 0);
        self.inner.seek(SeekFrom::Start(offset)).map(|_| ())
    }

    /// Moves to the next place where `needle` lies; false, at the end, if there is none.
    pub(super) fn find(&mut self, needle: &[u8]) -> io::Result<bool> {
        loop {
            let ahead = self.peek(needle.len())?;
            if ahead.len() < needle.len() {
                let rest = ahead.len();
                self.consume(rest);
                return Ok(false);
            }
            let found = ahead.windows(needle.len()).position(|window| window == needle);
            let passed = found.unwrap_or(ahead.len() - needle.len() + 1);
            self.consume(passed);
            if found.is_some() {
                return Ok(true);
            }
        }
    }

    /// Reads exactly so many bytes.
    pub(super) fn take(&mut self, bytes: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
        let mut left = bytes;
        while left > 0 {
            let ahead = self.peek(1)?;
            let now = ahead.len().min(left);
            if now == 0 {
                return Err(Fault::Truncated);
            }
            out.extend_from_slice(&ahead[..now]);
            self.consume(now);
            left -= now;
        }
        Ok(())
    }
}

/// Unpacks members, reusing one decompressor.
pub(super) struct Inflater {
    decompress: Decompress,
}

impl Inflater {
    pub(super) fn new() -> Self {
        Inflater { decompress: Decompress::new(false) }
    }

    /// Unpacks the member that begins here into `out`, which is emptied first.
    pub(super) fn member<R: Read + Seek>(
        &mut self,
        source: &mut Window<R>,
        out: &mut Vec<u8>,
        bytes_max: usize,
    ) -> Result<(), Fault> {
        out.clear();
        member_header(source)?;
        self.decompress.reset(false);
        loop {
            if out.len() > bytes_max {
                return Err(Fault::TooLarge("a gzip member unpacks to more than a record may have"));
            }
            if out.capacity() == out.len() {
                out.reserve(out.len().clamp(256, 1 << 20).min(bytes_max + 1 - out.len()).max(1));
            }
            let ahead = source.peek(1)?;
            let nothing_ahead = ahead.is_empty();
            let before = (self.decompress.total_in(), out.len());
            let Ok(status) = self.decompress.decompress_vec(ahead, out, FlushDecompress::None) else {
                return malformed("deflate data is damaged");
            };
            let taken = (self.decompress.total_in() - before.0) as usize;
            source.consume(taken);
            match status {
                Status::StreamEnd => break,
                _ if taken == 0 && out.len() == before.1 && nothing_ahead => return Err(Fault::Truncated),
                _ => {}
            }
        }
        let mut trailer = Vec::with_capacity(8);
        source.take(8, &mut trailer)?;
        let expected = [crc32fast::hash(out).to_le_bytes(), (out.len() as u32).to_le_bytes()].concat();
        if trailer == expected { Ok(()) } else { Err(Fault::Checksum) }
    }

    /// Whether a member that begins here unpacks to something that begins as a WARC record does. Does not move.
    pub(super) fn begins_record<R: Read + Seek>(&mut self, source: &mut Window<R>) -> io::Result<bool> {
        const START: &[u8] = b"WARC/";
        let here = source.offset();
        let mut start = Vec::new();
        let outcome = self.member(source, &mut start, START.len());
        source.seek(here)?;
        match outcome {
            Err(Fault::Io(error)) => Err(error),
            _ => Ok(start.starts_with(START)),
        }
    }
}

fn member_header<R: Read + Seek>(source: &mut Window<R>) -> Result<(), Fault> {
    const HEADER_BYTES: usize = 10;
    let [has_crc, has_extra, has_name, has_comment] = [2u8, 4, 8, 16];
    let ahead = source.peek(HEADER_BYTES)?;
    if ahead.len() < HEADER_BYTES {
        return Err(Fault::Truncated);
    }
    let flags = ahead[3];
    if ahead[..3] != [0x1f, 0x8b, 8] || flags & 0xe0 != 0 {
        return malformed("no gzip member begins here");
    }
    source.consume(HEADER_BYTES);
    if flags & has_extra != 0 {
        let mut length = Vec::new();
        source.take(2, &mut length)?;
        let extra_bytes = usize::from(u16::from_le_bytes([length[0], length[1]]));
        source.take(extra_bytes, &mut length)?;
    }
    for flag in [has_name, has_comment] {
        if flags & flag != 0 {
            text_field(source)?;
        }
    }
    if flags & has_crc != 0 {
        source.take(2, &mut Vec::new())?;
    }
    Ok(())
}

/// A name or comment, ended by a zero byte.
fn text_field<R: Read + Seek>(source: &mut Window<R>) -> Result<(), Fault> {
    let ahead = source.peek(NAME_BYTES_MAX)?;
    let looked_at = ahead.len().min(NAME_BYTES_MAX);
    match ahead[..looked_at].iter().position(|&byte| byte == 0) {
        Some(end) => {
            source.consume(end + 1);
            Ok(())
        }
        None if looked_at < NAME_BYTES_MAX => Err(Fault::Truncated),
        None => Err(Fault::TooLarge("a name in a gzip header is too long")),
    }
}
