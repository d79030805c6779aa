//! Writes a run of the known set: see `run` for its bytes.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::filter::Filter;
use super::run::{BLOCK_RECORDS, FORMAT, HEAD_BYTES, Key, KnownRecord, MAGIC, RECORD_BYTES, Run, STREAM_BYTES, path};
use crate::folder::sync_folder;
use crate::{Error, Result};

/// Writes a run. Records must be pushed in order.
pub(crate) struct RunWriter {
    path: PathBuf,
    folder: PathBuf,
    generation: u32,
    file: File,
    /// Records that are not hashed and written yet.
    buffer: Vec<u8>,
    hash: Xxh3,
    count: u64,
    index: Vec<Key>,
    filter: Filter,
}

impl RunWriter {
    /// `records_max` is an upper bound of the number of records. It sets the size of the filter.
    pub fn new(folder: &Path, generation: u32, records_max: u64) -> Result<RunWriter> {
        let path = path(folder, generation);
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.map_err(Error::io("make", &path))?;
        let mut writer = RunWriter {
            folder: folder.to_owned(),
            generation,
            file,
            buffer: Vec::with_capacity(STREAM_BYTES + RECORD_BYTES),
            hash: Xxh3::new(),
            count: 0,
            index: Vec::new(),
            filter: Filter::for_records(records_max),
            path,
        };
        writer.buffer.extend_from_slice(&run_head());
        Ok(writer)
    }

    pub fn push(&mut self, record: &KnownRecord) -> Result<()> {
        if self.count.is_multiple_of(BLOCK_RECORDS) {
            debug_assert!(self.index.last().is_none_or(|last| *last < record.key), "records come sorted");
            self.index.push(record.key);
        }
        self.count += 1;
        self.filter.put(record.key);
        self.buffer.extend_from_slice(&record.bytes());
        if self.buffer.len() >= STREAM_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Copies records of another run.
    pub fn push_all(&mut self, records: &[[u8; RECORD_BYTES]]) -> Result<()> {
        for bytes in records {
            let key = KnownRecord::from_bytes(bytes).key;
            self.filter.put(key);
            if self.count.is_multiple_of(BLOCK_RECORDS) {
                self.index.push(key);
            }
            self.count += 1;
        }
        self.buffer.extend_from_slice(records.as_flattened());
        if self.buffer.len() >= STREAM_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Ends the run. It is durable when this returns.
    pub fn finish(mut self) -> Result<Run> {
        self.buffer.extend_from_slice(&self.count.to_le_bytes());
        self.flush()?;
        let checksum = self.hash.digest();
        self.buffer.extend_from_slice(&checksum.to_le_bytes());
        self.flush()?;
        self.file.sync_all().map_err(Error::io("sync", &self.path))?;
        sync_folder(&self.folder)?;
        let RunWriter { path, file, generation, count, index, filter, .. } = self;
        Ok(Run { path, file, generation, count, index, filter })
    }

    fn flush(&mut self) -> Result<()> {
        self.hash.update(&self.buffer);
        self.file.write_all(&self.buffer).map_err(Error::io("write", &self.path))?;
        self.buffer.clear();
        Ok(())
    }
}

pub(super) fn run_head() -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..8].copy_from_slice(MAGIC);
    head[8..12].copy_from_slice(&FORMAT.to_le_bytes());
    head[12..].copy_from_slice(&(RECORD_BYTES as u32).to_le_bytes());
    head
}
