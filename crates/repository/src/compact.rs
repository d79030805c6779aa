//! Frees disk space: drops bodies that no rule keeps and overwritten rows, merges the runs of the known set, and shortens the
//! journal.
//!
//! When a version is dropped, the revisit records that refer to it are dropped too, so that every revisit has its target. The
//! rows of the visits stay and say that there is no record any more. Records of redirects, errors and robots.txt stay.

use std::fs;
use std::path::Path;

use vernal_model::{Deed, Location, Moment, Outcome, PageKey, Partition, Relocated, Sequence, Span, Visit};

use crate::archive::{self, Compaction};
use crate::bodies::segments;
use crate::recover::{TABLES_FOLDER, sieve_folder};
use crate::repository::{Repository, numbered};
use crate::tables::rows::{decode, encode};
use crate::tables::{Group, Shared, apply, keys};
use crate::{Error, Result, journal};

/// A segment is rewritten when at least this share of its bytes is dropped. Less is not worth copying the rest.
const DROPPED_SHARE_MIN: f64 = 0.05;

/// Which versions keep their bodies. The newest version of a page always does. An older one does if one of the given rules
/// keeps it, or if no rule is given.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// So many newest versions of each page.
    pub keep_versions: Option<u32>,
    /// Versions that are not older than this.
    pub keep_for: Option<Span>,
}

impl Retention {
    /// `place` counts from 0, the newest version.
    fn keeps(&self, place: usize, moment: Moment, now: Moment) -> bool {
        let is_given = self.keep_versions.is_some() || self.keep_for.is_some();
        let by_number = self.keep_versions.is_some_and(|kept| place < kept as usize);
        let by_age = self.keep_for.is_some_and(|span| now.since(moment) <= span);
        place == 0 || !is_given || by_number || by_age
    }
}

/// The result of a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    pub segments_rewritten: u64,
    pub records_moved: u64,
    pub records_dropped: u64,
    pub versions_dropped: u64,
    pub segment_bytes_before: u64,
    pub segment_bytes_after: u64,
    /// Tables and known set.
    pub table_bytes_before: u64,
    pub table_bytes_after: u64,
    pub journal_bytes_before: u64,
    pub journal_bytes_after: u64,
}

impl Repository {
    /// Rewrites segments without the bodies that no rule keeps, then the tables, the known set and the journal. Everything kept must
    /// be committed. A crash loses nothing at any time, because copies count from their commit on and an old segment is removed
    /// after it. It takes 48 bytes of memory for each record, and disk space for the largest rewritten segment.
    pub fn compact(&mut self, rules: Retention, now: Moment) -> Result<Compacted> {
        if self.broken {
            return Err(Error::Broken);
        }
        let mut done = Compacted {
            segment_bytes_before: segment_bytes(&self.shared.dir)?,
            table_bytes_before: table_bytes(&self.shared.dir)?,
            journal_bytes_before: folder_bytes(&self.shared.dir.join(journal::FOLDER))?,
            ..Compacted::default()
        };
        // Before records move: what is to be overwritten is known by its place.
        self.rewrite_erased(now)?;
        self.compact_segments(rules, now, &mut done)?;
        self.shared.tables.compact()?;
        self.compact_known()?;
        self.shorten_journal()?;
        self.sync_tables()?;
        done.journal_bytes_after = folder_bytes(&self.shared.dir.join(journal::FOLDER))?;
        done.segment_bytes_after = segment_bytes(&self.shared.dir)?;
        done.table_bytes_after = table_bytes(&self.shared.dir)?;
        Ok(done)
    }

    fn compact_segments(&mut self, rules: Retention, now: Moment, done: &mut Compacted) -> Result<()> {
        let named = named(&self.shared, rules, now)?;
        let open = self.segments.end().segment;
        if named.iter().any(|record| record.segment == open && !record.kept) {
            self.segments.seal()?;
        }
        let keep = |location: &Location| find(&named, location).is_some_and(|record| record.kept);
        let Repository { shared, segments, journal, obsolete, broken, .. } = self;
        let mut commit = |writer: &mut crate::bodies::Segments, compaction: &Compaction| -> Result<()> {
            let deeds = deeds(&named, compaction, done);
            let (first, entries) = numbered(shared, &deeds);
            journal.append(now, writer.end(), entries.iter().copied())?;
            let applied = apply(shared, &Group { moment: now, first, entries, written: None });
            obsolete.append(applied.inspect_err(|_| *broken = true)?);
            Ok(())
        };
        archive::compact(segments, &keep, DROPPED_SHARE_MIN, now, &mut commit)?;
        Ok(())
    }

    /// Merges the known set into one run. This changes the tables only, because the journal does not mention runs.
    fn compact_known(&mut self) -> Result<()> {
        let known = self.shared.live().known.clone();
        let next = known.in_one_run()?;
        if next.generations() == known.generations() {
            return Ok(());
        }
        let mut state = self.shared.live().state.clone();
        (state.run_big, state.run_small) = next.generations();
        let mut batch = self.shared.tables.batch(1);
        batch.insert(&self.shared.tables.meta, keys::STATE, encode("meta", &state, &mut Vec::new())?);
        batch.commit().map_err(Error::tables("write the tables"))?;
        self.obsolete.runs.extend(known.obsolete_after(&next));
        let mut live = self.shared.live_mut();
        live.state = state;
        live.known = next;
        Ok(())
    }
}

/// A record that a visit names, and whether it stays.
struct NamedRecord {
    segment: u32,
    offset: u64,
    page: PageKey,
    started: Moment,
    sequence: Sequence,
    kept: bool,
    version: bool,
}

/// Every record that the visit book names, by location.
fn named(shared: &Shared, rules: Retention, now: Moment) -> Result<Vec<NamedRecord>> {
    let mut all = Vec::new();
    let mut visits: Vec<(Sequence, Visit)> = Vec::new();
    let mut of = None;
    for guard in shared.tables.visits.iter() {
        let (key, value) = guard.into_inner().map_err(Error::tables("read the visit book"))?;
        let page = PageKey::from_bytes(&key).zip(keys::visit_sequence(&key));
        let (page, sequence) = page.ok_or_else(|| Error::row("visits", "its key is too short"))?;
        if let Some(before) = of.replace(page).filter(|before| *before != page) {
            judge(before, &visits, rules, now, &mut all);
            visits.clear();
        }
        let visit: Visit = decode("visits", &value)?;
        if page.number == keys::ROBOTS_NUMBER {
            // There may be many of these, and none is dropped.
            all.extend(entry(page, sequence, &visit, true));
        } else {
            visits.push((sequence, visit));
        }
    }
    if let Some(page) = of {
        judge(page, &visits, rules, now, &mut all);
    }
    all.sort_unstable_by_key(|record| (record.segment, record.offset));
    Ok(all)
}

/// Decides which records of one page stay. Its visits come oldest first.
fn judge(page: PageKey, visits: &[(Sequence, Visit)], rules: Retention, now: Moment, all: &mut Vec<NamedRecord>) {
    let versions = visits.iter().filter(|(_, visit)| visit.version.is_some()).count();
    let (mut met, mut current_kept) = (0, true);
    for (sequence, visit) in visits {
        let confirms = matches!(visit.outcome, Outcome::NotModified | Outcome::Read { .. });
        let kept = match &visit.version {
            Some(version) => {
                met += 1;
                current_kept = rules.keeps(versions - met, version.moment, now);
                current_kept
            }
            // A revisit record stays or goes with the record that it refers to.
            None if confirms => current_kept,
            None => true,
        };
        all.extend(entry(page, *sequence, visit, kept));
    }
}

fn entry(page: PageKey, sequence: Sequence, visit: &Visit, kept: bool) -> Option<NamedRecord> {
    let Location { segment, offset, .. } = visit.record.filter(|location| !location.is_lost())?;
    let version = visit.version.is_some();
    Some(NamedRecord { segment, offset, page, started: visit.started, sequence, kept, version })
}

fn find<'a>(named: &'a [NamedRecord], location: &Location) -> Option<&'a NamedRecord> {
    let place = named.binary_search_by_key(&(location.segment, location.offset), |at| (at.segment, at.offset));
    place.ok().map(|place| &named[place])
}

/// What happened to the records of one segment, as deeds of the partitions that their pages lie in.
fn deeds(named: &[NamedRecord], compaction: &Compaction, done: &mut Compacted) -> Vec<(Partition, Deed)> {
    done.segments_rewritten += 1;
    done.records_moved += compaction.moved.len() as u64;
    done.records_dropped += compaction.dropped.len() as u64;
    let moved = compaction.moved.iter().map(|(old, new)| (old, Some(*new)));
    let dropped = compaction.dropped.iter().map(|old| (old, None));
    let mut by_partition: std::collections::BTreeMap<Partition, Vec<Relocated>> = std::collections::BTreeMap::new();
    for (old, to) in moved.chain(dropped) {
        let Some(record) = find(named, old) else { continue };
        done.versions_dropped += u64::from(to.is_none() && record.version);
        let NamedRecord { page, started, sequence, .. } = *record;
        by_partition.entry(page.partition).or_default().push(Relocated { page, started, sequence, to });
    }
    // Without a deed there would be no frame, and without a frame the copies would be cut at the next opening.
    if by_partition.is_empty() {
        by_partition.insert(Partition(0), Vec::new());
    }
    by_partition.into_iter().map(|(partition, visits)| (partition, Deed::Relocated(visits))).collect()
}

fn segment_bytes(dir: &Path) -> Result<u64> {
    Ok(segments(dir)?.iter().map(|file| file.bytes).sum())
}

fn table_bytes(dir: &Path) -> Result<u64> {
    Ok(folder_bytes(&dir.join(TABLES_FOLDER))? + folder_bytes(&sieve_folder(dir))?)
}

/// The bytes of the files in a folder. Files that the store removes meanwhile count as zero.
fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))?.flatten() {
        bytes += match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => folder_bytes(&entry.path()).unwrap_or(0),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        };
    }
    Ok(bytes)
}
