//! WARC and CDXJ: the records as they were kept, byte for byte, and their index.

use std::io::Write;

use vernal_model::{Moment, Span, Url};
use vernal_repository::archive::{self, IndexOf};
use vernal_repository::{Cursor, Reader, Record};

use super::asked::{Asked, PageFilter, Until};
use super::manifest::Manifest;
use super::pages::Progress;
use super::{Error, Result};

/// Visits that were under way at a cursor ended later, but not later than this: records of so long before it are in an export since
/// it once more.
const OVERLAP: Span = Span::from_hours(1);

/// Which records are asked for. Records have times and no cursors.
#[derive(Clone, Debug)]
pub struct RecordFilter {
    pages: PageFilter,
    after: Option<Moment>,
    until: Option<Moment>,
}

impl RecordFilter {
    pub fn of(reader: &Reader, asked: &Asked) -> Result<RecordFilter> {
        let after = match asked.from {
            None => None,
            Some(Until { moment: Some(moment), .. }) => Some(moment),
            Some(Until { cursor, .. }) => moment_of(reader, cursor)?.map(|moment| moment - OVERLAP),
        };
        Ok(RecordFilter { pages: asked.filter.clone(), after, until: asked.to.moment })
    }

    pub fn has(&self, record: &Record) -> bool {
        let is_of_time = || {
            let Some(moment) = record.date() else { return false };
            self.after.is_none_or(|after| moment > after) && self.until.is_none_or(|until| moment <= until)
        };
        let is_of_page =
            || record.target().and_then(|target| Url::parse(target).ok()).is_some_and(|url| self.pages.has(&url));
        (self.pages.is_all() || is_of_page()) && (self.after.is_none() && self.until.is_none() || is_of_time())
    }
}

/// When the newest event up to a cursor was seen; `None` before the first.
fn moment_of(reader: &Reader, cursor: Cursor) -> Result<Option<Moment>> {
    let before = Cursor(cursor.0.saturating_add(1));
    Ok(reader.events_before(before, 1)?.first().map(|(_, _, event)| event.seen_different))
}

/// The selected records as one WARC file.
pub fn warc(reader: &Reader, asked: &Asked, told: &mut dyn FnMut(Progress), out: &mut dyn Write) -> Result<Manifest> {
    asked.check(reader)?;
    let filter = RecordFilter::of(reader, asked)?;
    let mut progress = Progress::default();
    let report = archive::stream_warc(reader.dir(), &|record| filter.has(record), out, &mut |_, _| {
        progress.pages += 1;
        told(progress);
        Ok(())
    })?;
    let mut manifest = Manifest::of(asked, "warc");
    (manifest.records, manifest.damaged) = (report.records, report.damaged);
    Ok(manifest)
}

/// The index of what [`warc`] writes into a file of this name, or of the files that an export into a folder makes.
pub fn cdxj(reader: &Reader, asked: &Asked, file_name: Option<&str>, out: &mut dyn Write) -> Result<Manifest> {
    asked.check(reader)?;
    if file_name.is_some_and(|name| name.contains(['/', '\n'])) {
        return Err(Error::Asked("the name of a file has no slash".into()));
    }
    let filter = RecordFilter::of(reader, asked)?;
    let of = file_name.map_or(IndexOf::Folder, IndexOf::File);
    archive::cdxj(reader.dir(), of, &|record| filter.has(record), out)?;
    Ok(Manifest::of(asked, "cdxj"))
}
