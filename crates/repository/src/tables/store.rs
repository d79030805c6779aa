//! The tables opened: one database, one keyspace per table, every buffer limited.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use fjall::config::CompressionPolicy;
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use vernal_model::Site;

use super::keys;
use super::rows::{StampedSite, State, decode};
use crate::bodies::Bodies;
use crate::sieve::KnownSet;
use crate::{Error, Result};

/// Each table's write buffer; twelve tables, of which four are busy.
const MEMTABLE_BYTES_MAX: u64 = 4 << 20;
const CACHE_BYTES_MAX: u64 = 16 << 20;
/// The least the store allows for its own log.
const STORE_LOG_BYTES_MAX: u64 = 64 << 20;
/// One thread of the store's own, for flushing and compacting. With more, fjall 3.1 lets the first of them pass every
/// request to compact on to itself while another is at it: at ten million URLs that was a third of all CPU.
const STORE_THREADS: usize = 1;

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
    live: RwLock<Live>,
    /// Held until the last reader is gone, because the store under it is open until then.
    _lock: File,
}

impl Tables {
    pub fn open(folder: &Path) -> Result<Tables> {
        let open = || -> fjall::Result<Tables> {
            let database = Database::builder(folder)
                .cache_size(CACHE_BYTES_MAX)
                .max_journaling_size(STORE_LOG_BYTES_MAX)
                .worker_threads(STORE_THREADS)
                // The store's own log is short-lived; packing it costs more than writing it.
                .journal_compression(CompressionType::None)
                .open()?;
            let table = |name: &str| database.keyspace(name, options);
            Ok(Tables {
                urls: table("urls")?,
                waiting: table("waiting")?,
                pages: table("pages")?,
                documents: table("documents")?,
                visits: table("visits")?,
                sites: table("sites")?,
                robots: table("robots")?,
                found: table("found")?,
                events: table("events")?,
                page_events: table("page_events")?,
                noise: table("noise")?,
                page_noise: table("page_noise")?,
                meta: table("meta")?,
                database,
            })
        };
        open().map_err(Error::tables("open the tables"))
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
        let tables = [
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
            &self.meta,
        ];
        for table in tables {
            table.rotate_memtable_and_wait().map_err(Error::tables("flush a table"))?;
            table.major_compact().map_err(Error::tables("compact a table"))?;
        }
        Ok(())
    }

    pub fn persist(&self) -> Result<()> {
        self.database.persist(PersistMode::SyncAll).map_err(Error::tables("sync the tables"))
    }
}

fn options() -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        .max_memtable_size(MEMTABLE_BYTES_MAX)
        .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
}

impl Shared {
    pub fn new(dir: &Path, tables: Tables, live: Live, lock: File) -> Shared {
        Shared { dir: dir.to_owned(), tables, bodies: Bodies::new(dir), live: RwLock::new(live), _lock: lock }
    }

    /// A reader that panicked leaves nothing half done, so its poison is ignored.
    pub fn live(&self) -> RwLockReadGuard<'_, Live> {
        self.live.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn live_mut(&self) -> RwLockWriteGuard<'_, Live> {
        self.live.write().unwrap_or_else(PoisonError::into_inner)
    }
}
