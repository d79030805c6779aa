//! Fetching stops while the disk is nearly full, and resumes by itself.

use vernal_model::{Moment, Span};

use crate::work::Work;
use crate::{DiskFreeMin, Result};

/// How often free disk space is checked (in the crawl's own time, at most once per tick).
const CHECK_EVERY: Span = Span::from_secs(1);

pub(crate) struct DiskWatch {
    free_min: DiskFreeMin,
    is_full: bool,
    checked: Moment,
}

impl DiskWatch {
    pub fn new(free_min: DiskFreeMin) -> Self {
        DiskWatch { free_min, is_full: false, checked: Moment::EPOCH }
    }

    pub fn set_free_min(&mut self, free_min: DiskFreeMin) {
        self.free_min = free_min;
    }

    /// The result of the last check.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// When a full disk is checked again.
    pub fn next(&self) -> Moment {
        self.checked + CHECK_EVERY
    }

    pub fn check(&mut self, work: &Work, now: Moment) -> Result<()> {
        if self.free_min == DiskFreeMin::NOTHING {
            self.is_full = false;
            return Ok(());
        }
        if now.since(self.checked) < CHECK_EVERY && self.checked != Moment::EPOCH {
            return Ok(());
        }
        self.checked = now;
        let disk = work.disk_free()?;
        let least = self.free_min.bytes.min((disk.total_bytes as f64 * self.free_min.share) as u64);
        self.is_full = disk.free_bytes < least;
        Ok(())
    }
}
