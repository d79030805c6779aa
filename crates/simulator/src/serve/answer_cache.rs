//! Whole answers, ready to be sent, in a cache bounded in bytes. The oldest goes first: versions only ever grow old.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use crate::web::CacheKey;

/// An answer as it goes over the wire.
#[derive(Clone, Debug)]
pub(super) struct CachedAnswer {
    pub bytes: Bytes,
    /// Where the body begins; a HEAD request gets no more.
    pub head_bytes: usize,
}

pub(super) struct AnswerCache {
    bytes_max: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    answers: HashMap<CacheKey, CachedAnswer>,
    order: VecDeque<CacheKey>,
    bytes: usize,
}

impl AnswerCache {
    pub fn new(bytes_max: usize) -> Self {
        AnswerCache { bytes_max, inner: Mutex::default() }
    }

    pub fn find(&self, key: &CacheKey) -> Option<CachedAnswer> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).answers.get(key).cloned()
    }

    pub fn keep(&self, key: CacheKey, answer: CachedAnswer) {
        let size = answer.bytes.len();
        if size > self.bytes_max {
            return;
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.answers.contains_key(&key) {
            return;
        }
        while inner.bytes + size > self.bytes_max {
            let Some(oldest) = inner.order.pop_front() else { break };
            let freed = inner.answers.remove(&oldest).map_or(0, |answer| answer.bytes.len());
            inner.bytes -= freed;
        }
        inner.bytes += size;
        inner.order.push_back(key);
        inner.answers.insert(key, answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::PageNumber;

    #[test]
    fn the_cache_never_holds_more_bytes_than_it_may() {
        let cache = AnswerCache::new(25);
        let key = |version| CacheKey { page: PageNumber(0), version, gzip: false };
        for version in 0..4 {
            cache.keep(key(version), CachedAnswer { bytes: Bytes::from_static(b"0123456789"), head_bytes: 4 });
        }
        let held: Vec<u32> = (0..4).filter(|&version| cache.find(&key(version)).is_some()).collect();
        assert_eq!(held, [2, 3]);
        cache.keep(key(9), CachedAnswer { bytes: Bytes::from(vec![0; 26]), head_bytes: 4 });
        assert!(cache.find(&key(9)).is_none());
    }
}
