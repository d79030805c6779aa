//! A zip that is written as a stream: entries as they are, each with its length and its SHA-256.

use std::io::{self, Write};

use serde::Serialize;
use sha2::{Digest, Sha256};
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

use super::Result;

pub struct ZipFile<W: Write> {
    zip: ZipWriter<StreamWriter<W>>,
    entries: Vec<Entry>,
}

/// An entry as the list of a WACZ names it.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    pub name: String,
    pub path: String,
    pub hash: String,
    pub bytes: u64,
}

impl<W: Write> ZipFile<W> {
    pub fn new(out: W) -> ZipFile<W> {
        ZipFile { zip: ZipWriter::new_stream(out), entries: Vec::new() }
    }

    /// Writes one entry.
    pub fn entry<T>(&mut self, path: &str, write: impl FnOnce(&mut Digested<'_>) -> Result<T>) -> Result<T> {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
        self.zip.start_file(path, options)?;
        let mut out = Digested { out: &mut self.zip, digest: Sha256::new(), bytes: 0 };
        let written = write(&mut out)?;
        let hash = hex(&out.digest.finalize());
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        self.entries.push(Entry { name, path: path.to_owned(), hash: format!("sha256:{hash}"), bytes: out.bytes });
        Ok(written)
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn finish(self) -> Result<()> {
        self.zip.finish()?.into_inner().flush()?;
        Ok(())
    }
}

/// Writes through, and digests on the way.
pub struct Digested<'a> {
    out: &'a mut dyn Write,
    digest: Sha256,
    bytes: u64,
}

impl Write for Digested<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
