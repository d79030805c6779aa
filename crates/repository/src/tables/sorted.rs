//! The rows of a table in memory in the order of their keys.
//!
//! In a table whose rows are written once, new rows are appended unsorted and sorted at the first read. Most such tables of a
//! trial are never read, and sorting each of hundreds of thousands of rows would be a large part of every commit.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Range;
use std::ops::Bound;

use fjall::{UserKey, UserValue};

/// Keys up to this length are stored in the map itself, where they are compared without an indirection: all except those with
/// long names or URLs.
const KEY_BYTES_SHORT: usize = 30;

#[derive(Clone, Default)]
pub(crate) struct Sorted {
    rows: BTreeMap<Key, UserValue>,
    /// Whether new rows are appended unsorted. Rows that are rewritten often would pile up in all their versions.
    waits: bool,
    /// Rows written since the last read, in order. The last one of a key applies.
    unsorted: Vec<(Key, Option<UserValue>)>,
}

impl Sorted {
    /// A table for rows that are written once.
    pub fn of_rows_written_once() -> Sorted {
        Sorted { waits: true, ..Sorted::default() }
    }

    /// Writes or removes a row.
    pub fn write(&mut self, key: Key, row: Option<UserValue>) {
        if self.waits {
            self.unsorted.push((key, row));
        } else {
            put(&mut self.rows, key, row);
        }
    }

    /// Whether all rows are sorted.
    pub fn is_settled(&self) -> bool {
        self.unsorted.is_empty()
    }

    /// Sorts the new rows and inserts them in order, so that neighbouring rows touch the same parts of the map.
    pub fn settle(&mut self) {
        self.unsorted.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.unsorted.drain(..).for_each(|(key, row)| put(&mut self.rows, key, row));
    }

    pub fn get(&self, key: &[u8]) -> Option<&UserValue> {
        debug_assert!(self.is_settled());
        self.rows.get(&Key::new(key))
    }

    /// The rows between two keys, in their order.
    pub fn range(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Range<'_, Key, UserValue> {
        debug_assert!(self.is_settled());
        self.rows.range::<[u8], _>((from, to))
    }
}

fn put(rows: &mut BTreeMap<Key, UserValue>, key: Key, row: Option<UserValue>) {
    match row {
        Some(row) => _ = rows.insert(key, row),
        None => _ = rows.remove(&key),
    }
}

#[derive(Clone)]
pub(crate) enum Key {
    /// The bytes after the length are zero.
    Short {
        bytes: [u8; KEY_BYTES_SHORT],
        length: u8,
    },
    Long(UserKey),
}

impl Key {
    pub fn new(key: &[u8]) -> Key {
        let mut bytes = [0; KEY_BYTES_SHORT];
        let Some(place) = bytes.get_mut(..key.len()) else { return Key::Long(UserKey::from(key)) };
        place.copy_from_slice(key);
        Key::Short { bytes, length: key.len() as u8 }
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Key::Short { bytes, length } => &bytes[..usize::from(*length)],
            Key::Long(key) => key,
        }
    }
}

impl Borrow<[u8]> for Key {
    fn borrow(&self) -> &[u8] {
        self.bytes()
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> Ordering {
        let (Key::Short { bytes: one, length }, Key::Short { bytes: two, length: length_of_two }) = (self, other)
        else {
            return self.bytes().cmp(other.bytes());
        };
        // Eight bytes at a time. The last eight may overlap the ones before.
        for place in [0, 8, 16, KEY_BYTES_SHORT - 8] {
            let order = word(one, place).cmp(&word(two, place));
            if order.is_ne() {
                return order;
            }
        }
        // One key is the other followed by zeros.
        length.cmp(length_of_two)
    }
}

fn word(bytes: &[u8; KEY_BYTES_SHORT], place: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[place..place + 8]);
    u64::from_be_bytes(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Keys of few bytes with equal beginnings, around the length of the keys in the map.
    fn key() -> impl Strategy<Value = Vec<u8>> {
        let byte = || prop::sample::select(vec![0u8, 1, 255]);
        prop_oneof![
            prop::collection::vec(byte(), 0..4),
            (prop::collection::vec(byte(), 26..33), byte()).prop_map(|(mut key, byte)| {
                key[..24].fill(byte);
                key
            }),
        ]
    }

    proptest! {
        #[test]
        fn keys_are_in_the_order_of_their_bytes(one in key(), other in key()) {
            let (first, second) = (Key::new(&one), Key::new(&other));
            prop_assert_eq!(first.bytes(), one.as_slice());
            prop_assert_eq!(first.cmp(&second), one.cmp(&other));
        }

        #[test]
        fn rows_are_what_was_written_last_whenever_they_are_asked_for(
            acts in prop::collection::vec((key(), any::<Option<u8>>(), any::<bool>()), 1..60),
            waits in any::<bool>(),
        ) {
            let (mut sorted, mut plain) = (Sorted { waits, ..Sorted::default() }, BTreeMap::new());
            for (key, row, asks) in acts {
                sorted.write(Key::new(&key), row.map(|row| UserValue::from([row])));
                match row {
                    Some(row) => _ = plain.insert(key.clone(), vec![row]),
                    None => _ = plain.remove(&key),
                }
                if asks {
                    sorted.settle();
                    prop_assert_eq!(sorted.get(&key).map(|row| row.to_vec()), plain.get(&key).cloned());
                }
            }
            sorted.settle();
            let rows = sorted.range(Bound::Unbounded, Bound::Unbounded);
            let met: Vec<_> = rows.map(|(key, row)| (key.bytes().to_vec(), row.to_vec())).collect();
            prop_assert_eq!(met, plain.into_iter().collect::<Vec<_>>());
        }
    }
}
