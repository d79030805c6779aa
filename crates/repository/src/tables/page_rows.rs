//! A cache of page rows in memory. A small repository never reads pages from the store.
//!
//! A page that was erased keeps an empty row, so that no reader brings its row back.
//!
//! Nothing is evicted: pages return in no order that favours some of them, so eviction would gain nothing. And because no entry
//! is ever removed, a row that was read before a commit can never replace the row that the commit wrote.

use std::sync::{Mutex, MutexGuard, PoisonError};

use fjall::Slice;
use foldhash::HashMap;
use vernal_model::PageKey;

/// Rows in memory: some thirty thousand pages.
const ROWS_BYTES_MAX: usize = 8 << 20;
/// The memory of an entry besides its row.
const ENTRY_BYTES: usize = 64;

#[derive(Default)]
pub(crate) struct PageRows {
    /// The map is never iterated, because its order is random.
    rows: Mutex<Rows>,
}

#[derive(Default)]
struct Rows {
    by_page: HashMap<PageKey, Slice>,
    bytes: usize,
    /// Set when the cache is full: from then on no new page is added.
    full: bool,
}

impl PageRows {
    pub fn get(&self, page: PageKey) -> Option<Slice> {
        self.rows().by_page.get(&page).cloned()
    }

    /// Adds a row that was read from the table. An existing entry stays, because it is at least as new.
    pub fn note(&self, page: PageKey, row: &[u8]) {
        let mut rows = self.rows();
        if !rows.full && !rows.by_page.contains_key(&page) {
            rows.take_in(page, Slice::from(row));
        }
    }

    /// Adds or replaces rows that a commit has written.
    pub fn put(&self, written: Vec<(PageKey, Slice)>) {
        let mut rows = self.rows();
        for (page, row) in written {
            match rows.by_page.get_mut(&page) {
                Some(place) => {
                    let before = std::mem::replace(place, row).len();
                    let after = place.len();
                    rows.bytes = rows.bytes + after - before;
                }
                None => rows.take_in(page, row),
            }
        }
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    fn take_in(&mut self, page: PageKey, row: Slice) {
        let bytes = self.bytes + row.len() + ENTRY_BYTES;
        self.full |= bytes > ROWS_BYTES_MAX;
        if !self.full {
            self.bytes = bytes;
            self.by_page.insert(page, row);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vernal_model::Partition;

    use super::*;

    fn key(number: u32) -> PageKey {
        PageKey::new(Partition(0), number)
    }

    proptest! {
        #[test]
        fn a_row_in_memory_is_always_the_last_one_written(
            acts in prop::collection::vec((0u32..40, any::<bool>(), 1usize..(1 << 20)), 1..120)
        ) {
            let rows = PageRows::default();
            let mut table: HashMap<u32, Vec<u8>> = HashMap::default();
            for (turn, (number, writes, bytes)) in acts.into_iter().enumerate() {
                // A slow reader adds a row that it read before the commit.
                let read = table.get(&number).cloned();
                if writes {
                    let row = vec![turn as u8; bytes];
                    table.insert(number, row.clone());
                    rows.put(vec![(key(number), Slice::from(row))]);
                }
                if let Some(read) = read {
                    rows.note(key(number), &read);
                }
                for (&number, row) in &table {
                    if let Some(kept) = rows.get(key(number)) {
                        prop_assert_eq!(&*kept, row.as_slice());
                    }
                }
            }
        }
    }

    #[test]
    fn memory_is_limited_whatever_is_put_in() {
        let rows = PageRows::default();
        for number in 0..100_000 {
            rows.put(vec![(key(number), Slice::from(vec![0; 200]))]);
        }
        let kept = rows.rows().by_page.len();
        assert!((20_000..40_000).contains(&kept), "{kept} rows");
        assert!(rows.get(key(0)).is_some() && rows.get(key(99_999)).is_none());
    }
}
