//! Overwrites records of erased pages where they lie, so that no other record moves.
//!
//! ```text
//! before:  response member | request member | the next record
//! after:   metadata member of the same length, whose block is spaces | the same | the next record
//! ```
//!
//! What stands there afterwards is a whole WARC record without a URL, which any archive tool passes over. A write that a crash
//! cuts short is done again: the places are known before the first of them is overwritten.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use vernal_model::Location;

use super::keep::digest_of;
use super::member::padded;
use super::scan::scan_from;
use super::segment::segments;
use crate::{Error, Result};

/// So many records at most belong to another one. Ours have two.
const FOLLOWERS_MAX: usize = 16;

/// The records that belong to the one at this place: its request, and what else was said of it.
pub(crate) fn followers(dir: &Path, main: &Location) -> Result<Vec<Location>> {
    let files = segments(dir)?;
    let Some(file) = files.iter().find(|file| file.serial == main.segment) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let behind = main.offset + u64::from(main.length);
    for item in scan_from(&file.present_path(), behind)?.take(FOLLOWERS_MAX) {
        let Ok(scanned) = item else { break };
        if scanned.record.header("WARC-Concurrent-To").is_none() {
            break;
        }
        found.push(Location { segment: main.segment, offset: scanned.offset, length: scanned.length as u32 });
    }
    Ok(found)
}

/// Overwrites these places. They are on disk when this returns. Segments that are gone had nothing else, or were rewritten.
pub(crate) fn overwrite(dir: &Path, places: &[Location]) -> Result<()> {
    let mut by_segment: BTreeMap<u32, Vec<&Location>> = BTreeMap::new();
    places.iter().for_each(|place| by_segment.entry(place.segment).or_default().push(place));
    let files = segments(dir)?;
    for (serial, places) in by_segment {
        let Some(file) = files.iter().find(|file| file.serial == serial) else { continue };
        let path = file.present_path();
        let handle = File::options().write(true).open(&path).map_err(Error::io("open", &path))?;
        let bytes = handle.metadata().map_err(Error::io("look at", &path))?.len();
        for place in places.into_iter().filter(|place| place.offset + u64::from(place.length) <= bytes) {
            let member = blank(place).ok_or_else(|| Error::Corrupt {
                what: "a record is too short to be overwritten".into(),
                segment: serial,
                offset: place.offset,
            })?;
            handle.write_all_at(&member, place.offset).map_err(Error::io("overwrite a record of", &path))?;
        }
        handle.sync_data().map_err(Error::io("sync", &path))?;
    }
    Ok(())
}

/// A member of the length of this place with a record that says nothing; `None` where it has no room for one.
fn blank(place: &Location) -> Option<Vec<u8>> {
    padded(place.length as usize, &|bytes| record(place, bytes))
}

/// A record whose content has so many bytes.
fn record(place: &Location, bytes: usize) -> Option<Vec<u8>> {
    let head = |block: &[u8]| {
        format!(
            "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:erased:{}:{}>\r\nWARC-Date: 1970-01-01T00:00:00Z\r\nWARC-Block-Digest: sha1:{}\r\nContent-Length: {:010}\r\n\r\n",
            place.segment,
            place.offset,
            String::from_utf8_lossy(&digest_of(&[block]).base32()),
            block.len(),
        )
    };
    const END: &[u8] = b"\r\n\r\n";
    let block = vec![b' '; bytes.checked_sub(head(&[]).len() + END.len())?];
    Some([head(&block).as_bytes(), &block, END].concat())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::scan::{Scan, ScanLimits};
    use super::*;

    fn place(length: u32) -> Location {
        Location { segment: 7, offset: 1_234_567, length }
    }

    #[test]
    fn a_blank_record_of_any_length_is_whole_and_has_that_length() {
        let lengths = (230..700).chain(65_400..66_000).chain([131_072, 1_000_000]);
        for length in lengths {
            let member = blank(&place(length)).unwrap();
            assert_eq!(member.len(), length as usize);
            let items: Vec<_> = Scan::new(Cursor::new(member), ScanLimits::default()).collect();
            let [Ok(scanned)] = &items[..] else { panic!("{length}: {items:?}") };
            let record = &scanned.record;
            assert_eq!((record.kind(), record.target(), scanned.length), ("metadata", None, u64::from(length)));
            assert_eq!(record.block_digest(), Some(digest_of(&[&record.block])));
            assert!(record.block.iter().all(|&byte| byte == b' ') && record.date().is_some());
        }
        assert_eq!(blank(&place(100)), None);
    }
}
