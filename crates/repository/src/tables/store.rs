//! Opens the tables: one database with one keyspace per table, and limited buffers.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fjall::compaction::Leveled;
use fjall::config::CompressionPolicy;
use fjall::{CompressionType, Database, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode};
use vernal_model::Site;

use super::keys;
use super::memory::{Map, MemoryTables};
use super::rows::{StampedSite, State};
use super::table::{Batch, Table};
use crate::bodies::sync_folder;
use crate::{Error, Result};

/// The write buffer of a table. Four of the tables are busy.
const MEMTABLE_BYTES_MAX: u64 = 4 << 20;
/// The write buffer of the table with a row for each known URL. It is larger, so that less is merged repeatedly.
const MEMTABLE_OF_URLS_BYTES_MAX: u64 = 8 << 20;
/// The write buffer of the table of found URLs. It is large enough that most rows are added and removed within the buffer and
/// never reach a table file.
const MEMTABLE_OF_FOUND_BYTES_MAX: u64 = 20 << 20;
/// The size of a table file. Most new rows have keys at the end (the next number). With small files, a merge touches only the
/// files at that end, and its cost does not grow with the table.
const TABLE_FILE_BYTES: u64 = 4 << 20;
const CACHE_BYTES_MAX: u64 = 12 << 20;
/// When the log of the store reaches this size, the buffers are flushed even if they are not full. So it is as large as a few
/// large buffers. After a crash at most so much is replayed.
const STORE_LOG_BYTES_MAX: u64 = 128 << 20;
/// One thread of the store flushes and compacts. With more threads, the first one of fjall 3.1 re-sends every compaction request
/// to itself while another thread is busy; at ten million URLs that took a third of all CPU.
const STORE_THREADS: usize = 1;
/// Files that the store keeps open, where descriptors are not scarce.
pub(crate) const STORE_FILES_MAX: usize = 900;
/// With fewer, the store would open files all the time.
const STORE_FILES_MIN: usize = 16;
/// This file exists when every row is in a table file, so that the log of the store is not needed.
pub(super) const FLUSHED_FILE: &str = "flushed";
pub(super) const STORE_LOG_SUFFIX: &str = "jnl";
/// A shorter log of the store is left to the next opening. Replaying it is cheaper than writing and syncing a new file for every
/// table.
const FLUSH_LOG_BYTES_MIN: u64 = 4 << 20;
/// How often and how many times a close checks whether the store has flushed. Without a flush nothing is lost: the next start
/// replays the log of the store.
const FLUSH_LOOK_EVERY: Duration = Duration::from_millis(1);
const FLUSH_LOOKS_MAX: usize = 10_000;
/// How many more checks wait for flushed files to be moved to their level. During a large merge this is left to the next
/// opening.
const PLACING_LOOKS_MAX: usize = 200;

const TABLES: usize = 28;
/// Their names, in the order of `all`.
const NAMES: [&str; TABLES] = [
    "urls",
    "waiting",
    "pages",
    "documents",
    "visits",
    "sites",
    "robots",
    "found",
    "events",
    "page_events",
    "version_rows",
    "folds",
    "tellings",
    "names",
    "name_marks",
    "noise",
    "page_noise",
    "terms",
    "page_topics",
    "topics",
    "weights",
    "left",
    "relinked",
    "hints",
    "page_hints",
    "listed",
    "series",
    "meta",
];
/// Tables keyed by page number alone, with a row for almost every page.
const TABLES_BY_PAGE: [&str; 3] = ["urls", "pages", "documents"];
/// Tables whose rows are almost never rewritten.
const TABLES_WRITTEN_ONCE: [&str; 5] = ["visits", "events", "page_events", "version_rows", "tellings"];

pub(crate) struct Tables {
    backend: Backend,
    pub urls: Table,
    pub waiting: Table,
    pub pages: Table,
    pub documents: Table,
    pub visits: Table,
    pub sites: Table,
    pub robots: Table,
    pub found: Table,
    pub events: Table,
    pub page_events: Table,
    pub version_rows: Table,
    pub folds: Table,
    pub tellings: Table,
    pub names: Table,
    pub name_marks: Table,
    pub noise: Table,
    pub page_noise: Table,
    pub terms: Table,
    pub page_topics: Table,
    pub topics: Table,
    pub weights: Table,
    pub left: Table,
    pub relinked: Table,
    pub hints: Table,
    pub page_hints: Table,
    pub listed: Table,
    pub series: Table,
    pub meta: Table,
}

/// The write pattern of a table.
#[derive(Copy, Clone)]
enum TableKind {
    Small,
    OfUrls,
    OfFound,
    /// Rewritten with every visit, so compressing it costs more than it saves.
    Unpacked,
}

/// The storage of the tables.
enum Backend {
    Store(Database),
    Memory(Arc<MemoryTables>),
}

impl Tables {
    pub fn open(folder: &Path) -> Result<Tables> {
        Tables::open_with(folder, STORE_FILES_MAX)
    }

    /// Opens the tables with so many of the store's files kept open.
    pub fn open_with(folder: &Path, files_max: usize) -> Result<Tables> {
        empty_flushed_log(folder)?;
        let open = || -> fjall::Result<Tables> {
            let database = Database::builder(folder)
                .cache_size(CACHE_BYTES_MAX)
                .max_cached_files(Some(files_max.max(STORE_FILES_MIN)))
                .max_journaling_size(STORE_LOG_BYTES_MAX)
                .worker_threads(STORE_THREADS)
                // The log of the store is short-lived. Compressing it costs more than writing it.
                .journal_compression(CompressionType::None)
                .open()?;
            Tables::made(Backend::Store(database.clone()), |name, kind| {
                let made = match kind {
                    TableKind::Small => options(MEMTABLE_BYTES_MAX),
                    TableKind::OfUrls => options(MEMTABLE_OF_URLS_BYTES_MAX),
                    TableKind::OfFound => options(MEMTABLE_OF_FOUND_BYTES_MAX),
                    TableKind::Unpacked => {
                        options(MEMTABLE_BYTES_MAX).data_block_compression_policy(CompressionPolicy::disabled())
                    }
                };
                database.keyspace(name, || made).map(Table::Store)
            })
        };
        open().map_err(Error::tables("open the tables"))
    }

    /// Empty tables that end with the process.
    pub fn in_memory() -> Result<Tables> {
        let maps = MemoryTables::new();
        let table = |name: &str, _| {
            let map = match name {
                name if TABLES_BY_PAGE.contains(&name) => Map::by_page(),
                name if TABLES_WRITTEN_ONCE.contains(&name) => Map::of_rows_written_once(),
                _ => Map::sorted(),
            };
            Ok(Table::Memory(maps.table(map)))
        };
        Tables::made(Backend::Memory(Arc::clone(&maps)), table).map_err(Error::tables("make the tables"))
    }

    /// Makes every table with its name and kind.
    fn made(backend: Backend, mut next: impl FnMut(&str, TableKind) -> fjall::Result<Table>) -> fjall::Result<Tables> {
        Ok(Tables {
            urls: next("urls", TableKind::OfUrls)?,
            waiting: next("waiting", TableKind::Small)?,
            pages: next("pages", TableKind::Unpacked)?,
            // Digests and fingerprints do not compress, and trying costs a tenth of a visit.
            documents: next("documents", TableKind::Unpacked)?,
            visits: next("visits", TableKind::Small)?,
            sites: next("sites", TableKind::Small)?,
            robots: next("robots", TableKind::Small)?,
            found: next("found", TableKind::OfFound)?,
            // Small rows that are read soon and then seldom (decision 13). Compressing them cost more than writing the journal.
            events: next("events", TableKind::Unpacked)?,
            page_events: next("page_events", TableKind::Small)?,
            version_rows: next("version_rows", TableKind::Small)?,
            folds: next("folds", TableKind::Small)?,
            tellings: next("tellings", TableKind::Small)?,
            names: next("names", TableKind::Small)?,
            name_marks: next("name_marks", TableKind::Small)?,
            noise: next("noise", TableKind::Small)?,
            page_noise: next("page_noise", TableKind::Small)?,
            terms: next("terms", TableKind::Small)?,
            page_topics: next("page_topics", TableKind::Small)?,
            topics: next("topics", TableKind::Small)?,
            weights: next("weights", TableKind::Small)?,
            left: next("left", TableKind::Small)?,
            relinked: next("relinked", TableKind::Small)?,
            hints: next("hints", TableKind::Small)?,
            page_hints: next("page_hints", TableKind::Small)?,
            listed: next("listed", TableKind::Small)?,
            series: next("series", TableKind::Small)?,
            meta: next("meta", TableKind::Small)?,
            backend,
        })
    }

    /// Whether the tables lie in memory alone.
    pub fn are_in_memory(&self) -> bool {
        matches!(self.backend, Backend::Memory(_))
    }

    /// A batch with capacity for so many rows. A committed batch has been handed to the operating system, so a process that is
    /// killed loses nothing of it.
    pub fn batch(&self, rows: usize) -> Batch {
        match &self.backend {
            Backend::Store(database) => {
                let batch = OwnedWriteBatch::with_capacity(database.clone(), rows);
                Batch::Store(batch.durability(Some(PersistMode::Buffer)))
            }
            Backend::Memory(maps) => {
                let mut room = maps.room();
                room.reserve(rows);
                Batch::Memory(Arc::clone(maps), room)
            }
        }
    }

    pub fn state(&self) -> Result<Option<State>> {
        let row = self.meta.get(keys::STATE).map_err(Error::tables("read the state of the tables"))?;
        row.map(|bytes| State::decode(&bytes)).transpose()
    }

    pub fn sites(&self) -> Result<BTreeMap<Site, StampedSite>> {
        let mut sites = BTreeMap::new();
        for entry in self.sites.iter() {
            let value = entry.value().map_err(Error::tables("read the sites"))?;
            let site = StampedSite::decode(&value)?;
            sites.insert(site.row.site.clone(), site);
        }
        Ok(sites)
    }

    /// Every table with its name.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &Table)> {
        NAMES.into_iter().zip(self.all())
    }

    /// Compacts every table: drops overwritten and removed rows.
    pub fn compact(&self) -> Result<()> {
        for table in self.all().into_iter().filter_map(Table::stored) {
            table.rotate_memtable_and_wait().map_err(Error::tables("flush a table"))?;
            table.major_compact().map_err(Error::tables("compact a table"))?;
        }
        Ok(())
    }

    fn all(&self) -> [&Table; TABLES] {
        [
            &self.urls,
            &self.waiting,
            &self.pages,
            &self.documents,
            &self.visits,
            &self.sites,
            &self.robots,
            &self.found,
            &self.events,
            &self.page_events,
            &self.version_rows,
            &self.folds,
            &self.tellings,
            &self.names,
            &self.name_marks,
            &self.noise,
            &self.page_noise,
            &self.terms,
            &self.page_topics,
            &self.topics,
            &self.weights,
            &self.left,
            &self.relinked,
            &self.hints,
            &self.page_hints,
            &self.listed,
            &self.series,
            &self.meta,
        ]
    }

    /// Flushes every row into a table file and records that, unless the log of the store is short. Then the next opening has no
    /// log to replay; where it `must` be, however short. Also waits until the files are moved to their level, which the next opening would otherwise do first.
    /// Nothing may be written afterwards.
    pub fn flush(&self, folder: &Path, must: bool) -> Result<()> {
        let Backend::Store(database) = &self.backend else { return Ok(()) };
        // The store preallocates its first log file, so a first crawl always flushes its tables.
        let mut logged = 0;
        for (_, path) in store_logs(folder)? {
            logged += path.metadata().map_err(Error::io("look at", &path))?.len();
        }
        if logged < FLUSH_LOG_BYTES_MIN && !must {
            return Ok(());
        }
        let tables = || self.all().into_iter().filter_map(Table::stored);
        // The store checks the level of the files once for each table that it has flushed.
        let mut looks = database.compactions_completed();
        for table in tables() {
            looks += usize::from(table.rotate_memtable().map_err(Error::tables("flush a table"))?);
        }
        if !came_true(FLUSH_LOOKS_MAX, || tables().all(|table| table.sealed_memtable_count() == 0)) {
            return Ok(());
        }
        came_true(PLACING_LOOKS_MAX, || database.compactions_completed() >= looks);
        let path = folder.join(FLUSHED_FILE);
        let mark = File::create(&path).map_err(Error::io("make", &path))?;
        mark.sync_all().map_err(Error::io("sync", &path))?;
        sync_folder(folder)
    }

    pub fn persist(&self) -> Result<()> {
        match &self.backend {
            Backend::Store(database) => {
                database.persist(PersistMode::SyncAll).map_err(Error::tables("sync the tables"))
            }
            Backend::Memory(_) => Ok(()),
        }
    }
}

/// Waits for work on the thread of the store. Returns whether it was done.
fn came_true(looks_max: usize, is_so: impl Fn() -> bool) -> bool {
    (0..looks_max).any(|_| {
        let done = is_so();
        if !done {
            std::thread::park_timeout(FLUSH_LOOK_EVERY);
        }
        done
    })
}

/// Empties the log of the store where all tables were flushed. Its newest file is truncated and kept, because the store reads
/// its last sequence number from the tables only if there is a log file. The mark is removed last, so that a crash in between
/// empties the rest at the next opening, before the store writes anything new.
fn empty_flushed_log(folder: &Path) -> Result<()> {
    let mark = folder.join(FLUSHED_FILE);
    if !mark.exists() {
        return Ok(());
    }
    let mut logs = store_logs(folder)?;
    if let Some((_, newest)) = logs.pop() {
        let log = File::options().write(true).open(&newest).map_err(Error::io("open", &newest))?;
        log.set_len(0).map_err(Error::io("empty", &newest))?;
        log.sync_all().map_err(Error::io("sync", &newest))?;
    }
    for (_, path) in logs {
        fs::remove_file(&path).map_err(Error::io("remove", &path))?;
    }
    sync_folder(folder)?;
    fs::remove_file(&mark).map_err(Error::io("remove", &mark))?;
    sync_folder(folder)
}

/// The log files of the store, by number.
fn store_logs(folder: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let mut logs = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let path = entry.map_err(Error::io("list", folder))?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse::<u64>().ok());
        logs.extend(stem.filter(|_| path.extension().is_some_and(|suffix| suffix == STORE_LOG_SUFFIX)).zip(Some(path)));
    }
    logs.sort_unstable();
    Ok(logs)
}

fn options(memtable_bytes_max: u64) -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        .max_memtable_size(memtable_bytes_max)
        .compaction_strategy(Arc::new(Leveled::default().with_table_target_size(TABLE_FILE_BYTES)))
        .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_leaves_nothing_for_the_next_opening_to_put_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let tables = Tables::open(folder.path()).unwrap();
        let mut batch = tables.batch(TABLES);
        for table in tables.all() {
            batch.insert(table, *b"key", *b"row");
        }
        batch.commit().unwrap();
        tables.flush(folder.path(), false).unwrap();
        assert!(folder.path().join(FLUSHED_FILE).exists());
        drop(tables);
        let tables = Tables::open(folder.path()).unwrap();
        for table in tables.all() {
            let stored = table.stored().unwrap();
            assert_eq!((stored.table_count(), stored.l0_table_count()), (1, 0));
            assert_eq!(table.get(b"key").unwrap().as_deref(), Some(&b"row"[..]));
        }
    }
}
