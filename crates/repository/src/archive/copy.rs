//! Selects the records of a copy and copies them byte for byte.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use vernal_model::Location;

use crate::bodies::{Record, Scanned, SegmentFile, scan};
use crate::{Error, Result};

/// What happens to each record of one segment, in the order of the file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Taken,
    /// Copied only because a selected revisit refers to it.
    TakenForRevisit,
    Left,
    /// It belongs to the record before it.
    Follows,
    /// The warcinfo record at the start of a segment.
    Start,
}

/// Fates of all records of some segments.
pub(super) struct Selection {
    pub(super) segments: Vec<(SegmentFile, Vec<Fate>)>,
    pub(super) damaged: u64,
    /// Marks of the selected payloads.
    taken: HashSet<u64>,
    /// Payloads that are not selected: their mark, and the indices of segment and record in the lists above.
    left: Vec<(u64, usize, usize)>,
    /// Revisits that are not selected: the mark of what they refer to, and their segment.
    left_revisits: Vec<(u64, usize)>,
}

impl Selection {
    /// Selects the payloads that unselected revisits of these segments refer to. Returns the segments of those payloads.
    pub(super) fn take_for_revisits_of(&mut self, stays: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let revisits = self.left_revisits.iter().filter(|(_, segment)| stays(*segment));
        let wanted: HashSet<u64> = revisits.map(|(mark, _)| *mark).collect();
        self.take_for(&wanted)
    }

    fn take_for(&mut self, wanted: &HashSet<u64>) -> Vec<usize> {
        let Selection { segments, taken, left, .. } = self;
        let mut changed = Vec::new();
        for (mark, segment, record) in left {
            if wanted.contains(mark) && taken.insert(*mark) {
                segments[*segment].1[*record] = Fate::TakenForRevisit;
                changed.push(*segment);
            }
        }
        changed.sort_unstable();
        changed.dedup();
        changed
    }
}

/// Asks `wish` about each response, revisit and resource, then adds what selected revisits refer to.
pub(super) fn choose(files: Vec<SegmentFile>, wish: &dyn Fn(&Location, &Record) -> bool) -> Result<Selection> {
    let mut choice = Selection {
        segments: Vec::with_capacity(files.len()),
        damaged: 0,
        taken: HashSet::new(),
        left: Vec::new(),
        left_revisits: Vec::new(),
    };
    let mut wanted = HashSet::new();
    for (file_place, file) in files.into_iter().enumerate() {
        let mut fates = Vec::new();
        for item in scan(&file.present_path())? {
            let Ok(scanned) = item else {
                choice.damaged += 1;
                continue;
            };
            let record = &scanned.record;
            let fate = fate_of(record, &location_of(&file, &scanned), wish);
            match fate {
                Fate::Taken => {
                    choice.taken.extend(record.payload_mark());
                    wanted.extend(record.referred_mark());
                }
                Fate::Left => {
                    choice.left.extend(record.payload_mark().map(|mark| (mark, file_place, fates.len())));
                    choice.left_revisits.extend(record.referred_mark().map(|mark| (mark, file_place)));
                }
                _ => {}
            }
            fates.push(fate);
        }
        choice.segments.push((file, fates));
    }
    choice.take_for(&wanted);
    Ok(choice)
}

/// Calls `each` with every record of a segment, its fate with followers resolved (`Taken`, `TakenForRevisit`, `Left` or
/// `Start`), and whether it is a main record.
pub(super) fn walk(
    file: &SegmentFile,
    fates: &[Fate],
    each: &mut dyn FnMut(&Location, Fate, bool) -> Result<()>,
) -> Result<()> {
    walk_records(file, fates, &mut |scanned, fate, main| each(&location_of(file, scanned), fate, main))
}

/// Like [`walk`], with the records themselves.
pub(super) fn walk_records(
    file: &SegmentFile,
    fates: &[Fate],
    each: &mut dyn FnMut(&Scanned, Fate, bool) -> Result<()>,
) -> Result<()> {
    let mut last = Fate::Left;
    for (scanned, &fate) in scan(&file.present_path())?.flatten().zip(fates) {
        let main = fate != Fate::Follows;
        last = if main { fate } else { last };
        each(&scanned, last, main)?;
    }
    Ok(())
}

/// Reads the bytes of members without unpacking them.
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
