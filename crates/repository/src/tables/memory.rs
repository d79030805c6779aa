//! Tables in memory alone, for trials in virtual time: nothing is logged, flushed, merged or read back. They end with the
//! process, and are the deeds of the journal applied like any others.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use fjall::{UserKey, UserValue};

use super::table::Write;

/// A walk takes so many rows at once, and twice as many each time up to the most: most walks end after a few.
const ROWS_AT_ONCE: usize = 8;
const ROWS_AT_ONCE_MAX: usize = 512;

/// Keys up to this length lie in the map itself, where they are compared without a look elsewhere: all but those that
/// hold names or URLs.
const KEY_BYTES_SHORT: usize = 22;

type Map = BTreeMap<Key, UserValue>;

#[derive(Clone)]
enum Key {
    Short { length: u8, bytes: [u8; KEY_BYTES_SHORT] },
    Long(UserKey),
}

impl Key {
    fn new(key: UserKey) -> Key {
        let mut bytes = [0; KEY_BYTES_SHORT];
        let Some(place) = bytes.get_mut(..key.len()) else { return Key::Long(key) };
        place.copy_from_slice(&key);
        Key::Short { length: key.len() as u8, bytes }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Key::Short { length, bytes } => &bytes[..usize::from(*length)],
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
        self.bytes().cmp(other.bytes())
    }
}

/// All tables under one lock, so that a batch is seen whole or not at all.
pub(crate) struct Maps(RwLock<Vec<Map>>);

impl Maps {
    pub fn new(tables: usize) -> Arc<Maps> {
        Arc::new(Maps(RwLock::new(vec![Map::new(); tables])))
    }

    pub fn write(&self, writes: Vec<Write>) {
        let mut maps = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for (table, key, row) in writes {
            match row {
                Some(row) => maps[table].insert(Key::new(key), row),
                None => maps[table].remove(&*key),
            };
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Vec<Map>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of them.
pub(crate) struct MemoryTable {
    pub maps: Arc<Maps>,
    pub number: usize,
}

impl MemoryTable {
    pub fn get(&self, key: &[u8]) -> Option<UserValue> {
        self.maps.read()[self.number].get(key).cloned()
    }

    pub fn rows(&self, from: Bound<UserKey>, to: Bound<UserKey>) -> MemoryRows {
        MemoryRows {
            maps: Arc::clone(&self.maps),
            number: self.number,
            from,
            to,
            front: VecDeque::new(),
            back: VecDeque::new(),
            at_once: ROWS_AT_ONCE,
            ended: false,
        }
    }
}

/// A walk from either end. What is written meanwhile is met where the walk has not come yet, as in the store.
pub(crate) struct MemoryRows {
    maps: Arc<Maps>,
    number: usize,
    /// What was not taken yet lies between these.
    from: Bound<UserKey>,
    to: Bound<UserKey>,
    /// Taken from the front and from the back, both in the order of keys.
    front: VecDeque<(UserKey, UserValue)>,
    back: VecDeque<(UserKey, UserValue)>,
    at_once: usize,
    /// Nothing is left between the bounds.
    ended: bool,
}

impl MemoryRows {
    /// Takes the next rows at an end of which none are left over.
    fn take(&mut self, at_front: bool) {
        if self.ended || is_empty(&self.from, &self.to) {
            return;
        }
        let maps = self.maps.read();
        let bounds = (self.from.as_ref().map(|key| &**key), self.to.as_ref().map(|key| &**key));
        let left = maps[self.number].range::<[u8], _>(bounds);
        let owned = |(key, value): (&Key, &UserValue)| (UserKey::from(key.bytes()), value.clone());
        let taken = if at_front {
            self.front.extend(left.take(self.at_once).map(owned));
            self.front.back().into_iter().for_each(|(key, _)| self.from = Bound::Excluded(key.clone()));
            self.front.len()
        } else {
            left.rev().take(self.at_once).map(owned).for_each(|row| self.back.push_front(row));
            self.back.front().into_iter().for_each(|(key, _)| self.to = Bound::Excluded(key.clone()));
            self.back.len()
        };
        self.ended = taken < self.at_once;
        self.at_once = (self.at_once * 2).min(ROWS_AT_ONCE_MAX);
    }
}

/// Whether no key lies between the two; a map refuses to be asked for some of such ranges.
fn is_empty(from: &Bound<UserKey>, to: &Bound<UserKey>) -> bool {
    match (from, to) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(from), Bound::Included(to)) => from > to,
        (Bound::Included(from) | Bound::Excluded(from), Bound::Included(to) | Bound::Excluded(to)) => from >= to,
    }
}

impl Iterator for MemoryRows {
    type Item = (UserKey, UserValue);

    fn next(&mut self) -> Option<Self::Item> {
        if self.front.is_empty() {
            self.take(true);
        }
        self.front.pop_front().or_else(|| self.back.pop_front())
    }
}

impl DoubleEndedIterator for MemoryRows {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.back.is_empty() {
            self.take(false);
        }
        self.back.pop_back().or_else(|| self.front.pop_back())
    }
}
