//! Which records a copy takes, and copying them byte for byte.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use vernal_model::Location;

use crate::bodies::{Record, Scanned, SegmentFile, scan};
use crate::{Error, Result};

/// What becomes of each record of one segment, in the order of the file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Taken,
    /// Nobody asked for it, and a revisit that is taken needs it.
    TakenForRevisit,
    Left,
    /// It belongs to the record before it.
    Follows,
    /// The warcinfo record at the start of a segment.
    Start,
}

/// Fates of all records of some segments.
pub(super) struct Choice {
    pub(super) segments: Vec<(SegmentFile, Vec<Fate>)>,
    pub(super) damaged: u64,
}

/// Asks `wish` about each response, revisit and resource, then adds what taken revisits refer to.
pub(super) fn choose(files: Vec<SegmentFile>, wish: &dyn Fn(&Location, &Record) -> bool) -> Result<Choice> {
    let mut choice = Choice { segments: Vec::with_capacity(files.len()), damaged: 0 };
    let (mut taken, mut wanted, mut left) = (HashSet::new(), HashSet::new(), Vec::new());
    for (file_place, file) in files.into_iter().enumerate() {
        let mut fates = Vec::new();
        for item in scan(&file.path)? {
            let Ok(scanned) = item else {
                choice.damaged += 1;
                continue;
            };
            let record = &scanned.record;
            let fate = fate_of(record, &location_of(&file, &scanned), wish);
            match fate {
                Fate::Taken => {
                    taken.extend(record.payload_mark());
                    wanted.extend(record.referred_mark());
                }
                Fate::Left => left.extend(record.payload_mark().map(|mark| (mark, file_place, fates.len()))),
                _ => {}
            }
            fates.push(fate);
        }
        choice.segments.push((file, fates));
    }
    for (mark, file_place, record_place) in left {
        if wanted.contains(&mark) && taken.insert(mark) {
            choice.segments[file_place].1[record_place] = Fate::TakenForRevisit;
        }
    }
    Ok(choice)
}

/// Calls `each` with every record of a segment, its fate with followers resolved (`Taken`, `TakenForRevisit`, `Left` or
/// `Start`), and whether it is a main record.
pub(super) fn walk(
    file: &SegmentFile,
    fates: &[Fate],
    each: &mut dyn FnMut(&Location, Fate, bool) -> Result<()>,
) -> Result<()> {
    let mut last = Fate::Left;
    for (scanned, &fate) in scan(&file.path)?.flatten().zip(fates) {
        let main = fate != Fate::Follows;
        last = if main { fate } else { last };
        each(&location_of(file, &scanned), last, main)?;
    }
    Ok(())
}

/// Reads members as they lie in a file.
pub(super) struct MemberReader<'a> {
    file: File,
    path: &'a Path,
    member: Vec<u8>,
}

impl<'a> MemberReader<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        Ok(MemberReader { file, path, member: Vec::new() })
    }

    pub(super) fn member(&mut self, location: &Location) -> Result<&[u8]> {
        self.member.resize(location.length as usize, 0);
        self.file.seek(SeekFrom::Start(location.offset)).map_err(Error::io("read", self.path))?;
        self.file.read_exact(&mut self.member).map_err(Error::io("read", self.path))?;
        Ok(&self.member)
    }
}

fn fate_of(record: &Record, location: &Location, wish: &dyn Fn(&Location, &Record) -> bool) -> Fate {
    match record.kind() {
        "warcinfo" => Fate::Start,
        _ if record.header("WARC-Concurrent-To").is_some() => Fate::Follows,
        _ if wish(location, record) => Fate::Taken,
        _ => Fate::Left,
    }
}

fn location_of(file: &SegmentFile, scanned: &Scanned) -> Location {
    Location { segment: file.serial, offset: scanned.offset, length: scanned.length as u32 }
}
