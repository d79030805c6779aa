//! The rows of a table in memory with page keys. Page numbers are dense within their partition, so a row is stored at the index
//! of its number, without a search.

use std::ops::Bound;

use fjall::UserValue;
use vernal_model::PageKey;

/// Bytes of a page's key.
const KEY_BYTES: usize = 5;

#[derive(Clone, Default)]
pub(crate) struct ByPage {
    /// By partition and number. A row has at least its format byte, so an empty one means no row.
    partitions: Vec<Vec<UserValue>>,
}

impl ByPage {
    pub fn get(&self, key: &[u8]) -> Option<&UserValue> {
        let PageKey { partition, number } = page_of(key)?;
        let row = self.partitions.get(usize::from(partition.0))?.get(number as usize)?;
        (!row.is_empty()).then_some(row)
    }

    pub fn insert(&mut self, key: &[u8], row: UserValue) {
        let Some(place) = self.place_mut(key) else { unreachable!("this table is written by page alone") };
        *place = row;
    }

    pub fn remove(&mut self, key: &[u8]) {
        if self.get(key).is_some() {
            self.place_mut(key).into_iter().for_each(|place| *place = none());
        }
    }

    /// The rows between two keys of any length, in their order.
    pub fn range(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
    ) -> impl DoubleEndedIterator<Item = ([u8; KEY_BYTES], &UserValue)> {
        let first = match from {
            Bound::Unbounded => 0,
            Bound::Included(key) => position(key, false),
            Bound::Excluded(key) => position(key, true),
        };
        let end = match to {
            Bound::Unbounded => u64::MAX,
            Bound::Included(key) => position(key, true),
            Bound::Excluded(key) => position(key, false),
        };
        self.partitions.iter().enumerate().flat_map(move |(partition, rows)| {
            let place = |position: u64| (position.saturating_sub((partition as u64) << 32) as usize).min(rows.len());
            let (first, end) = (place(first), place(end).max(place(first)));
            let present = rows[first..end].iter().enumerate().filter(|(_, row)| !row.is_empty());
            present.map(move |(place, row)| {
                let [a, b, c, d] = ((first + place) as u32).to_be_bytes();
                ([partition as u8, a, b, c, d], row)
            })
        })
    }

    fn place_mut(&mut self, key: &[u8]) -> Option<&mut UserValue> {
        let PageKey { partition, number } = page_of(key)?;
        let (partition, number) = (usize::from(partition.0), number as usize);
        if self.partitions.len() <= partition {
            self.partitions.resize_with(partition + 1, Vec::new);
        }
        let rows = &mut self.partitions[partition];
        if rows.len() <= number {
            rows.resize_with(number + 1, none);
        }
        Some(&mut rows[number])
    }
}

fn none() -> UserValue {
    UserValue::empty()
}

fn page_of(key: &[u8]) -> Option<PageKey> {
    PageKey::from_bytes(key).filter(|_| key.len() == KEY_BYTES)
}

/// The index of the first page whose key is not before this one; with `behind`, also not equal to it.
fn position(key: &[u8], behind: bool) -> u64 {
    let known = key.len().min(KEY_BYTES);
    let mut bytes = [0; 8];
    bytes[8 - KEY_BYTES..][..known].copy_from_slice(&key[..known]);
    // A page key comes before a longer key that begins with it.
    let is_passed = key.len() > KEY_BYTES || (behind && key.len() == KEY_BYTES);
    u64::from_be_bytes(bytes) + u64::from(is_passed)
}
