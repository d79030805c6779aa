//! One sorted file of known URLs.
//!
//! ```text
//! DIR/known/00000001.run                                          all numbers little-endian
//!
//! file:    magic "VRNLKNWN" | format u32 (1) | bytes of a record u32 (17) | record | … | count u64 | checksum u64
//! record:  partition u8 | fingerprint u64 | number u32 (all ones: barred; one less: forgotten) | back links u32
//! ```
//!
//! Records are sorted by (partition, fingerprint), each key once. The checksum is XXH3-64 over everything before
//! it. The first key of each block of 64 records is held in memory, so that a look-up is one small read.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use vernal_model::{Fingerprint, Partition};
use xxhash_rust::xxh3::Xxh3;

use super::filter::Filter;
use super::run_writer::{RunWriter, run_head};
use crate::{Error, Result};

/// The number of a URL that is known and never requested.
pub(crate) const BARRED: u32 = u32::MAX;
/// The number of a URL that was forgotten: it counts as unknown, and only its back links are still counted.
pub(crate) const FORGOTTEN: u32 = u32::MAX - 1;

pub(super) const MAGIC: &[u8; 8] = b"VRNLKNWN";
pub(super) const FORMAT: u32 = 1;
pub(super) const HEAD_BYTES: usize = 16;
const TRAILER_BYTES: usize = 16;
pub(super) const RECORD_BYTES: usize = 17;
pub(super) const BLOCK_RECORDS: u64 = 64;
/// Bytes read at once when a whole run is read; a multiple of the block size.
pub(super) const STREAM_BYTES: usize = RECORD_BYTES * BLOCK_RECORDS as usize * 256;

pub(crate) type Key = (Partition, Fingerprint);

/// A key as one number with the same order.
pub(super) type Ordinal = u128;

/// Above every key.
pub(super) const END: Ordinal = Ordinal::MAX;

pub(super) fn ordinal((partition, fingerprint): Key) -> Ordinal {
    Ordinal::from(partition.0) << 64 | Ordinal::from(fingerprint.0)
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownRecord {
    pub key: Key,
    pub number: u32,
    /// Added links minus removed links. In the newer run it may be negative, in two's complement.
    pub back_links: u32,
}

impl KnownRecord {
    /// The count for readers. It is never negative.
    pub fn links(&self) -> u32 {
        u32::try_from(self.back_links.cast_signed()).unwrap_or(0)
    }

    pub(crate) fn bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[0] = self.key.0.0;
        bytes[1..9].copy_from_slice(&self.key.1.0.to_le_bytes());
        bytes[9..13].copy_from_slice(&self.number.to_le_bytes());
        bytes[13..].copy_from_slice(&self.back_links.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> KnownRecord {
        let [partition, f0, f1, f2, f3, f4, f5, f6, f7, n0, n1, n2, n3, b0, b1, b2, b3] = *bytes;
        KnownRecord {
            key: (Partition(partition), Fingerprint(u64::from_le_bytes([f0, f1, f2, f3, f4, f5, f6, f7]))),
            number: u32::from_le_bytes([n0, n1, n2, n3]),
            back_links: u32::from_le_bytes([b0, b1, b2, b3]),
        }
    }
}

/// A run that is open for reading. It stays readable after its file is removed.
pub(crate) struct Run {
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub generation: u32,
    pub count: u64,
    /// The first key of each block.
    pub(super) index: Vec<Key>,
    pub(super) filter: Filter,
}

pub(crate) fn path(folder: &Path, generation: u32) -> PathBuf {
    folder.join(format!("{generation:08}.run"))
}

impl Run {
    /// Opens a run, reads all of it once, and checks everything that the writer guarantees.
    pub fn open(folder: &Path, generation: u32) -> Result<Run> {
        let path = path(folder, generation);
        let file = File::open(&path).map_err(Error::io("open", &path))?;
        let length = file.metadata().map_err(Error::io("look at", &path))?.len();
        let corrupt =
            |offset: u64, what: &str| Error::CorruptFile { what: what.to_owned(), path: path.clone(), offset };
        let records_bytes = length.checked_sub((HEAD_BYTES + TRAILER_BYTES) as u64);
        let records_bytes = records_bytes.ok_or_else(|| corrupt(0, "it is too short"))?;
        if !records_bytes.is_multiple_of(RECORD_BYTES as u64) {
            return Err(corrupt(length, "its length is not that of whole records"));
        }
        let mut head = [0; HEAD_BYTES];
        file.read_exact_at(&mut head, 0).map_err(Error::io("read", &path))?;
        if head != run_head() {
            return Err(corrupt(0, "its head is not that of a run this Vernal reads"));
        }
        let count = records_bytes / RECORD_BYTES as u64;
        let filter = Filter::for_records(0);
        let mut run = Run { path: path.clone(), file, generation, count, index: Vec::new(), filter };
        let mut filter = Filter::for_records(count);
        let mut hash = Xxh3::new();
        hash.update(&head);
        let (mut index, mut before, mut place) = (Vec::new(), None, 0);
        let mut stream = run.stream();
        while stream.fill()? {
            hash.update(&stream.buffer);
            for bytes in stream.buffer.as_chunks::<RECORD_BYTES>().0 {
                let key = KnownRecord::from_bytes(bytes).key;
                if before.is_some_and(|before| before >= key) {
                    let offset = HEAD_BYTES as u64 + place * RECORD_BYTES as u64;
                    return Err(corrupt(offset, "its records are out of order"));
                }
                before = Some(key);
                filter.put(key);
                if place.is_multiple_of(BLOCK_RECORDS) {
                    index.push(key);
                }
                place += 1;
            }
        }
        let mut trailer = [0; TRAILER_BYTES];
        run.file.read_exact_at(&mut trailer, HEAD_BYTES as u64 + records_bytes).map_err(Error::io("read", &path))?;
        hash.update(&trailer[..8]);
        if trailer[..8] != run.count.to_le_bytes() || trailer[8..] != hash.digest().to_le_bytes() {
            return Err(corrupt(HEAD_BYTES as u64 + records_bytes, "its count or its checksum is wrong"));
        }
        run.index = index;
        run.filter = filter;
        Ok(run)
    }

    /// All records in order.
    pub fn stream(&self) -> Stream<'_> {
        Stream { run: self, next: 0, buffer: Vec::new(), at: 0 }
    }

    /// Looks up keys in rising order. Each block is read at most once.
    pub fn probe(&self) -> Probe<'_> {
        Probe { run: self, block: None, buffer: Vec::new() }
    }

    fn read_records(&self, from: u64, count: u64, buffer: &mut Vec<u8>) -> Result<()> {
        buffer.resize(count as usize * RECORD_BYTES, 0);
        let offset = HEAD_BYTES as u64 + from * RECORD_BYTES as u64;
        self.file.read_exact_at(buffer, offset).map_err(Error::io("read", &self.path))
    }
}

pub(crate) struct Stream<'a> {
    run: &'a Run,
    /// The first record that is not in the buffer.
    next: u64,
    buffer: Vec<u8>,
    at: usize,
}

impl Stream<'_> {
    pub fn next(&mut self) -> Result<Option<KnownRecord>> {
        if self.at == self.buffer.len() && !self.fill()? {
            return Ok(None);
        }
        let bytes = self.buffer[self.at..].first_chunk::<RECORD_BYTES>();
        self.at += RECORD_BYTES;
        Ok(bytes.map(KnownRecord::from_bytes))
    }

    /// Writes all records below `limit` to `out`, beginning with those in the buffer. Returns the first record that is not
    /// below it.
    pub fn pass_below(&mut self, limit: Ordinal, out: &mut RunWriter) -> Result<Option<KnownRecord>> {
        loop {
            let (records, _) = self.buffer[self.at..].as_chunks::<RECORD_BYTES>();
            let is_below = |bytes: &[u8; RECORD_BYTES]| ordinal(KnownRecord::from_bytes(bytes).key) < limit;
            let below = records.iter().take_while(|bytes| is_below(bytes)).count();
            out.push_all(&records[..below])?;
            self.at += below * RECORD_BYTES;
            if self.at < self.buffer.len() || !self.fill()? {
                return self.next();
            }
        }
    }

    /// Reads the next piece; `false` at the end.
    fn fill(&mut self) -> Result<bool> {
        let count = (self.run.count - self.next).min((STREAM_BYTES / RECORD_BYTES) as u64);
        if count == 0 {
            return Ok(false);
        }
        self.run.read_records(self.next, count, &mut self.buffer)?;
        self.next += count;
        self.at = 0;
        Ok(true)
    }
}

pub(crate) struct Probe<'a> {
    run: &'a Run,
    block: Option<usize>,
    buffer: Vec<u8>,
}

impl Probe<'_> {
    pub fn look_up(&mut self, key: Key) -> Result<Option<KnownRecord>> {
        if !self.run.filter.may_hold(key) {
            return Ok(None);
        }
        // The last block whose first key is not above ours.
        let Some(block) = self.run.index.partition_point(|first| *first <= key).checked_sub(1) else {
            return Ok(None);
        };
        if self.block != Some(block) {
            self.block = None;
            let from = block as u64 * BLOCK_RECORDS;
            self.run.read_records(from, (self.run.count - from).min(BLOCK_RECORDS), &mut self.buffer)?;
            self.block = Some(block);
        }
        let (records, _) = self.buffer.as_chunks::<RECORD_BYTES>();
        let found = records.binary_search_by_key(&key, |bytes| KnownRecord::from_bytes(bytes).key);
        Ok(found.ok().map(|place| KnownRecord::from_bytes(&records[place])))
    }
}

/// The generations that have a file in the folder.
pub(crate) fn generations(folder: &Path) -> Result<Vec<(u32, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let entry = entry.map_err(Error::io("list", folder))?;
        let name = entry.file_name();
        let generation = name.to_str().and_then(|name| name.strip_suffix(".run")?.parse().ok());
        found.extend(generation.map(|generation| (generation, entry.path())));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(n: u64) -> KnownRecord {
        let key = (Partition((n % 64) as u8), Fingerprint(n.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        KnownRecord { key, number: n as u32, back_links: (n * 3) as u32 }
    }

    fn written(folder: &Path, count: u64) -> Vec<KnownRecord> {
        let mut records: Vec<_> = (1..=count).map(record).collect();
        records.sort_by_key(|record| record.key);
        let mut writer = RunWriter::new(folder, 1, count).unwrap();
        for record in &records {
            writer.push(record).unwrap();
        }
        writer.finish().unwrap();
        records
    }

    #[test]
    fn what_was_written_is_streamed_and_looked_up() {
        for count in [0, 1, 255, 256, 257, 20_000] {
            let dir = tempfile::tempdir().unwrap();
            let records = written(dir.path(), count);
            let run = Run::open(dir.path(), 1).unwrap();
            let mut stream = run.stream();
            let streamed: Vec<_> = std::iter::from_fn(|| stream.next().unwrap()).collect();
            assert_eq!(streamed, records);
            for expected in records.iter().rev().step_by(17) {
                assert_eq!(run.probe().look_up(expected.key).unwrap(), Some(*expected));
            }
            for n in count + 1..count + 100 {
                assert_eq!(run.probe().look_up(record(n).key).unwrap(), None);
            }
        }
    }

    #[test]
    fn any_bit_that_flips_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        written(dir.path(), 20);
        let path = path(dir.path(), 1);
        let good = fs::read(&path).unwrap();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &bad).unwrap();
            assert!(matches!(Run::open(dir.path(), 1), Err(Error::CorruptFile { .. })), "bit {bit}");
        }
        for length in 0..good.len() {
            fs::write(&path, &good[..length]).unwrap();
            assert!(Run::open(dir.path(), 1).is_err(), "cut to {length}");
        }
    }
}
