//! The tables opened: one database, one keyspace per table, every buffer limited.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use fjall::compaction::Leveled;
use fjall::config::CompressionPolicy;
use fjall::{CompressionType, Database, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode};
use vernal_model::Site;

use super::keys;
use super::memory::{Map, Maps};
use super::page_rows::PageRows;
use super::rows::{StampedSite, State, decode};
use super::table::{Batch, Table};
use crate::bodies::{Bodies, sync_folder};
use crate::graph::{self, LinkIndex};
use crate::sieve::KnownSet;
use crate::{Error, Result};

/// Each table's write buffer; of all tables four are busy.
const MEMTABLE_BYTES_MAX: u64 = 4 << 20;
/// That of the table with a row for each URL that is met: larger, so that less is merged again and again.
const MEMTABLE_OF_URLS_BYTES_MAX: u64 = 8 << 20;
/// That of what was found and waits for the sieve: large enough that most of it comes and goes within the buffer and is
/// never written to a table file.
const MEMTABLE_OF_FOUND_BYTES_MAX: u64 = 20 << 20;
/// The size of a table file. Most of what is added lies at the end of the key space (the next number); with small files a
/// merge touches the files at that end alone, and its cost does not grow with the table.
const TABLE_FILE_BYTES: u64 = 4 << 20;
const CACHE_BYTES_MAX: u64 = 12 << 20;
/// When the store's own log reaches this, the buffers are written out whether or not they are full; so it is as large as a
/// few of the large ones. After a crash at most so much is replayed.
const STORE_LOG_BYTES_MAX: u64 = 128 << 20;
/// One thread of the store's own, for flushing and compacting. With more, fjall 3.1 lets the first of them pass every
/// request to compact on to itself while another is at it: at ten million URLs that was a third of all CPU.
const STORE_THREADS: usize = 1;
/// Says that every row lies in a table file, so that the store's log tells nothing more.
const FLUSHED_FILE: &str = "flushed";
const STORE_LOG_SUFFIX: &str = "jnl";
/// A log of the store that is shorter than this is left to the next opening: to replay it takes less than to write, sync and
/// name a new file for every table.
const FLUSH_LOG_BYTES_MIN: u64 = 4 << 20;
/// How long a close waits for the store to flush. Without it nothing is lost: the next start replays the store's log.
const FLUSH_LOOK_EVERY: Duration = Duration::from_millis(1);
const FLUSH_LOOKS_MAX: usize = 10_000;
/// How long it waits further for the flushed files to be put in their places. Where much is being merged that is left to
/// the next opening.
const PLACING_LOOKS_MAX: usize = 200;

const TABLES: usize = 22;
/// Those with a row for almost every page number, by it alone.
const TABLES_BY_PAGE: [&str; 3] = ["urls", "pages", "documents"];
/// Those whose rows almost never become others.
const TABLES_WRITTEN_ONCE: [&str; 3] = ["visits", "events", "page_events"];

pub(crate) struct Tables {
    place: Place,
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
    pub meta: Table,
}

/// How a table is written and read.
#[derive(Copy, Clone)]
enum Kind {
    Small,
    OfUrls,
    OfFound,
    /// Written anew with every visit, so that packing it costs more than the room is worth.
    Unpacked,
}

/// Where the tables lie.
enum Place {
    Store(Database),
    Memory(Arc<Maps>),
}

/// What is held in memory beside the tables; it changes only together with them.
pub(crate) struct Live {
    pub state: State,
    pub sites: BTreeMap<Site, StampedSite>,
    pub known: KnownSet,
}

/// What the writer and its readers share.
pub(crate) struct Shared {
    pub dir: PathBuf,
    pub tables: Tables,
    pub bodies: Bodies,
    /// None where the tables themselves lie in memory.
    pub page_rows: Option<PageRows>,
    live: RwLock<Live>,
    /// The links by target; `None` until somebody asks for them.
    links: RwLock<Option<Arc<LinkIndex>>>,
    /// Held until the last reader is gone, because the store under it is open until then.
    _lock: File,
}

impl Tables {
    pub fn open(folder: &Path) -> Result<Tables> {
        empty_flushed_log(folder)?;
        let open = || -> fjall::Result<Tables> {
            let database = Database::builder(folder)
                .cache_size(CACHE_BYTES_MAX)
                .max_journaling_size(STORE_LOG_BYTES_MAX)
                .worker_threads(STORE_THREADS)
                // The store's own log is short-lived; packing it costs more than writing it.
                .journal_compression(CompressionType::None)
                .open()?;
            Tables::made(Place::Store(database.clone()), |name, kind| {
                let made = match kind {
                    Kind::Small => options(MEMTABLE_BYTES_MAX),
                    Kind::OfUrls => options(MEMTABLE_OF_URLS_BYTES_MAX),
                    Kind::OfFound => options(MEMTABLE_OF_FOUND_BYTES_MAX),
                    Kind::Unpacked => {
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
        let maps = Maps::new();
        let table = |name: &str, _| {
            let map = match name {
                name if TABLES_BY_PAGE.contains(&name) => Map::by_page(),
                name if TABLES_WRITTEN_ONCE.contains(&name) => Map::of_rows_written_once(),
                _ => Map::sorted(),
            };
            Ok(Table::Memory(maps.table(map)))
        };
        Tables::made(Place::Memory(Arc::clone(&maps)), table).map_err(Error::tables("make the tables"))
    }

    /// Every table by its name and kind.
    fn made(place: Place, mut next: impl FnMut(&str, Kind) -> fjall::Result<Table>) -> fjall::Result<Tables> {
        Ok(Tables {
            urls: next("urls", Kind::OfUrls)?,
            waiting: next("waiting", Kind::Small)?,
            pages: next("pages", Kind::Unpacked)?,
            // Digests and fingerprints: packing them costs as much as a tenth of a visit and wins nothing.
            documents: next("documents", Kind::Unpacked)?,
            visits: next("visits", Kind::Small)?,
            sites: next("sites", Kind::Small)?,
            robots: next("robots", Kind::Small)?,
            found: next("found", Kind::OfFound)?,
            // Few words each (decision 13), told soon and seldom again: packing them cost more than writing the journal.
            events: next("events", Kind::Unpacked)?,
            page_events: next("page_events", Kind::Small)?,
            noise: next("noise", Kind::Small)?,
            page_noise: next("page_noise", Kind::Small)?,
            terms: next("terms", Kind::Small)?,
            page_topics: next("page_topics", Kind::Small)?,
            topics: next("topics", Kind::Small)?,
            weights: next("weights", Kind::Small)?,
            left: next("left", Kind::Small)?,
            relinked: next("relinked", Kind::Small)?,
            hints: next("hints", Kind::Small)?,
            page_hints: next("page_hints", Kind::Small)?,
            listed: next("listed", Kind::Small)?,
            meta: next("meta", Kind::Small)?,
            place,
        })
    }

    /// A batch with room for so many rows. Like any other it is with the system when it is committed: a process that is
    /// killed loses nothing of it.
    pub fn batch(&self, rows: usize) -> Batch {
        match &self.place {
            Place::Store(database) => {
                let batch = OwnedWriteBatch::with_capacity(database.clone(), rows);
                Batch::Store(batch.durability(Some(PersistMode::Buffer)))
            }
            Place::Memory(maps) => {
                let mut room = maps.room();
                room.reserve(rows);
                Batch::Memory(Arc::clone(maps), room)
            }
        }
    }

    pub fn state(&self) -> Result<Option<State>> {
        let row = self.meta.get(keys::STATE).map_err(Error::tables("read the state of the tables"))?;
        row.map(|bytes| decode("meta", &bytes)).transpose()
    }

    pub fn sites(&self) -> Result<BTreeMap<Site, StampedSite>> {
        let mut sites = BTreeMap::new();
        for entry in self.sites.iter() {
            let value = entry.value().map_err(Error::tables("read the sites"))?;
            let site: StampedSite = decode("sites", &value)?;
            sites.insert(site.row.site.clone(), site);
        }
        Ok(sites)
    }

    /// Rewrites every table without what was overwritten or removed.
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
            &self.meta,
        ]
    }

    /// Brings every row into a table file and says so, so that the next opening has no log of the store to replay, unless
    /// that log is short. The files are put into their places as well, which the next opening would begin with. For the
    /// last writer: nothing may be written afterwards.
    pub fn flush(&self, folder: &Path) -> Result<()> {
        let Place::Store(database) = &self.place else { return Ok(()) };
        // The first file of a store is made long from the start, so that a first crawl always ends with whole tables.
        let mut logged = 0;
        for (_, path) in store_logs(folder)? {
            logged += path.metadata().map_err(Error::io("look at", &path))?.len();
        }
        if logged < FLUSH_LOG_BYTES_MIN {
            return Ok(());
        }
        let tables = || self.all().into_iter().filter_map(Table::stored);
        // The store looks once at each table that it has flushed, whether its files lie where they should.
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
        match &self.place {
            Place::Store(database) => database.persist(PersistMode::SyncAll).map_err(Error::tables("sync the tables")),
            Place::Memory(_) => Ok(()),
        }
    }
}

/// Waits for something that the store does on its own thread; whether it was done.
fn came_true(looks_max: usize, is_so: impl Fn() -> bool) -> bool {
    (0..looks_max).any(|_| {
        let done = is_so();
        if !done {
            std::thread::park_timeout(FLUSH_LOOK_EVERY);
        }
        done
    })
}

/// Empties the store's log where the tables were flushed whole. The newest file of it stays, without a byte: only where
/// there is one does the store learn from its tables how far its numbers have come. The mark goes last, so that a crash
/// in between empties the rest the next time, and before the store writes anything new.
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

/// The files of the store's log by their numbers.
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

impl Shared {
    pub fn new(dir: &Path, tables: Tables, live: Live, lock: File) -> Shared {
        Shared {
            dir: dir.to_owned(),
            page_rows: matches!(tables.place, Place::Store(_)).then(PageRows::default),
            tables,
            bodies: Bodies::new(dir),
            live: RwLock::new(live),
            links: RwLock::new(None),
            _lock: lock,
        }
    }

    /// Whether the tables lie in memory alone.
    pub fn ends_with_process(&self) -> bool {
        matches!(self.tables.place, Place::Memory(_))
    }

    /// A reader that panicked leaves nothing half done, so its poison is ignored.
    pub fn live(&self) -> RwLockReadGuard<'_, Live> {
        self.live.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The link index, opened at the first question. One that cannot be read is as good as none: the next pass makes it
    /// anew.
    pub fn link_index(&self) -> Option<Arc<LinkIndex>> {
        let known = self.links.read().unwrap_or_else(PoisonError::into_inner).clone();
        known.or_else(|| {
            let opened = Arc::new(LinkIndex::open(&self.dir.join(graph::FOLDER)).ok()??);
            self.set_link_index(Arc::clone(&opened));
            Some(opened)
        })
    }

    pub fn set_link_index(&self, index: Arc<LinkIndex>) {
        *self.links.write().unwrap_or_else(PoisonError::into_inner) = Some(index);
    }

    pub fn live_mut(&self) -> RwLockWriteGuard<'_, Live> {
        self.live.write().unwrap_or_else(PoisonError::into_inner)
    }
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
        tables.flush(folder.path()).unwrap();
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
