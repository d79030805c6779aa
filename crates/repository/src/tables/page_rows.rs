//! The rows of pages in memory, as far as there is room: a page that comes back is one look away, and a small repository
//! never asks the store for them.
//!
//! Who comes first stays. Pages come back in no order that favours some of them, so that putting one row out for another
//! would win nothing; and since no place ever gets free, a row that was read before a commit can never take the place of
//! the one that the commit wrote.

use std::sync::{Mutex, MutexGuard, PoisonError};

use fjall::Slice;
use foldhash::HashMap;
use vernal_model::PageKey;

/// Rows in memory: some thirty thousand pages.
const ROWS_BYTES_MAX: usize = 8 << 20;
/// What an entry costs beside its row.
const ENTRY_BYTES: usize = 64;

#[derive(Default)]
pub(crate) struct PageRows {
    /// Looked up only, never walked through: its order is chance.
    rows: Mutex<Rows>,
}

#[derive(Default)]
struct Rows {
    by_page: HashMap<PageKey, Slice>,
    bytes: usize,
    /// Something found no room: from now on nobody new is taken in.
    full: bool,
}

impl PageRows {
    pub fn get(&self, page: PageKey) -> Option<Slice> {
        self.rows().by_page.get(&page).cloned()
    }

    /// Takes in a row that was read from the table. One that is here already is as young or younger.
    pub fn note(&self, page: PageKey, row: &[u8]) {
        let mut rows = self.rows();
        if !rows.full && !rows.by_page.contains_key(&page) {
            rows.take_in(page, Slice::from(row));
        }
    }

    /// Takes in rows that are in the table from now on.
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
                // What a slow reader read before this turn's commit comes after it.
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
