//! The links of the whole repository by target, in one file.
//!
//! ```text
//! DIR/graph/links.index                                             all numbers little-endian
//!
//! file:    magic "VRNLLINK" | format u32 (1) | partitions u32 (64) | URLs of each partition u32 × 64 | position u64 |
//!          record | … | offset of each block u64 … | blocks u64 | links u64 | checksum u64
//! record:  count | source | source | …                              one for each URL in the order of the numbering
//! count:   varint (LEB128); source: varint of (distance to the source before · 2 + whether it counts)
//! block:   256 records
//! ```
//!
//! Sources rise, so that their distances are short: a link is two or three bytes. The checksum is XXH3-64 over
//! everything before it. The file is written under another name and renamed when it is complete and synced.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vernal_model::Partition;
use xxhash_rust::xxh3::Xxh3;

use super::Numbering;
use crate::folder::sync_folder;
use crate::{Error, Result};

pub(super) const FILE: &str = "links.index";
const MAGIC: &[u8; 8] = b"VRNLLINK";
const FORMAT: u32 = 1;
const HEAD_BYTES: usize = 16 + 4 * Partition::COUNT as usize + 8;
const TRAILER_BYTES: usize = 24;
pub(super) const BLOCK_RECORDS: u32 = 256;
/// Bytes that are hashed and written at once, and read at once to check a file.
pub(super) const PIECE_BYTES: usize = 1 << 18;

/// The open index file. It stays readable when a newer file replaces it.
#[derive(Debug)]
pub struct LinkIndex {
    path: PathBuf,
    file: File,
    numbering: Numbering,
    position: u64,
    links: u64,
    /// The start of each block, and the end of the last one.
    blocks: Vec<u64>,
}

impl LinkIndex {
    /// Opens the file and checks everything that the writer guarantees. `None` if there is no file.
    pub(crate) fn open(folder: &Path) -> Result<Option<LinkIndex>> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let file = File::open(&path).map_err(Error::io("open", &path))?;
        let length = file.metadata().map_err(Error::io("look at", &path))?.len();
        let corrupt = |what: &str| Error::CorruptFile { what: what.to_owned(), path: path.clone(), offset: 0 };
        if length < (HEAD_BYTES + TRAILER_BYTES) as u64 {
            return Err(corrupt("it is too short"));
        }
        let read = |bytes: &mut [u8], offset: u64| file.read_exact_at(bytes, offset).map_err(Error::io("read", &path));
        let (mut hash, mut offset, mut piece) = (Xxh3::new(), 0, vec![0; PIECE_BYTES]);
        while offset < length - 8 {
            let count = PIECE_BYTES.min((length - 8 - offset) as usize);
            read(&mut piece[..count], offset)?;
            hash.update(&piece[..count]);
            offset += count as u64;
        }
        let mut trailer = [0; TRAILER_BYTES];
        read(&mut trailer, length - TRAILER_BYTES as u64)?;
        let [count, links, checksum] = words(&trailer);
        if checksum != hash.digest() {
            return Err(corrupt("its checksum is wrong"));
        }
        let mut head = [0; HEAD_BYTES];
        read(&mut head, 0)?;
        let (numbering, position) = read_head(&head).ok_or_else(|| corrupt("its head is not one this Vernal reads"))?;
        let wanted = u64::from(numbering.len().div_ceil(BLOCK_RECORDS));
        let body_end = (length - TRAILER_BYTES as u64).checked_sub(count.saturating_mul(8));
        let Some(body_end) = body_end.filter(|_| count == wanted) else {
            return Err(corrupt("the number of its blocks is wrong"));
        };
        let mut bytes = vec![0; count as usize * 8];
        read(&mut bytes, body_end)?;
        let mut blocks: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        blocks.push(body_end);
        if !blocks.is_sorted() || blocks[0] < HEAD_BYTES as u64 {
            return Err(corrupt("its blocks are out of order"));
        }
        Ok(Some(LinkIndex { path, file, numbering, position, links, blocks }))
    }

    pub fn numbering(&self) -> &Numbering {
        &self.numbering
    }

    /// The last deed that was applied when the links were gathered.
    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn links(&self) -> u64 {
        self.links
    }

    /// The sources of one target, in their order, whether they count or not.
    pub(crate) fn sources(&self, node: u32) -> Result<Vec<u32>> {
        let mut bytes = Vec::new();
        self.read_block(node / BLOCK_RECORDS, &mut bytes)?;
        let mut rest = &bytes[..];
        let mut sources = Vec::new();
        for _ in 0..=node % BLOCK_RECORDS {
            sources.clear();
            rest = record(rest, |source, _| sources.push(source)).ok_or_else(|| self.corrupt(node))?;
        }
        Ok(sources)
    }

    fn read_block(&self, block: u32, bytes: &mut Vec<u8>) -> Result<()> {
        let block = block as usize;
        let (from, to) = (self.blocks[block], self.blocks[block + 1]);
        bytes.resize((to - from) as usize, 0);
        self.file.read_exact_at(bytes, from).map_err(Error::io("read", &self.path))
    }

    fn corrupt(&self, node: u32) -> Error {
        let offset = self.blocks[(node / BLOCK_RECORDS) as usize];
        Error::CorruptFile { what: "a record is cut short".into(), path: self.path.clone(), offset }
    }
}

/// Removes an index that contains deeds which this repository has not applied. Those deeds were lost, and others will get
/// their positions.
pub(crate) fn remove_if_ahead(folder: &Path, applied: u64) -> Result<()> {
    let path = folder.join(FILE);
    let Ok(file) = File::open(&path) else { return Ok(()) };
    let mut head = [0; HEAD_BYTES];
    let position = file.read_exact_at(&mut head, 0).ok().and_then(|()| read_head(&head)).map(|(_, position)| position);
    if position.is_some_and(|position| position <= applied) {
        return Ok(());
    }
    fs::remove_file(&path).map_err(Error::io("remove", &path))?;
    sync_folder(folder)
}

/// All targets in order, each with the sources that count. Reading may pause and resume at any target.
#[derive(Debug)]
pub struct LinkStream {
    index: Arc<LinkIndex>,
    next: u32,
    bytes: Vec<u8>,
    at: usize,
}

impl LinkStream {
    pub fn new(index: Arc<LinkIndex>) -> Self {
        LinkStream { index, next: 0, bytes: Vec::new(), at: 0 }
    }

    /// The next target. Its sources that count are put into `sources`. `None` after the last target.
    pub fn next(&mut self, sources: &mut Vec<u32>) -> Result<Option<u32>> {
        let node = self.next;
        if node == self.index.numbering.len() {
            return Ok(None);
        }
        if node.is_multiple_of(BLOCK_RECORDS) {
            self.index.read_block(node / BLOCK_RECORDS, &mut self.bytes)?;
            self.at = 0;
        }
        sources.clear();
        let mut take = |source, counted| {
            if counted {
                sources.push(source);
            }
        };
        let rest = record(&self.bytes[self.at..], &mut take).ok_or_else(|| self.index.corrupt(node))?;
        self.at = self.bytes.len() - rest.len();
        self.next += 1;
        Ok(Some(node))
    }
}

/// Reads one record and returns the bytes after it.
fn record(bytes: &[u8], mut take: impl FnMut(u32, bool)) -> Option<&[u8]> {
    let (count, mut rest) = varint(bytes)?;
    let mut source: u32 = 0;
    for _ in 0..count {
        let (step, after) = varint(rest)?;
        source = source.checked_add((step >> 1) as u32)?;
        take(source, step & 1 == 1);
        rest = after;
    }
    Some(rest)
}

#[inline]
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    match *bytes {
        [one, ref rest @ ..] if one < 0x80 => Some((u64::from(one), rest)),
        [one, two, ref rest @ ..] if two < 0x80 => Some((u64::from(one & 0x7F) | u64::from(two) << 7, rest)),
        _ => long_varint(bytes),
    }
}

fn long_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (mut value, mut shift) = (0, 0);
    for (at, &byte) in bytes.iter().enumerate() {
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some((value, &bytes[at + 1..]));
        }
        shift += 7;
        if shift > 56 {
            return None;
        }
    }
    None
}

pub(super) fn head(numbering: &Numbering, position: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&FORMAT.to_le_bytes());
    bytes.extend_from_slice(&u32::from(Partition::COUNT).to_le_bytes());
    for partition in (0..Partition::COUNT).map(Partition) {
        bytes.extend_from_slice(&numbering.count(partition).to_le_bytes());
    }
    bytes.extend_from_slice(&position.to_le_bytes());
    bytes
}

fn read_head(bytes: &[u8; HEAD_BYTES]) -> Option<(Numbering, u64)> {
    let position = u64::from_le_bytes(*bytes.last_chunk::<8>()?);
    let counts = bytes[16..HEAD_BYTES - 8].as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
    let numbering = Numbering::new(counts)?;
    (head(&numbering, position) == bytes).then_some((numbering, position))
}

fn words(trailer: &[u8; TRAILER_BYTES]) -> [u64; 3] {
    let (chunks, _) = trailer.as_chunks::<8>();
    [0, 1, 2].map(|at| chunks.get(at).map_or(0, |bytes| u64::from_le_bytes(*bytes)))
}

#[cfg(test)]
mod tests {
    use super::super::index_writer::IndexWriter;
    use super::super::sort::Packed;
    use super::*;

    fn written(folder: &Path, links: &[(u32, u32, bool)]) -> Arc<LinkIndex> {
        let numbering = Numbering::new([300, 0, 400].into_iter()).unwrap();
        let mut packed: Vec<Packed> = links.iter().map(|&(to, from, counts)| Packed::new(to, from, counts)).collect();
        packed.sort_unstable();
        let mut writer = IndexWriter::new(folder, numbering, 77).unwrap();
        packed.into_iter().for_each(|link| writer.push(link).unwrap());
        writer.finish().unwrap()
    }

    const LINKS: [(u32, u32, bool); 7] = [
        (0, 5, true),
        (0, 699, false),
        (0, 5, false),
        (256, 0, true),
        (255, 1, true),
        (699, 300, true),
        (699, 2, false),
    ];

    #[test]
    fn what_was_written_is_looked_up_and_streamed() {
        let dir = tempfile::tempdir().unwrap();
        let index = written(dir.path(), &LINKS);
        assert_eq!((index.links(), index.position(), index.numbering().len()), (6, 77, 700));
        assert_eq!(index.sources(0).unwrap(), [5, 699]);
        assert_eq!(index.sources(1).unwrap(), [0; 0]);
        assert_eq!(index.sources(699).unwrap(), [2, 300]);
        let (mut stream, mut sources, mut met) = (LinkStream::new(index), Vec::new(), Vec::new());
        let mut targets = 0;
        while let Some(node) = stream.next(&mut sources).unwrap() {
            assert_eq!(node, targets);
            targets += 1;
            met.extend(sources.iter().map(|&source| (node, source)));
        }
        assert_eq!((targets, met), (700, vec![(0, 5), (255, 1), (256, 0), (699, 300)]));
    }

    #[test]
    fn any_byte_that_changes_or_is_cut_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        written(dir.path(), &LINKS);
        let path = dir.path().join(FILE);
        let good = fs::read(&path).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            fs::write(&path, &bad).unwrap();
            assert!(LinkIndex::open(dir.path()).is_err(), "byte {at}");
        }
        for length in 0..good.len() {
            fs::write(&path, &good[..length]).unwrap();
            assert!(LinkIndex::open(dir.path()).is_err(), "cut to {length}");
        }
        fs::write(&path, &good).unwrap();
        assert!(LinkIndex::open(dir.path()).unwrap().is_some());
        remove_if_ahead(dir.path(), 77).unwrap();
        assert!(path.exists(), "it knows of nothing more than the repository");
        remove_if_ahead(dir.path(), 76).unwrap();
        assert!(!path.exists());
        remove_if_ahead(dir.path(), 76).unwrap();
    }
}
