//! Scans the records of a file in order. The file may be foreign, damaged or malicious.
//!
//! After a damaged record the scan looks for the next place where one begins, so that one bad byte costs one record.
//! After a record that exceeds a limit it stops.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use super::inflate::{Fault, Inflater, Window, malformed};
use super::record::{Record, content_length, parse_head};
use crate::{Error, Result};

const MEMBER_START: &[u8] = &[0x1f, 0x8b, 8];
const PLAIN_START: &[u8] = b"WARC/";
const PLAIN_START_AFTER: &[u8] = b"\r\n\r\nWARC/"; // the end of one plain record and the start of the next

/// The limits of one scan.
#[derive(Copy, Clone, Debug)]
pub struct ScanLimits {
    /// Head and block of one record, unpacked.
    pub record_bytes_max: usize,
    /// The named fields of one record.
    pub head_bytes_max: usize,
    /// The unpacked bytes may be so many times the bytes read …
    pub ratio_max: u64,
    /// … plus this many, because small files of repetitive text compress very well.
    pub unpacked_bytes_free: u64,
}

impl Default for ScanLimits {
    fn default() -> Self {
        ScanLimits {
            record_bytes_max: 256 << 20,
            head_bytes_max: 64 << 10,
            ratio_max: 200,
            unpacked_bytes_free: 512 << 20,
        }
    }
}

/// One whole record: `length` bytes of the file from `offset` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    pub offset: u64,
    pub length: u64,
    pub record: Record,
}

/// Bytes that are no whole record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub offset: u64,
    pub what: String,
    /// The file ends before the record does: a torn tail, if nothing follows.
    pub truncated: bool,
}

/// An iterator over the records of one file.
pub struct Scan<R = File> {
    source: Window<R>,
    inflater: Inflater,
    limits: ScanLimits,
    content: Vec<u8>,
    unpacked_bytes: u64,
    read_bytes_max: u64,
    done: bool,
}

/// The records of a file, with the default limits.
pub fn scan(path: &Path) -> Result<Scan> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    Ok(Scan::new(file, ScanLimits::default()))
}

/// The records of a file from this byte on, where one begins.
pub(super) fn scan_from(path: &Path, offset: u64) -> Result<Scan> {
    let mut scan = scan(path)?;
    scan.source.seek(offset).map_err(Error::io("read", path))?;
    Ok(scan)
}

impl<R: Read + Seek> Scan<R> {
    pub fn new(input: R, limits: ScanLimits) -> Self {
        Scan {
            source: Window::new(input),
            inflater: Inflater::new(),
            limits,
            content: Vec::new(),
            unpacked_bytes: 0,
            read_bytes_max: 0,
            done: false,
        }
    }

    /// How far the scan has come.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }

    fn record(&mut self) -> Result<Record, Fault> {
        let ahead = self.source.peek(PLAIN_START.len())?;
        if ahead.starts_with(&MEMBER_START[..2]) {
            let outcome = self.inflater.member(&mut self.source, &mut self.content, self.limits.record_bytes_max);
            self.charge(self.content.len() as u64)?;
            outcome?;
            return Record::parse(&self.content, self.limits.head_bytes_max);
        }
        if ahead.starts_with(PLAIN_START) {
            return self.plain_record();
        }
        match ahead.len() < MEMBER_START.len() {
            true => Err(Fault::Truncated),
            false => malformed("no record begins here"),
        }
    }

    fn plain_record(&mut self) -> Result<Record, Fault> {
        let head_bytes_max = self.limits.head_bytes_max;
        let ahead = self.source.peek(head_bytes_max)?;
        let looked_at = &ahead[..ahead.len().min(head_bytes_max)];
        let Some(head_end) = looked_at.windows(4).position(|window| window == b"\r\n\r\n") else {
            return match looked_at.len() < head_bytes_max {
                true => Err(Fault::Truncated),
                false => Err(Fault::TooLarge("the head of a record is too long")),
            };
        };
        let headers = parse_head(&looked_at[..head_end])?;
        let block_bytes = content_length(&headers)?;
        if block_bytes > self.limits.record_bytes_max as u64 {
            return Err(Fault::TooLarge("a block is longer than a record may be"));
        }
        self.source.consume(head_end + 4);
        self.charge(block_bytes)?;
        let mut block = Vec::new();
        self.source.take(block_bytes as usize, &mut block)?;
        let mut end = Vec::new();
        self.source.take(4, &mut end)?;
        match end == b"\r\n\r\n" {
            true => Ok(Record { headers, block }),
            false => malformed("Content-Length is not the length of the block"),
        }
    }

    /// Counts work against the limits.
    fn charge(&mut self, unpacked: u64) -> Result<(), Fault> {
        self.unpacked_bytes += unpacked;
        // Reading again after damage adds nothing to the limit.
        self.read_bytes_max = self.read_bytes_max.max(self.source.offset());
        let allowed = self.limits.unpacked_bytes_free.saturating_add(self.read_bytes_max * self.limits.ratio_max);
        match self.unpacked_bytes <= allowed {
            true => Ok(()),
            false => Err(Fault::TooLarge("the file unpacks to far more than it has")),
        }
    }

    /// Moves to the next record after the one at `start` failed. False if there is none.
    fn pass(&mut self, start: u64, fault: &Fault) -> bool {
        match fault {
            Fault::Io(_) | Fault::TooLarge(_) => false,
            Fault::Checksum if self.at_start_or_end() => true,
            _ => self.find_next(start).unwrap_or(false),
        }
    }

    fn at_start_or_end(&mut self) -> bool {
        self.source.peek(MEMBER_START.len()).is_ok_and(|ahead| ahead.is_empty() || ahead.starts_with(MEMBER_START))
    }

    fn find_next(&mut self, start: u64) -> std::io::Result<bool> {
        self.source.seek(start)?;
        if self.source.peek(PLAIN_START.len())?.starts_with(PLAIN_START) {
            let found = self.source.find(PLAIN_START_AFTER)?;
            if found {
                self.source.consume(4);
            }
            return Ok(found);
        }
        self.source.seek(start + 1)?;
        while self.source.find(MEMBER_START)? {
            if self.inflater.begins_record(&mut self.source)? {
                return Ok(true);
            }
            // Not `consume`: peeking at the member may have emptied the window.
            self.source.seek(self.source.offset() + 1)?;
        }
        Ok(false)
    }
}

impl<R: Read + Seek> Iterator for Scan<R> {
    type Item = Result<Scanned, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let offset = self.source.offset();
        if self.source.peek(1).is_ok_and(<[u8]>::is_empty) {
            self.done = true;
            return None;
        }
        let fault = match self.record() {
            Ok(record) => return Some(Ok(Scanned { offset, length: self.source.offset() - offset, record })),
            Err(fault) => fault,
        };
        self.done = !self.pass(offset, &fault);
        Some(Err(Damage { offset, what: fault.to_string(), truncated: matches!(fault, Fault::Truncated) }))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Io(error) => write!(f, "cannot be read: {error}"),
            Fault::Truncated => f.write_str("the file ends within a record"),
            Fault::Checksum => f.write_str("the checksum of a gzip member differs"),
            Fault::Malformed(what) => f.write_str(what),
            Fault::TooLarge(what) => f.write_str(what),
        }
    }
}
