//! What the writer and its readers share: the tables, and what is held in memory beside them.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use vernal_model::{Partition, Site};

use super::closed::{self, ClosedMark};
use super::page_rows::PageRows;
use super::rows::{StampedSite, State};
use super::store::Tables;
use crate::Error;
use crate::bodies::Bodies;
use crate::graph::{self, LinkIndex};
use crate::recover::{TABLES_FOLDER, is_damage_of_tables};
use crate::sieve::KnownSet;

/// State in memory that changes only together with the tables.
pub(crate) struct Live {
    pub state: State,
    pub sites: BTreeMap<Site, StampedSite>,
    pub known: KnownSet,
}

impl Live {
    /// The partition of a site that has a row. A site keeps it, whatever a newer public-suffix list says.
    pub fn partition_of(&self, site: &str) -> Option<Partition> {
        self.sites.get(site).map(|site| site.row.partition)
    }
}

/// What the writer and its readers share.
pub(crate) struct Shared {
    pub dir: PathBuf,
    pub tables: Tables,
    pub bodies: Bodies,
    /// `None` where the tables themselves are in memory.
    pub page_rows: Option<PageRows>,
    live: RwLock<Live>,
    /// The link index; `None` until it is first used.
    links: RwLock<Option<Arc<LinkIndex>>>,
    /// Dropped after the tables, and before the lock.
    pub closed: ClosedMark,
    /// The lock is held until the last reader is dropped, because the store is open until then.
    _lock: File,
}

impl Shared {
    pub fn new(dir: &Path, tables: Tables, live: Live, lock: File) -> Shared {
        Shared {
            dir: dir.to_owned(),
            page_rows: (!tables.are_in_memory()).then(PageRows::default),
            tables,
            bodies: Bodies::new(dir),
            live: RwLock::new(live),
            links: RwLock::new(None),
            closed: ClosedMark::of(dir.join(TABLES_FOLDER)),
            _lock: lock,
        }
    }

    /// Has the tables made anew at the next opening where an error shows that they are damaged. Returns whether it does.
    pub fn distrust(&self, error: &Error) -> bool {
        let is_theirs = !self.ends_with_process() && is_damage_of_tables(error);
        is_theirs && closed::distrust(&self.dir.join(TABLES_FOLDER)).is_ok()
    }

    /// Whether the tables are in memory only and end with the process.
    pub fn ends_with_process(&self) -> bool {
        self.tables.are_in_memory()
    }

    /// Poisoning is ignored, because a reader that panicked left nothing half done.
    pub fn live(&self) -> RwLockReadGuard<'_, Live> {
        self.live.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The link index, opened at its first use. An unreadable one counts as none, because the next pass rebuilds it.
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
