//! The tables opened: one database, one keyspace per table, every buffer limited.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use fjall::compaction::Leveled;
use fjall::config::CompressionPolicy;
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode};
use vernal_model::Site;

use super::keys;
use super::page_rows::PageRows;
use super::rows::{StampedSite, State, decode};
use crate::bodies::{Bodies, sync_folder};
use crate::graph::{self, LinkIndex};
use crate::sieve::KnownSet;
use crate::{Error, Result};

/// Each table's write buffer; of all tables four are busy.
const MEMTABLE_BYTES_MAX: u64 = 4 << 20;
/// That of the tables which grow with each URL that is met: larger, so that less is merged again and again.
const MEMTABLE_OF_URLS_BYTES_MAX: u64 = 8 << 20;
/// That of what was found and waits for the sieve: large enough that most of it comes and goes within the buffer and is
/// never written to a table file.
const MEMTABLE_OF_FOUND_BYTES_MAX: u64 = 20 << 20;
/// The size of a table file. What is added lies at a few ends of the key space (the next number, the last arrival of each
/// band); with small files a merge touches the files at those ends alone, and its cost does not grow with the table.
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

pub(crate) struct Tables {
    pub database: Database,
    pub urls: Keyspace,
    pub waiting: Keyspace,
    pub pages: Keyspace,
    pub documents: Keyspace,
    pub visits: Keyspace,
    pub sites: Keyspace,
    pub robots: Keyspace,
    pub found: Keyspace,
    pub events: Keyspace,
    pub page_events: Keyspace,
    pub noise: Keyspace,
    pub page_noise: Keyspace,
    pub terms: Keyspace,
    pub page_topics: Keyspace,
    pub topics: Keyspace,
    pub weights: Keyspace,
    pub left: Keyspace,
    pub relinked: Keyspace,
    pub hints: Keyspace,
    pub page_hints: Keyspace,
    pub listed: Keyspace,
    pub meta: Keyspace,
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
    pub page_rows: PageRows,
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
            let table = |name: &str| database.keyspace(name, || options(MEMTABLE_BYTES_MAX));
            // Written anew with every visit, so that packing them costs more than the room is worth.
            let unpacked_table = |name: &str| {
                let unpacked =
                    || options(MEMTABLE_BYTES_MAX).data_block_compression_policy(CompressionPolicy::disabled());
                database.keyspace(name, unpacked)
            };
            let large_table = |name: &str| database.keyspace(name, || options(MEMTABLE_OF_URLS_BYTES_MAX));
            Ok(Tables {
                urls: large_table("urls")?,
                waiting: large_table("waiting")?,
                pages: unpacked_table("pages")?,
                // Digests and fingerprints: packing them costs as much as a tenth of a visit and wins nothing.
                documents: unpacked_table("documents")?,
                visits: table("visits")?,
                sites: table("sites")?,
                robots: table("robots")?,
                found: database.keyspace("found", || options(MEMTABLE_OF_FOUND_BYTES_MAX))?,
                // Few words each (decision 13), told soon and seldom again: packing them cost more than writing the journal.
                events: unpacked_table("events")?,
                page_events: table("page_events")?,
                noise: table("noise")?,
                page_noise: table("page_noise")?,
                terms: table("terms")?,
                page_topics: table("page_topics")?,
                topics: table("topics")?,
                weights: table("weights")?,
                left: table("left")?,
                relinked: table("relinked")?,
                hints: table("hints")?,
                page_hints: table("page_hints")?,
                listed: table("listed")?,
                meta: table("meta")?,
                database,
            })
        };
        open().map_err(Error::tables("open the tables"))
    }

    /// A batch with room for so many rows. Like any other it is with the system when it is committed: a process that is
    /// killed loses nothing of it.
    pub fn batch(&self, rows: usize) -> OwnedWriteBatch {
        OwnedWriteBatch::with_capacity(self.database.clone(), rows).durability(Some(PersistMode::Buffer))
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
        for table in self.all() {
            table.rotate_memtable_and_wait().map_err(Error::tables("flush a table"))?;
            table.major_compact().map_err(Error::tables("compact a table"))?;
        }
        Ok(())
    }

    fn all(&self) -> [&Keyspace; 22] {
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
    /// that log is short. For the last writer: nothing may be written afterwards.
    pub fn flush(&self, folder: &Path) -> Result<()> {
        // The first file of a store is made long from the start, so that a first crawl always ends with whole tables.
        let mut logged = 0;
        for (_, path) in store_logs(folder)? {
            logged += path.metadata().map_err(Error::io("look at", &path))?.len();
        }
        if logged < FLUSH_LOG_BYTES_MIN {
            return Ok(());
        }
        for table in self.all() {
            table.rotate_memtable().map_err(Error::tables("flush a table"))?;
        }
        let is_flushed = || self.all().iter().all(|table| table.sealed_memtable_count() == 0);
        for _ in 0..FLUSH_LOOKS_MAX {
            if is_flushed() {
                let path = folder.join(FLUSHED_FILE);
                let mark = File::create(&path).map_err(Error::io("make", &path))?;
                mark.sync_all().map_err(Error::io("sync", &path))?;
                return sync_folder(folder);
            }
            std::thread::park_timeout(FLUSH_LOOK_EVERY);
        }
        Ok(())
    }

    pub fn persist(&self) -> Result<()> {
        self.database.persist(PersistMode::SyncAll).map_err(Error::tables("sync the tables"))
    }
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
            tables,
            bodies: Bodies::new(dir),
            page_rows: PageRows::default(),
            live: RwLock::new(live),
            links: RwLock::new(None),
            _lock: lock,
        }
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
