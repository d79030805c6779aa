//! The known set: at most two runs.
//!
//! A batch of the sieve is merged into the small run while that is less than an eighth of the big one. Otherwise everything is
//! merged into a new big run. This keeps many small batches cheap. If a URL is in both runs, its counts are added, and the
//! number in the small run, which is newer, applies.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vernal_model::{Fingerprint, Partition};

use super::run::{self, BARRED, FORGOTTEN, Key, KnownRecord, Probe, Run};
use crate::{Error, Result};

/// The folder of the known set within a repository.
pub(crate) const FOLDER: &str = "known";

#[derive(Clone)]
pub(crate) struct KnownSet {
    pub(super) folder: PathBuf,
    pub(super) big: Option<Arc<Run>>,
    pub(super) small: Option<Arc<Run>>,
}

/// A change of one key by the sieve.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Update {
    pub key: Key,
    /// Its number when it was admitted now, `BARRED` when it was barred now, `FORGOTTEN` when it was forgotten.
    pub decided: Option<u32>,
    /// Added links minus removed links.
    pub back_links: i32,
}

/// The effect of an update.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// The URL is newly known.
    New,
    /// The URL was barred before and is admitted now.
    Readmitted,
    /// The URL was known before. Only its count changes.
    Known,
    /// The URL was known before and is forgotten now.
    Forgotten,
    /// The URL is neither known nor decided about, so the update is dropped.
    Undecided,
}

impl KnownSet {
    pub fn open(folder: &Path, big: u32, small: u32) -> Result<KnownSet> {
        let open = |generation: u32| -> Result<Option<Arc<Run>>> {
            if generation == 0 {
                return Ok(None);
            }
            Ok(Some(Arc::new(Run::open(folder, generation)?)))
        };
        Ok(KnownSet { folder: folder.to_owned(), big: open(big)?, small: open(small)? })
    }

    /// The generations of the big and the small run; 0 means none.
    pub fn generations(&self) -> (u32, u32) {
        let generation = |run: &Option<Arc<Run>>| run.as_ref().map_or(0, |run| run.generation);
        (generation(&self.big), generation(&self.small))
    }

    pub fn look_up(&self, partition: Partition, fingerprint: Fingerprint) -> Result<Option<KnownRecord>> {
        self.probe().look_up((partition, fingerprint))
    }

    /// Looks up keys in rising order.
    pub fn probe(&self) -> KnownProbe<'_> {
        KnownProbe { big: self.big.as_deref().map(Run::probe), small: self.small.as_deref().map(Run::probe) }
    }

    /// The paths of the runs of `self` that `next` does not use.
    pub fn obsolete_after(&self, next: &KnownSet) -> Vec<PathBuf> {
        let (big, small) = next.generations();
        let (old_big, old_small) = self.generations();
        let gone = |generation: &u32| *generation != 0 && *generation != big && *generation != small;
        [old_big, old_small].iter().filter(|old| gone(old)).map(|old| run::path(&self.folder, *old)).collect()
    }
}

pub(crate) struct KnownProbe<'a> {
    big: Option<Probe<'a>>,
    small: Option<Probe<'a>>,
}

impl KnownProbe<'_> {
    pub fn look_up(&mut self, key: Key) -> Result<Option<KnownRecord>> {
        let ask = |probe: &mut Option<Probe<'_>>| probe.as_mut().map_or(Ok(None), |probe| probe.look_up(key));
        Ok(both(ask(&mut self.big)?, ask(&mut self.small)?))
    }

    /// Resolves an update against the known record. Sets the number that applies afterwards.
    pub fn resolve(&mut self, update: &Update) -> Result<(Resolved, u32)> {
        let known = self.look_up(update.key)?.map(|record| record.number);
        Ok(match (known, update.decided) {
            (None, None) => (Resolved::Undecided, BARRED),
            (None, Some(FORGOTTEN)) => (Resolved::Undecided, FORGOTTEN),
            (None, Some(number)) => (Resolved::New, number),
            (Some(FORGOTTEN), Some(number)) if number != FORGOTTEN => (Resolved::New, number),
            (Some(before), Some(FORGOTTEN)) if before != FORGOTTEN => (Resolved::Forgotten, FORGOTTEN),
            (Some(BARRED), Some(number)) if number != BARRED => (Resolved::Readmitted, number),
            (Some(number), _) => (Resolved::Known, number),
        })
    }
}

/// Merges two records. Counts are added (that of the newer may be negative, in two's complement), and the newer number applies.
pub(super) fn both(old: Option<KnownRecord>, young: Option<KnownRecord>) -> Option<KnownRecord> {
    match (old, young) {
        (Some(old), Some(young)) => {
            Some(KnownRecord { back_links: old.back_links.wrapping_add(young.back_links), ..young })
        }
        (old, young) => old.or(young),
    }
}

/// Removes unused runs, which a crash before a switch or before the last sync of the tables leaves behind.
pub(crate) fn remove_orphans(folder: &Path, in_force: (u32, u32)) -> Result<usize> {
    let mut removed = 0;
    for (generation, path) in run::generations(folder)? {
        if generation != in_force.0 && generation != in_force.1 {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
            removed += 1;
        }
    }
    Ok(removed)
}
