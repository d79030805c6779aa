//! One record by its place.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use vernal_model::Location;

use super::inflate::{Fault, Inflater, Source};
use super::record::Record;
use super::scan::ScanLimits;
use super::segment::segments;
use crate::{Error, Result};

/// Reads records of one repository and remembers which file has which serial. A record is seen once its writer has
/// synced it.
#[derive(Debug)]
pub struct Bodies {
    dir: PathBuf,
    paths: Mutex<BTreeMap<u32, PathBuf>>,
}

/// Reads one record of the repository in `dir`. Whoever reads many keeps a `Bodies`.
pub fn read(dir: &Path, location: &Location) -> Result<Record> {
    Bodies::new(dir).read(location)
}

impl Bodies {
    pub fn new(dir: &Path) -> Self {
        Bodies { dir: dir.to_owned(), paths: Mutex::default() }
    }

    pub fn read(&self, location: &Location) -> Result<Record> {
        let damaged =
            |what: &str| Error::Corrupt { what: what.to_owned(), segment: location.segment, offset: location.offset };
        let (mut file, path) = self.open(location.segment)?;
        let mut member = Vec::new();
        file.seek(SeekFrom::Start(location.offset)).map_err(Error::io("read", &path))?;
        file.take(u64::from(location.length)).read_to_end(&mut member).map_err(Error::io("read", &path))?;
        if member.len() != location.length as usize {
            return Err(damaged("the file ends within the record"));
        }
        let limits = ScanLimits::default();
        let mut source = Source::new(Cursor::new(member));
        let mut content = Vec::new();
        Inflater::new()
            .member(&mut source, &mut content, limits.record_bytes_max)
            .and_then(|()| match source.offset() == u64::from(location.length) {
                true => Record::parse(&content, limits.head_bytes_max),
                false => Err(Fault::Malformed("the record is shorter than its place says".to_owned())),
            })
            .map_err(|fault| damaged(&fault.to_string()))
    }

    /// The file of a segment; the folder is listed anew when the remembered name is gone, as it is after sealing. Twice,
    /// because sealing may fall between listing and opening, once.
    fn open(&self, segment: u32) -> Result<(File, PathBuf)> {
        for listed_anew in [false, true, true] {
            let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
            if listed_anew {
                *paths = segments(&self.dir)?.into_iter().map(|file| (file.serial, file.path)).collect();
            }
            let Some(path) = paths.get(&segment).cloned() else { continue };
            drop(paths);
            match File::open(&path) {
                Ok(file) => return Ok((file, path)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("open", &path)(error)),
            }
        }
        Err(Error::SegmentMissing(segment))
    }
}
