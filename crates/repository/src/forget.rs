//! What a person had forgotten: the ledger, and what is left of it on disk.
//!
//! A deed erases the rows of a page at once. What they were stays in the files for a while: in the archive, where its records are
//! overwritten, in the files of the tables until they are merged, and in the journal until a checkpoint takes the place of the
//! deeds that led to it. [`Repository::rewrite_turn`] does all this step by step; each step may be done again after a crash.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};
use vernal_model::{
    Deed, ErasedVisit, Event, ForgottenRow, Found, Location, Moment, PageKey, Partition, Sequence, Site, ToldFolds,
    Visit,
};

use crate::bodies::{followers, overwrite};
use crate::tables::rows::{FoundRow, UrlRow, decode, decode_url, encode};
use crate::tables::{Shared, keys};
use crate::{Cursor, Error, Reader, Repository, Result, folder, journal};

/// Records that are overwritten in one turn.
const RECORDS_PER_TURN: usize = 256;
/// Folders of files that a repair put aside begin like this.
const ASIDE_PREFIX: &str = "damaged-";

/// How far the files have followed what was erased, by positions of the journal. Its row is no deed: it is about these files.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ErasureMark {
    /// The last deed that erased something.
    pub erased: u64,
    /// What was erased up to there is in no file of the tables.
    pub merged: u64,
    /// … nor in the log of the store, once the folder was opened again.
    pub flushed: u64,
    /// … nor in what lay beside the journal.
    pub tidied: u64,
}

/// What is still to be rewritten on disk of what was erased.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ToRewrite {
    /// Records of the archive that are to be overwritten.
    pub records: u64,
    pub tables: bool,
    /// The log of the store: it is emptied when the folder is opened the next time.
    pub store_log: bool,
    pub journal: bool,
    /// Files beside the journal: archived deeds, and what repairs put aside.
    pub aside: bool,
}

impl ToRewrite {
    /// Whether a process that has the folder open has nothing left to do.
    pub fn is_done(&self) -> bool {
        *self == ToRewrite { store_log: self.store_log, ..ToRewrite::default() }
    }
}

/// The ledger and what it needs to know.
impl Reader {
    /// Every entry of the ledger, by its number.
    pub fn forgotten(&self) -> Result<Vec<ForgottenRow>> {
        let rows = self.shared.tables.meta.prefix(keys::FORGOT_PREFIX);
        rows.map(|guard| decode("meta", &guard.value().map_err(Error::tables("read the ledger"))?)).collect()
    }

    /// What is still to be rewritten on disk.
    pub fn to_rewrite(&self) -> Result<ToRewrite> {
        to_rewrite(&self.shared)
    }

    /// The records of all visits to a page, with those that belong to them.
    pub fn records_of_page(&self, page: PageKey) -> Result<Vec<Location>> {
        let visits = self.visits(page)?;
        self.with_followers(
            visits.iter().flat_map(|visit| [visit.record, visit.version.and_then(|made| made.location)]),
        )
    }

    /// The requests for robots.txt of a site, and their records.
    pub fn robots_visits(&self, partition: Partition, site: &Site) -> Result<(Vec<ErasedVisit>, Vec<Location>)> {
        let page = PageKey::new(partition, keys::ROBOTS_NUMBER);
        let (mut visits, mut records) = (Vec::new(), Vec::new());
        for guard in self.shared.tables.visits.prefix(page.bytes()) {
            let (key, row) = guard.into_inner().map_err(Error::tables("read the visit book"))?;
            let visit: Visit = decode("visits", &row)?;
            if visit.robots.as_ref().is_none_or(|url| url.site_text() != site.as_str()) {
                continue;
            }
            let sequence = keys::visit_sequence(&key).ok_or_else(|| Error::row("visits", "its key is too short"))?;
            visits.push(ErasedVisit { page, started: visit.started, sequence });
            records.push(visit.record);
        }
        Ok((visits, self.with_followers(records.into_iter())?))
    }

    /// What was known of each URL of a partition when it was admitted.
    pub fn urls_of(&self, partition: Partition) -> impl Iterator<Item = Result<UrlRow>> + use<> {
        self.shared.tables.urls.prefix([partition.0]).map(|guard| {
            let (key, row) = guard.into_inner().map_err(Error::tables("read the URLs"))?;
            let page = PageKey::from_bytes(&key).ok_or_else(|| Error::row("urls", "its key is too short"))?;
            decode_url(page, &row)
        })
    }

    /// What waits for the sieve in a partition, by the deed that found it.
    pub fn found_of(&self, partition: Partition) -> Result<Vec<(Sequence, Vec<Found>)>> {
        let through = self.shared.live().state.partition(partition).through;
        let range = keys::found(partition, Sequence(through.0 + 1))..=keys::found(partition, Sequence(u64::MAX));
        let rows = self.shared.tables.found.range(range).map(|guard| {
            let (key, row) = guard.into_inner().map_err(Error::tables("read what was found"))?;
            let sequence = keys::found_sequence(&key).ok_or_else(|| Error::row("found", "its key is too short"))?;
            let row: FoundRow<'_> = decode("found", &row)?;
            Ok((sequence, row.urls.into_owned()))
        });
        rows.collect()
    }

    /// The events of sites that are told in the words of one of these pages.
    pub fn site_events_of(&self, pages: &HashSet<PageKey>) -> Result<Vec<(Cursor, Event, ToldFolds)>> {
        let mut quoting = Vec::new();
        for guard in self.shared.tables.tellings.iter() {
            let (key, row) = guard.into_inner().map_err(Error::tables("read the events of sites"))?;
            let position = keys::position(&key).ok_or_else(|| Error::row("tellings", "its key is too short"))?;
            let found = self.events(Cursor(position.saturating_sub(1)), 1)?.pop();
            if let Some((cursor, _, event)) =
                found.filter(|(at, _, event)| at.0 == position && pages.contains(&event.page))
            {
                quoting.push((cursor, event, decode("tellings", &row)?));
            }
        }
        Ok(quoting)
    }

    /// The records at these places, with those that belong to them.
    pub fn with_followers(&self, records: impl Iterator<Item = Option<Location>>) -> Result<Vec<Location>> {
        let mut mains: Vec<Location> = records.flatten().filter(|record| !record.is_lost()).collect();
        mains.sort_unstable();
        mains.dedup();
        let mut all = Vec::with_capacity(2 * mains.len());
        for main in mains {
            all.push(main);
            all.extend(followers(self.dir(), &main)?);
        }
        Ok(all)
    }
}

/// What a process does in the background of what was erased.
#[derive(Default)]
pub(crate) struct Rewriting {
    /// Merges the files of the tables, and where the journal stood when it began.
    merging: Option<(u64, JoinHandle<Result<()>>)>,
    /// A checkpoint is wanted, however short the journal is and whatever is kept of it.
    pub checkpoint_wanted: bool,
}

impl Repository {
    /// Does the next step of what is still to be rewritten, in some milliseconds. Returns whether there is more to do.
    pub fn rewrite_turn(&mut self, now: Moment) -> Result<bool> {
        let left = to_rewrite(&self.shared)?;
        if left.is_done() {
            return Ok(false);
        }
        if left.records > 0 {
            self.overwrite_some(now)?;
            return Ok(true);
        }
        if left.journal {
            self.rewriting.checkpoint_wanted = true;
            self.shorten_in_turns();
            self.rewriting.checkpoint_wanted = false;
        } else if left.tables {
            // A checkpoint that is being written keeps the rows of its moment, so that a merge would too.
            self.merge_on()?;
        } else if left.aside {
            self.remove_aside()?;
        }
        Ok(true)
    }

    /// Rewrites all that is left, and returns when it is done.
    pub fn rewrite_erased(&mut self, now: Moment) -> Result<()> {
        while to_rewrite(&self.shared)?.records > 0 {
            self.overwrite_some(now)?;
        }
        let left = to_rewrite(&self.shared)?;
        if left.tables {
            self.end_merging()?;
            let position = self.shared.live().state.position;
            self.shared.tables.compact()?;
            self.note_merged(position)?;
        }
        if left.journal {
            self.rewriting.checkpoint_wanted = true;
            let shortened = self.shorten_journal();
            self.rewriting.checkpoint_wanted = false;
            shortened?;
        }
        if to_rewrite(&self.shared)?.aside {
            self.remove_aside()?;
        }
        self.sync_tables()
    }

    /// Overwrites some of the records of erased pages.
    fn overwrite_some(&mut self, now: Moment) -> Result<()> {
        let rows = self.shared.tables.meta.prefix(keys::OVERWRITE_PREFIX).take(RECORDS_PER_TURN);
        let records: Vec<Location> = rows
            .map(|guard| {
                let (key, row) = guard.into_inner().map_err(Error::tables("read what is to be overwritten"))?;
                let place = keys::overwritten(&key).ok_or_else(|| Error::row("meta", "a key is too short"))?;
                Ok(Location { segment: place.0, offset: place.1, length: decode("meta", &row)? })
            })
            .collect::<Result<_>>()?;
        overwrite(&self.shared.dir, &records)?;
        self.commit(&[(Partition(0), Deed::Overwritten(records))], now)?;
        Ok(())
    }

    /// Has the files of the tables merged beside the crawl.
    fn merge_on(&mut self) -> Result<()> {
        match self.rewriting.merging.take() {
            Some((position, thread)) if thread.is_finished() => {
                joined(thread)?;
                self.note_merged(position)
            }
            Some(begun) => {
                self.rewriting.merging = Some(begun);
                Ok(())
            }
            None => {
                let (position, shared) = (self.shared.live().state.position, Arc::clone(&self.shared));
                let thread = std::thread::Builder::new().name("merging".into()).spawn(move || shared.tables.compact());
                let thread = thread.map_err(Error::io("begin to merge the tables of", &self.shared.dir))?;
                self.rewriting.merging = Some((position, thread));
                Ok(())
            }
        }
    }

    /// Waits for a merge that is under way.
    pub(crate) fn end_merging(&mut self) -> Result<()> {
        let Some((position, thread)) = self.rewriting.merging.take() else { return Ok(()) };
        joined(thread)?;
        self.note_merged(position)
    }

    fn note_merged(&self, position: u64) -> Result<()> {
        let mark = mark_of(&self.shared)?;
        self.write_mark(ErasureMark { merged: position.max(mark.merged), ..mark })
    }

    /// Whether the log of the store has what was erased: then it is emptied at the next opening.
    pub(crate) fn must_flush(&self) -> Result<bool> {
        let mark = mark_of(&self.shared)?;
        Ok(mark.flushed < mark.erased)
    }

    pub(crate) fn note_flushing(&self) -> Result<()> {
        let mark = mark_of(&self.shared)?;
        self.write_mark(ErasureMark { flushed: self.shared.live().state.position, ..mark })
    }

    /// Removes archived deeds and what repairs put aside. The journal begins behind what was erased by now.
    fn remove_aside(&self) -> Result<()> {
        let dir = &self.shared.dir;
        for path in aside(dir)? {
            tracing::warn!("{} is removed: it has words of pages that were forgotten", path.display());
            fs::remove_dir_all(&path).map_err(Error::io("remove", &path))?;
        }
        folder::sync_folder(dir)?;
        let mark = mark_of(&self.shared)?;
        self.write_mark(ErasureMark { tidied: self.shared.live().state.position, ..mark })
    }

    fn write_mark(&self, mark: ErasureMark) -> Result<()> {
        let mut batch = self.shared.tables.batch(1);
        batch.insert(&self.shared.tables.meta, keys::ERASURE, encode("meta", &mark, &mut Vec::new())?);
        batch.commit().map_err(Error::tables("write the tables"))
    }
}

fn joined(thread: JoinHandle<Result<()>>) -> Result<()> {
    // A panic of that thread is one of this library, and its own error tells nothing more.
    thread.join().unwrap_or(Err(Error::Broken))
}

pub(crate) fn mark_of(shared: &Shared) -> Result<ErasureMark> {
    let row = shared.tables.meta.get(keys::ERASURE).map_err(Error::tables("read what was erased"))?;
    row.map_or(Ok(ErasureMark::default()), |row| decode("meta", &row))
}

fn to_rewrite(shared: &Shared) -> Result<ToRewrite> {
    let mark = mark_of(shared)?;
    if mark.erased == 0 {
        return Ok(ToRewrite::default());
    }
    let seed = folder::known_format(&shared.dir)?.seed();
    let begins_after = journal::begins_after(&shared.dir.join(journal::FOLDER), seed)?;
    let is_in_memory = shared.ends_with_process();
    Ok(ToRewrite {
        records: shared.tables.meta.prefix(keys::OVERWRITE_PREFIX).count() as u64,
        tables: mark.merged < mark.erased && !is_in_memory,
        store_log: mark.flushed < mark.erased && !is_in_memory,
        journal: begins_after < mark.erased && !is_in_memory,
        aside: mark.tidied < mark.erased && !is_in_memory && !aside(&shared.dir)?.is_empty(),
    })
}

/// Archived deeds and files that repairs put aside: nothing of them is ever read.
fn aside(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(Error::io("list", dir))? {
        let path = entry.map_err(Error::io("list", dir))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name == journal::ARCHIVE || name.starts_with(ASIDE_PREFIX) {
            found.push(path);
        }
    }
    Ok(found)
}
