//! Writes the link index: see `index` for its bytes.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::Numbering;
use super::index::{BLOCK_RECORDS, FILE, LinkIndex, PIECE_BYTES, head};
use super::sort::Packed;
use crate::folder::sync_folder;
use crate::{Error, Result};

const UNFINISHED_FILE: &str = "links.index.new";

/// Writes the file. Links must be pushed in order.
pub(super) struct IndexWriter {
    folder: PathBuf,
    path: PathBuf,
    file: File,
    numbering: Numbering,
    hash: Xxh3,
    written: u64,
    buffer: Vec<u8>,
    blocks: Vec<u64>,
    /// The target whose record is open. Its sources are collected in `sources`.
    node: u32,
    sources: Vec<(u32, bool)>,
    links: u64,
}

impl IndexWriter {
    pub fn new(folder: &Path, numbering: Numbering, position: u64) -> Result<Self> {
        let path = folder.join(UNFINISHED_FILE);
        let file = File::create(&path).map_err(Error::io("make", &path))?;
        let buffer = head(&numbering, position);
        Ok(IndexWriter {
            folder: folder.to_owned(),
            path,
            file,
            numbering,
            hash: Xxh3::new(),
            written: 0,
            buffer,
            blocks: Vec::new(),
            node: 0,
            sources: Vec::new(),
            links: 0,
        })
    }

    /// Adds a link. A repeated link is skipped: the first of its repeats counts if any of them does.
    pub fn push(&mut self, link: Packed) -> Result<()> {
        while self.node < link.target() {
            self.end_record()?;
        }
        if self.sources.last().is_none_or(|(source, _)| *source != link.source()) {
            self.sources.push((link.source(), link.counted()));
        }
        Ok(())
    }

    fn end_record(&mut self) -> Result<()> {
        if self.node.is_multiple_of(BLOCK_RECORDS) {
            self.blocks.push(self.written + self.buffer.len() as u64);
        }
        put_varint(self.sources.len() as u64, &mut self.buffer);
        let mut before = 0;
        for &(source, counted) in &self.sources {
            put_varint(u64::from(source - before) << 1 | u64::from(counted), &mut self.buffer);
            before = source;
        }
        self.links += self.sources.len() as u64;
        self.sources.clear();
        self.node += 1;
        if self.buffer.len() >= PIECE_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.hash.update(&self.buffer);
        self.file.write_all(&self.buffer).map_err(Error::io("write", &self.path))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Ends the file and gives it its name. It is durable when this returns.
    pub fn finish(mut self) -> Result<Arc<LinkIndex>> {
        while self.node < self.numbering.len() {
            self.end_record()?;
        }
        for offset in &self.blocks {
            self.buffer.extend_from_slice(&offset.to_le_bytes());
        }
        self.buffer.extend_from_slice(&(self.blocks.len() as u64).to_le_bytes());
        self.buffer.extend_from_slice(&self.links.to_le_bytes());
        self.flush()?;
        let checksum = self.hash.digest();
        self.file.write_all(&checksum.to_le_bytes()).map_err(Error::io("write", &self.path))?;
        self.file.sync_all().map_err(Error::io("sync", &self.path))?;
        fs::rename(&self.path, self.folder.join(FILE)).map_err(Error::io("rename", &self.path))?;
        sync_folder(&self.folder)?;
        let missing = || Error::CorruptFile { what: "it went away".into(), path: self.path.clone(), offset: 0 };
        LinkIndex::open(&self.folder)?.map(Arc::new).ok_or_else(missing)
    }
}

fn put_varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
