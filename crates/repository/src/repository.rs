//! The writer of a repository.

use std::sync::Arc;

use vernal_model::{Deed, Location, Moment, Partition, Sequence};

use crate::bodies::{Keep, Segments};
use crate::forget::Rewriting;
use crate::journal::Journal;
use crate::reader::Reader;
use crate::recover::TABLES_FOLDER;
use crate::shorten::{JOURNAL_BYTES_MIN, JournalKept, Shortening};
use crate::sieve::{Sieving, sieve};
use crate::tables::{Group, Obsolete, Shared, apply, keys};
use crate::{Cursor, Error, Result};

/// After so many commits the tables are synced, so that little is replayed after a power cut.
const COMMITS_UNSYNCED_MAX: u32 = 512;
/// Obsolete runs of the known set are removed when the tables are synced, at the latest after so many.
const RUNS_OBSOLETE_MAX: usize = 8;
/// Findings that have passed the sieve are removed then too. With more than this, the store would write them to
/// its files only to remove them.
const FOUND_OBSOLETE_MAX: usize = 150_000;

/// Settings: the warcinfo fields and the limits of the files.
#[derive(Clone, Debug)]
pub struct Settings {
    pub software: String,
    pub operator: String,
    pub contact: String,
    pub user_agent: String,
    /// The robots policy in force.
    pub robots: String,
    /// A segment that has reached this size is sealed.
    pub segment_bytes_max: u64,
    /// The id of a new repository, drawn at random if it is not given.
    pub id: Option<u128>,
    /// The tables are kept in memory and rebuilt from the journal at every opening. For trials, which end with their process.
    pub tables_in_memory: bool,
    /// Files that the store keeps open.
    pub store_files_max: usize,
    /// What becomes of the deeds before a checkpoint of the tables.
    pub journal: JournalKept,
    /// The journal is shortened at the earliest when so much was written behind its last checkpoint.
    pub journal_bytes_min: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            software: concat!("vernal/", env!("CARGO_PKG_VERSION")).into(),
            operator: String::new(),
            contact: String::new(),
            user_agent: String::new(),
            robots: "classic".into(),
            segment_bytes_max: 1_000_000_000,
            id: None,
            tables_in_memory: false,
            store_files_max: crate::tables::STORE_FILES_MAX,
            journal: JournalKept::default(),
            journal_bytes_min: JOURNAL_BYTES_MIN,
        }
    }
}

/// A repository that is open for writing. There is at most one per folder at a time.
pub struct Repository {
    pub(crate) shared: Arc<Shared>,
    pub(crate) segments: Segments,
    pub(crate) journal: Journal,
    pub(crate) obsolete: Obsolete,
    pub(crate) commits_unsynced: u32,
    /// The first partition of the next pass of the sieve.
    pub(crate) sieve_from: u8,
    /// The tables are behind the journal. Only opening the repository again repairs them.
    pub(crate) broken: bool,
    pub(crate) shortening: Shortening,
    pub(crate) rewriting: Rewriting,
}

impl Repository {
    pub fn reader(&self) -> Reader {
        Reader { shared: Arc::clone(&self.shared) }
    }

    /// Appends the WARC records of one exchange. They are acknowledged by the next commit, whose deeds refer to them.
    pub fn keep(&mut self, keep: &Keep<'_>) -> Result<Location> {
        self.segments.keep(keep, keep.moment)
    }

    /// Makes a group of deeds durable, all or none: first the bodies, then one journal frame, then the tables. Returns the
    /// cursor after them.
    ///
    /// After an error other than [`Error::Broken`] nothing was done, unless a later call returns `Broken`. Then the journal
    /// may hold the group, and opening the repository again decides.
    pub fn commit(&mut self, deeds: &[(Partition, Deed)], now: Moment) -> Result<Cursor> {
        if self.broken {
            return Err(Error::Broken);
        }
        let (first, entries) = numbered(&self.shared, deeds);
        if entries.is_empty() {
            return Ok(Cursor(first - 1));
        }
        self.segments.sync()?;
        self.journal.append(now, self.segments.end(), entries.iter().copied())?;
        let written = Some(self.journal.written());
        let applied = apply(&self.shared, &Group { moment: now, first, entries, written });
        let obsolete = applied.inspect_err(|_| self.broken = true)?;
        self.obsolete.append(obsolete);
        self.commits_unsynced += 1;
        tracing::debug!(deeds = deeds.len(), position = first + deeds.len() as u64 - 1, "group committed");
        let Obsolete { runs, findings, .. } = &self.obsolete;
        let obsolete = runs.len() >= RUNS_OBSOLETE_MAX || *findings >= FOUND_OBSOLETE_MAX;
        if obsolete || self.commits_unsynced >= COMMITS_UNSYNCED_MAX {
            self.sync_tables()?;
        }
        self.shorten_in_turns();
        Ok(self.reader().cursor())
    }

    /// Compares at most about `limit` found URLs with the known ones. Nothing is written: the caller decides and commits one
    /// `Sieved` deed for each partition of the result.
    pub fn sieve(&mut self, limit: usize) -> Result<Sieving> {
        let (state, known) = {
            let live = self.shared.live();
            (live.state.clone(), live.known.clone())
        };
        let (sieving, next) = sieve(&self.shared.tables, &state, &known, limit.max(1), self.sieve_from)?;
        self.sieve_from = next;
        Ok(sieving)
    }

    /// Syncs the tables, and removes what only a replay from an earlier state would need.
    pub fn sync_tables(&mut self) -> Result<()> {
        let tables = &self.shared.tables;
        tables.persist()?;
        self.commits_unsynced = 0;
        let obsolete = std::mem::take(&mut self.obsolete);
        for path in &obsolete.runs {
            std::fs::remove_file(path).map_err(Error::io("remove", path))?;
        }
        let mut batch = tables.batch(obsolete.findings);
        for (partition, from, through) in obsolete.found {
            for guard in tables.found.range(keys::found(partition, from)..=keys::found(partition, through)) {
                let key = guard.key().map_err(Error::tables("read what was found"))?;
                batch.remove(&tables.found, key);
            }
        }
        batch.commit().map_err(Error::tables("write the tables"))?;
        tracing::debug!(position = self.shared.live().state.position, "tables synced");
        Ok(())
    }

    /// Closes the repository. Records that were kept and not committed are cut at the next opening.
    pub fn close(mut self) -> Result<()> {
        if self.broken {
            return Err(Error::Broken);
        }
        self.end_merging()?;
        let must_flush = self.must_flush()?;
        if must_flush {
            self.note_flushing()?;
        }
        self.sync_tables()?;
        self.shared.tables.flush(&self.shared.dir.join(TABLES_FOLDER), must_flush)?;
        if !self.shared.ends_with_process() {
            self.shared.closed.set();
        }
        Ok(())
    }
}

/// Gives each deed the next sequence number of its partition. Also returns the position of the first deed.
pub(crate) fn numbered<'a>(
    shared: &Shared,
    deeds: &'a [(Partition, Deed)],
) -> (u64, Vec<(Partition, Sequence, &'a Deed)>) {
    let live = shared.live();
    let mut next: Vec<u64> = live.state.partitions.iter().map(|partition| partition.sequence.0).collect();
    let number = |(partition, deed): &'a (Partition, Deed)| {
        let last = &mut next[usize::from(partition.0)];
        *last += 1;
        (*partition, Sequence(*last), deed)
    };
    (live.state.position + 1, deeds.iter().map(number).collect())
}
