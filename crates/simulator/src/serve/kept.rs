//! Whole answers, ready to be sent, in a cache bounded in bytes. The oldest goes first: versions only ever grow old.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use crate::web::Stable;

/// An answer as it goes over the wire.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub bytes: Bytes,
    /// Where the body begins; a HEAD request gets no more.
    pub head_bytes: usize,
}

pub(super) struct Kept {
    bytes_max: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    answers: HashMap<Stable, Whole>,
    order: VecDeque<Stable>,
    bytes: usize,
}

impl Kept {
    pub fn new(bytes_max: usize) -> Self {
        Kept { bytes_max, inner: Mutex::default() }
    }

    pub fn find(&self, mark: &Stable) -> Option<Whole> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).answers.get(mark).cloned()
    }

    pub fn keep(&self, mark: Stable, whole: Whole) {
        let size = whole.bytes.len();
        if size > self.bytes_max {
            return;
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.answers.contains_key(&mark) {
            return;
        }
        while inner.bytes + size > self.bytes_max {
            let Some(oldest) = inner.order.pop_front() else { break };
            let freed = inner.answers.remove(&oldest).map_or(0, |whole| whole.bytes.len());
            inner.bytes -= freed;
        }
        inner.bytes += size;
        inner.order.push_back(mark);
        inner.answers.insert(mark, whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::PageNumber;

    #[test]
    fn the_cache_never_holds_more_bytes_than_it_may() {
        let kept = Kept::new(25);
        let mark = |version| Stable { page: PageNumber(0), version, gzip: false };
        for version in 0..4 {
            kept.keep(mark(version), Whole { bytes: Bytes::from_static(b"0123456789"), head_bytes: 4 });
        }
        let held: Vec<u32> = (0..4).filter(|&version| kept.find(&mark(version)).is_some()).collect();
        assert_eq!(held, [2, 3]);
        kept.keep(mark(9), Whole { bytes: Bytes::from(vec![0; 26]), head_bytes: 4 });
        assert!(kept.find(&mark(9)).is_none());
    }
}
