//! Rewrites sealed segments without the records that are not kept.
//!
//! Kept members are appended to the open segment by the ordinary writer, as one group. The caller then journals where
//! they went and commits, and only then retires the old segment. After a crash before the commit, the copies are cut like any
//! unacknowledged tail. A crash after the commit leaves an old segment that nothing refers to; the next compaction retires it.

use std::fs;
use std::path::Path;

use vernal_model::{Location, Moment};

use super::copy::{Fate, MemberReader, Selection, choose, walk};
use crate::bodies::{Segments, segments, sync_folder};
use crate::{Error, Result};

/// What happened to the records of one segment. Request and metadata records move with their main record and are not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compaction {
    pub segment: u32,
    pub moved: Vec<(Location, Location)>,
    pub dropped: Vec<Location>,
    pub bytes_before: u64,
    pub bytes_after: u64,
}

/// Rewrites sealed segments in which at least `dropped_share_min` of the bytes are not kept, one after the other, and
/// hands each to `commit`, which must make the new locations and the new end of the writer durable before it returns. Then
/// the old segment is removed. A response is kept as long as a kept revisit refers to it. `keep` must be true for every
/// location that a table names.
pub fn compact(
    writer: &mut Segments,
    keep: &dyn Fn(&Location) -> bool,
    dropped_share_min: f64,
    now: Moment,
    commit: &mut dyn FnMut(&mut Segments, &Compaction) -> Result<()>,
) -> Result<Vec<Compaction>> {
    // The open segment has the highest serial and stays, so that no serial is used twice.
    writer.make_room(now)?;
    writer.sync()?;
    let dir = writer.dir().to_owned();
    let mut choice = choose(segments(&dir)?, &|location, _| keep(location))?;
    if choice.damaged > 0 {
        let what = "compaction waits until the damage that `verify` names is repaired".to_owned();
        return Err(Error::Corrupt { what, segment: 0, offset: 0 });
    }
    let rewritten = worth_rewriting(&mut choice, dropped_share_min)?;
    let mut done = Vec::new();
    // Backwards, because revisits come after what they refer to: a crash between two segments breaks none.
    for place in (0..choice.segments.len()).rev().filter(|&place| rewritten[place]) {
        let file = &choice.segments[place].0;
        let compaction = rewrite(writer, &choice, place, now)?;
        writer.sync()?;
        commit(writer, &compaction)?;
        retire(&dir, file.serial)?;
        done.push(compaction);
    }
    Ok(done)
}

/// Chooses the segments to rewrite. The records of all others stay, including revisits, so what those refer to must stay too.
/// A segment that keeps more for that reason may no longer be worth rewriting.
fn worth_rewriting(choice: &mut Selection, dropped_share_min: f64) -> Result<Vec<bool>> {
    let is_worth = |choice: &Selection, place: usize| -> Result<bool> {
        let file = &choice.segments[place].0;
        let left_bytes = if file.open { 0 } else { left_bytes(choice, place)? };
        Ok(left_bytes > 0 && left_bytes as f64 >= dropped_share_min * file.bytes as f64)
    };
    let mut rewritten = Vec::with_capacity(choice.segments.len());
    for place in 0..choice.segments.len() {
        rewritten.push(is_worth(choice, place)?);
    }
    loop {
        let changed = choice.take_for_revisits_of(&|segment| !rewritten[segment]);
        if changed.is_empty() {
            return Ok(rewritten);
        }
        for place in changed {
            rewritten[place] = rewritten[place] && is_worth(choice, place)?;
        }
    }
}

/// Removes a sealed segment that nothing refers to.
pub fn retire(dir: &Path, segment: u32) -> Result<()> {
    let files = segments(dir)?;
    let file = files.iter().find(|file| file.serial == segment && !file.open).ok_or(Error::SegmentMissing(segment))?;
    fs::remove_file(&file.path).map_err(Error::io("remove", &file.path))?;
    file.path.parent().map_or(Ok(()), sync_folder)
}

fn left_bytes(choice: &Selection, place: usize) -> Result<u64> {
    let (file, fates) = &choice.segments[place];
    if !fates.contains(&Fate::Left) {
        return Ok(0);
    }
    let mut bytes = 0;
    walk(file, fates, &mut |location, fate, _| {
        bytes += if fate == Fate::Left { u64::from(location.length) } else { 0 };
        Ok(())
    })?;
    Ok(bytes)
}

fn rewrite(writer: &mut Segments, choice: &Selection, place: usize, now: Moment) -> Result<Compaction> {
    let (file, fates) = &choice.segments[place];
    let mut compaction = Compaction { segment: file.serial, bytes_before: file.bytes, ..Compaction::default() };
    let mut reader = MemberReader::open(&file.path)?;
    walk(file, fates, &mut |location, fate, main| {
        match fate {
            Fate::Start => {}
            Fate::Left if main => compaction.dropped.push(*location),
            Fate::Left => {}
            _ => {
                let moved_to = writer.append_member(reader.member(location)?, now)?;
                compaction.bytes_after += u64::from(moved_to.length);
                if main {
                    compaction.moved.push((*location, moved_to));
                }
            }
        }
        Ok(())
    })?;
    Ok(compaction)
}
