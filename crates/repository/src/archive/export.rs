//! Exports selected records as self-contained WARC files.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use vernal_model::Location;

use super::copy::{Fate, MemberReader, Selection, choose, walk, walk_records};
use crate::bodies::{Record, Scanned, sealed_path, segments, sync_folder};
use crate::{Error, Result};

/// The target of an export. Existing files are never overwritten.
#[derive(Copy, Clone, Debug)]
pub enum ExportTo<'a> {
    /// One file per segment, named as the segment.
    Folder(&'a Path),
    /// Everything in one file.
    File(&'a Path),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportReport {
    pub files: Vec<PathBuf>,
    /// Records of all kinds.
    pub records: u64,
    pub bytes: u64,
    /// Responses that the filter refused and that a revisit needs.
    pub added_for_revisits: u64,
    /// Records that could not be read and were skipped.
    pub damaged: u64,
}

/// Copies the records that pass `filter`, byte for byte, each with its request. The filter is asked about responses, revisits
/// and resources. The response that a selected revisit refers to is copied in any case.
pub fn export_warc(dir: &Path, to: ExportTo<'_>, filter: &dyn Fn(&Record) -> bool) -> Result<ExportReport> {
    let choice = choose(segments(dir)?, &|_, record| filter(record))?;
    let mut report = ExportReport { damaged: choice.damaged, ..ExportReport::default() };
    match to {
        ExportTo::Folder(folder) => {
            fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
            for place in 0..choice.segments.len() {
                if has_any(&choice, place) {
                    let sealed = sealed_path(&choice.segments[place].0.path);
                    let path = folder.join(sealed.file_name().unwrap_or_default());
                    write_file(&path, &choice, place..place + 1, &mut report)?;
                }
            }
        }
        ExportTo::File(path) => write_file(path, &choice, 0..choice.segments.len(), &mut report)?,
    }
    Ok(report)
}

/// Hears of each record that is copied: what it is, and where it begins in the copy.
pub type CopiedRecord<'a> = &'a mut dyn FnMut(&Scanned, u64) -> Result<()>;

/// Like an export into one file, but the bytes go to `out`.
pub fn stream_warc(
    dir: &Path,
    filter: &dyn Fn(&Record) -> bool,
    out: &mut dyn Write,
    copied: CopiedRecord<'_>,
) -> Result<ExportReport> {
    let choice = choose(segments(dir)?, &|_, record| filter(record))?;
    let mut report = ExportReport { damaged: choice.damaged, ..ExportReport::default() };
    for (file, fates) in
        choice.segments.iter().enumerate().filter(|(place, _)| has_any(&choice, *place)).map(|one| one.1)
    {
        let path = file.present_path();
        let mut reader = MemberReader::open(&path)?;
        walk_records(file, fates, &mut |scanned, fate, main| {
            if fate == Fate::Left {
                return Ok(());
            }
            let location = Location { segment: file.serial, offset: scanned.offset, length: scanned.length as u32 };
            out.write_all(reader.member(&location)?).map_err(Error::io("write the records of", &path))?;
            copied(scanned, report.bytes)?;
            report.records += 1;
            report.bytes += scanned.length;
            report.added_for_revisits += u64::from(main && fate == Fate::TakenForRevisit);
            Ok(())
        })?;
    }
    Ok(report)
}

fn has_any(choice: &Selection, place: usize) -> bool {
    choice.segments[place].1.iter().any(|fate| matches!(fate, Fate::Taken | Fate::TakenForRevisit))
}

/// Writes one file under a temporary name and renames it when it is complete.
fn write_file(
    path: &Path,
    choice: &Selection,
    places: std::ops::Range<usize>,
    report: &mut ExportReport,
) -> Result<()> {
    if path.exists() {
        return Err(Error::io("write", path)(std::io::ErrorKind::AlreadyExists.into()));
    }
    let mut passing = path.as_os_str().to_owned();
    passing.push(".part");
    let passing = PathBuf::from(passing);
    let file = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .open(&passing)
        .map_err(Error::io("make", &passing))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    for place in places.filter(|&place| has_any(choice, place)) {
        copy_segment(&mut out, &passing, choice, place, report)?;
    }
    let file: File = out.into_inner().map_err(|error| Error::io("write", &passing)(error.into_error()))?;
    file.sync_all().map_err(Error::io("sync", &passing))?;
    fs::rename(&passing, path).map_err(Error::io("name", path))?;
    report.files.push(path.to_owned());
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => sync_folder(folder),
        _ => sync_folder(Path::new(".")),
    }
}

fn copy_segment(
    out: &mut BufWriter<File>,
    out_path: &Path,
    choice: &Selection,
    place: usize,
    report: &mut ExportReport,
) -> Result<()> {
    let (file, fates) = &choice.segments[place];
    let path = file.present_path();
    let mut reader = MemberReader::open(&path)?;
    walk(file, fates, &mut |location, fate, main| {
        if fate == Fate::Left {
            return Ok(());
        }
        out.write_all(reader.member(location)?).map_err(Error::io("write", out_path))?;
        report.records += 1;
        report.bytes += u64::from(location.length);
        report.added_for_revisits += u64::from(main && fate == Fate::TakenForRevisit);
        Ok(())
    })
}
