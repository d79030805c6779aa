//! What was requested from the server, and when: evidence that does not come from the crawler.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use vernal_model::Moment;

/// One request that was answered, in the served web's own time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    pub site: usize,
    pub path: Box<str>,
    /// When its head had been read.
    pub started: Moment,
    /// When the last byte of the answer was handed over, or the reader had gone.
    pub finished: Moment,
    pub status: u16,
    pub conditional: bool,
}

/// Sums over everything since the start.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub connections: u64,
    pub requests: u64,
    pub conditional: u64,
    pub not_modified: u64,
    pub bytes_sent: u64,
    /// The most requests that one site had to answer at the same time.
    pub at_once_max: u32,
    /// Requests that no longer stand in the log, because it is bounded.
    pub log_dropped: u64,
}

pub(super) struct Log {
    requests_max: usize,
    entries: Mutex<VecDeque<Logged>>,
    at_once: Vec<AtomicU32>,
    at_once_max: AtomicU32,
    pub connections: AtomicU64,
    pub bytes_sent: AtomicU64,
    requests: AtomicU64,
    conditional: AtomicU64,
    not_modified: AtomicU64,
    dropped: AtomicU64,
}

impl Log {
    pub fn new(sites: usize, requests_max: usize) -> Self {
        Log {
            requests_max,
            entries: Mutex::default(),
            at_once: (0..sites).map(|_| AtomicU32::new(0)).collect(),
            at_once_max: AtomicU32::new(0),
            connections: AtomicU64::new(0),
            bytes_sent: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            conditional: AtomicU64::new(0),
            not_modified: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
        }
    }

    /// Whether entries are kept at all, so that their paths are worth copying.
    pub fn keeps_entries(&self) -> bool {
        self.requests_max > 0
    }

    pub fn started(&self, site: usize) {
        let now = self.at_once[site].fetch_add(1, Relaxed) + 1;
        self.at_once_max.fetch_max(now, Relaxed);
    }

    pub fn finished(&self, entry: Logged) {
        self.at_once[entry.site].fetch_sub(1, Relaxed);
        self.requests.fetch_add(1, Relaxed);
        self.conditional.fetch_add(u64::from(entry.conditional), Relaxed);
        self.not_modified.fetch_add(u64::from(entry.status == 304), Relaxed);
        if !self.keeps_entries() {
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= self.requests_max {
            entries.pop_front();
            self.dropped.fetch_add(1, Relaxed);
        }
        entries.push_back(entry);
    }

    pub fn entries(&self) -> Vec<Logged> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    pub fn counts(&self) -> Counts {
        Counts {
            connections: self.connections.load(Relaxed),
            requests: self.requests.load(Relaxed),
            conditional: self.conditional.load(Relaxed),
            not_modified: self.not_modified.load(Relaxed),
            bytes_sent: self.bytes_sent.load(Relaxed),
            at_once_max: self.at_once_max.load(Relaxed),
            log_dropped: self.dropped.load(Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_keeps_the_newest_requests_and_counts_the_others() {
        let log = Log::new(1, 2);
        for status in [200, 304, 404] {
            log.started(0);
            let (started, finished) = (Moment::EPOCH, Moment::EPOCH);
            log.finished(Logged { site: 0, path: "/".into(), started, finished, status, conditional: status == 304 });
        }
        let statuses: Vec<u16> = log.entries().iter().map(|entry| entry.status).collect();
        assert_eq!(statuses, [304, 404]);
        let counts = log.counts();
        assert_eq!((counts.requests, counts.conditional, counts.not_modified), (3, 1, 1));
        assert_eq!((counts.log_dropped, counts.at_once_max), (1, 1));
    }
}
