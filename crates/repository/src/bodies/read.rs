//! Reads one record by its location.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use vernal_model::Location;

use super::inflate::{Fault, Inflater, Window};
use super::member::stored_content;
use super::record::Record;
use super::scan::ScanLimits;
use super::segment::segments;
use crate::{Error, Result};

/// Reads records of one repository and remembers the files by serial. A record can be read once its writer has synced it.
#[derive(Debug)]
pub struct Bodies {
    dir: PathBuf,
    paths: Mutex<BTreeMap<u32, PathBuf>>,
    /// The last segment stays open, because a crawl reads from few segments.
    last: Mutex<Option<(u32, Arc<File>)>>,
}

/// Reads one record of the repository in `dir`. To read many, keep a `Bodies`.
pub fn read(dir: &Path, location: &Location) -> Result<Record> {
    Bodies::new(dir).read(location)
}

impl Bodies {
    pub fn new(dir: &Path) -> Self {
        Bodies { dir: dir.to_owned(), paths: Mutex::default(), last: Mutex::default() }
    }

    pub fn read(&self, location: &Location) -> Result<Record> {
        let damaged =
            |what: &str| Error::Corrupt { what: what.to_owned(), segment: location.segment, offset: location.offset };
        if location.is_lost() {
            return Err(damaged("its record was lost"));
        }
        let limits = ScanLimits::default();
        if location.length as usize > limits.record_bytes_max {
            return Err(damaged("its place is longer than a record may be"));
        }
        let file = self.file(location.segment)?;
        let mut member = vec![0; location.length as usize];
        if let Err(error) = file.read_exact_at(&mut member, location.offset) {
            return Err(match error.kind() {
                io::ErrorKind::UnexpectedEof => damaged("the file ends within the record"),
                _ => Error::io("read a record of", &self.dir)(error),
            });
        }
        let content = match stored_content(member, limits.record_bytes_max) {
            Ok(content) => Ok(content),
            Err(member) => inflated(member, limits.record_bytes_max),
        };
        content
            .and_then(|content| Record::within(content, limits.head_bytes_max))
            .map_err(|fault| damaged(&fault.to_string()))
    }

    fn file(&self, segment: u32) -> Result<Arc<File>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = last.as_ref().filter(|(serial, _)| *serial == segment) {
            return Ok(file.clone());
        }
        let file = Arc::new(self.open(segment)?);
        *last = Some((segment, file.clone()));
        Ok(file)
    }

    /// Opens the file of a segment. If the remembered name is gone, as it is after sealing, the folder is listed again. This
    /// is tried twice, because the segment may be sealed between listing and opening.
    fn open(&self, segment: u32) -> Result<File> {
        for listed_anew in [false, true, true] {
            let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
            if listed_anew {
                *paths = segments(&self.dir)?.into_iter().map(|file| (file.serial, file.path)).collect();
            }
            let Some(path) = paths.get(&segment).cloned() else { continue };
            drop(paths);
            match File::open(&path) {
                Ok(file) => return Ok(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("open", &path)(error)),
            }
        }
        Err(Error::SegmentMissing(segment))
    }
}

/// The content of a compressed member, or an error that describes its damage.
fn inflated(member: Vec<u8>, bytes_max: usize) -> std::result::Result<Vec<u8>, Fault> {
    let (bytes, mut content) = (member.len() as u64, Vec::new());
    let mut source = Window::of(member);
    Inflater::new().member(&mut source, &mut content, bytes_max)?;
    match source.offset() == bytes {
        true => Ok(content),
        false => Err(Fault::Malformed("the record is shorter than its place says".to_owned())),
    }
}
