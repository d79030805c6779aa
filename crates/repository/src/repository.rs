//! The one writer.

use std::sync::Arc;

use vernal_model::{Deed, Location, Moment, Partition, Sequence};

use crate::bodies::{Keep, Segments};
use crate::journal::Journal;
use crate::reader::Reader;
use crate::recover::TABLES_FOLDER;
use crate::sieve::{Sieving, sieve};
use crate::tables::{Group, Outlived, Shared, apply, keys};
use crate::{Cursor, Error, Result};

/// After so many commits the tables are synced, so that a start after a power cut has little to replay.
const COMMITS_UNSYNCED_MAX: u32 = 512;
/// Runs of the known set wait for a checkpoint before they are removed; more than this would waste the disk.
const RUNS_OUTLIVED_MAX: usize = 8;
/// So do findings that have passed the sieve. A checkpoint costs a sync; more findings than this would be written out by
/// the store only to be removed.
const FOUND_OUTLIVED_MAX: usize = 150_000;

/// Who crawls and how, for the warcinfo records; and the limits of the files.
#[derive(Clone, Debug)]
pub struct Settings {
    pub software: String,
    pub operator: String,
    pub contact: String,
    pub user_agent: String,
    /// The robots policy in force.
    pub robots: String,
    /// A segment that has passed this is sealed.
    pub segment_bytes_max: u64,
    /// The number of a repository that is made now; drawn at random if it is not given.
    pub id: Option<u128>,
    /// The tables lie in memory and are made anew from the journal at every opening: for trials, which end with their process.
    pub tables_in_memory: bool,
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
        }
    }
}

/// Everything we know, open for writing. There is one per folder at a time.
pub struct Repository {
    pub(crate) shared: Arc<Shared>,
    pub(crate) segments: Segments,
    pub(crate) journal: Journal,
    pub(crate) outlived: Outlived,
    pub(crate) commits_unsynced: u32,
    /// The partition that the next pass of the sieve begins with.
    pub(crate) sieve_from: u8,
    /// The tables are behind the journal; only opening again makes them whole.
    pub(crate) broken: bool,
}

impl Repository {
    pub fn reader(&self) -> Reader {
        Reader { shared: Arc::clone(&self.shared) }
    }

    /// Appends the WARC records of one exchange. They are durable, and named by nobody, until the next commit.
    pub fn keep(&mut self, keep: &Keep<'_>) -> Result<Location> {
        self.segments.keep(keep, keep.moment)
    }

    /// Makes a group of deeds durable, all or none: bodies, then one journal frame, then the tables. The answer is the
    /// cursor behind them.
    ///
    /// After an error that is not [`Error::Broken`] nothing was done, unless a later call answers `Broken`: then the
    /// journal may hold the group, and opening the repository again decides.
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
        let outlived = applied.inspect_err(|_| self.broken = true)?;
        self.outlived.append(outlived);
        self.commits_unsynced += 1;
        let Outlived { runs, findings, .. } = &self.outlived;
        let outlived = runs.len() >= RUNS_OUTLIVED_MAX || *findings >= FOUND_OUTLIVED_MAX;
        if outlived || self.commits_unsynced >= COMMITS_UNSYNCED_MAX {
            self.checkpoint()?;
        }
        Ok(self.reader().cursor())
    }

    /// Meets what was found with what is known: at most about `limit` found URLs. Nothing is written; the `Sieved` deeds
    /// that the caller commits, one for each partition named, carry the decision.
    pub fn sieve(&mut self, limit: usize) -> Result<Sieving> {
        let (state, known) = {
            let live = self.shared.live();
            (live.state.clone(), live.known.clone())
        };
        let (sieving, next) = sieve(&self.shared.tables, &state, &known, limit.max(1), self.sieve_from)?;
        self.sieve_from = next;
        Ok(sieving)
    }

    /// Syncs the tables, and removes what only a replay from before could have needed.
    pub fn checkpoint(&mut self) -> Result<()> {
        let tables = &self.shared.tables;
        tables.persist()?;
        self.commits_unsynced = 0;
        let outlived = std::mem::take(&mut self.outlived);
        for path in &outlived.runs {
            std::fs::remove_file(path).map_err(Error::io("remove", path))?;
        }
        let mut batch = tables.batch(outlived.findings);
        for (partition, from, through) in outlived.found {
            for guard in tables.found.range(keys::found(partition, from)..=keys::found(partition, through)) {
                let key = guard.key().map_err(Error::tables("read what was found"))?;
                batch.remove(&tables.found, key);
            }
        }
        batch.commit().map_err(Error::tables("write the tables"))
    }

    /// Ends everything in order. What was kept and not committed is forgotten at the next opening.
    pub fn close(mut self) -> Result<()> {
        if self.broken {
            return Err(Error::Broken);
        }
        self.checkpoint()?;
        self.shared.tables.flush(&self.shared.dir.join(TABLES_FOLDER))
    }
}

/// Gives each deed the next sequence number of its partition, and says the position of the first.
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
