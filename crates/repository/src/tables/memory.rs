//! Tables in memory only, for trials in virtual time. Nothing is logged, flushed, merged or read back, and they end with the
//! process.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use fjall::{UserKey, UserValue};

use super::by_page::ByPage;
use super::sorted::{Key, Sorted};
use super::table::Write;

/// An iterator fetches so many rows at first, and twice as many each time up to the maximum: most iterations end after a few
/// rows, and passes over everything read some hundred at a time.
const ROWS_AT_ONCE: usize = 8;
const ROWS_AT_ONCE_MAX: usize = 64;

/// The capacity for writes is kept for the next batch up to so many.
const ROOM_MAX: usize = 1 << 14;

/// The rows of one table.
#[derive(Clone)]
pub(crate) enum Map {
    Sorted(Sorted),
    /// For tables with page keys.
    ByPage(ByPage),
}

impl Map {
    pub fn sorted() -> Map {
        Map::Sorted(Sorted::default())
    }

    pub fn of_rows_written_once() -> Map {
        Map::Sorted(Sorted::of_rows_written_once())
    }

    pub fn by_page() -> Map {
        Map::ByPage(ByPage::default())
    }

    fn get(&self, key: &[u8]) -> Option<&UserValue> {
        match self {
            Map::Sorted(rows) => rows.get(key),
            Map::ByPage(rows) => rows.get(key),
        }
    }

    fn write(&mut self, key: Key, row: Option<UserValue>) {
        match (self, row) {
            (Map::Sorted(rows), row) => rows.write(key, row),
            (Map::ByPage(rows), Some(row)) => rows.insert(key.bytes(), row),
            (Map::ByPage(rows), None) => rows.remove(key.bytes()),
        }
    }

    fn is_settled(&self) -> bool {
        match self {
            Map::Sorted(rows) => rows.is_settled(),
            Map::ByPage(_) => true,
        }
    }

    fn settle(&mut self) {
        match self {
            Map::Sorted(rows) => rows.settle(),
            Map::ByPage(_) => {}
        }
    }
}

/// All tables under one lock, so that a batch becomes visible as a whole.
pub(crate) struct MemoryTables {
    maps: RwLock<Vec<Map>>,
    /// A buffer for the writes of a batch.
    room: Mutex<Vec<Write>>,
}

impl MemoryTables {
    pub fn new() -> Arc<MemoryTables> {
        Arc::new(MemoryTables { maps: RwLock::default(), room: Mutex::default() })
    }

    /// Adds a table.
    pub fn table(self: &Arc<Self>, map: Map) -> MemoryTable {
        let mut maps = self.locked();
        maps.push(map);
        MemoryTable { maps: Arc::clone(self), number: maps.len() - 1 }
    }

    /// The buffer for the next batch.
    pub fn room(&self) -> Vec<Write> {
        std::mem::take(&mut *self.room.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn write(&self, mut writes: Vec<Write>) {
        let mut maps = self.locked();
        for (table, key, row) in writes.drain(..) {
            maps[table].write(key, row);
        }
        drop(maps);
        if writes.capacity() <= ROOM_MAX {
            *self.room.lock().unwrap_or_else(PoisonError::into_inner) = writes;
        }
    }

    /// Access to the tables for reading.
    fn asked(&self, number: usize) -> RwLockReadGuard<'_, Vec<Map>> {
        loop {
            let maps = self.read();
            if maps[number].is_settled() {
                return maps;
            }
            drop(maps);
            self.locked()[number].settle();
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Vec<Map>> {
        self.maps.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn locked(&self) -> RwLockWriteGuard<'_, Vec<Map>> {
        self.maps.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of the tables.
pub(crate) struct MemoryTable {
    maps: Arc<MemoryTables>,
    pub number: usize,
}

impl MemoryTable {
    pub fn get(&self, key: &[u8]) -> Option<UserValue> {
        self.maps.asked(self.number)[self.number].get(key).cloned()
    }

    pub fn contains_key(&self, key: &[u8]) -> bool {
        self.maps.asked(self.number)[self.number].get(key).is_some()
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

/// An iterator from both ends. Rows written meanwhile are found where it has not been yet, as in the store.
pub(crate) struct MemoryRows {
    maps: Arc<MemoryTables>,
    number: usize,
    /// The bounds of the rows that were not fetched yet.
    from: Bound<UserKey>,
    to: Bound<UserKey>,
    /// Rows fetched from the front and from the back, both in key order.
    front: VecDeque<(UserKey, UserValue)>,
    back: VecDeque<(UserKey, UserValue)>,
    at_once: usize,
    /// Nothing is left between the bounds.
    ended: bool,
}

impl MemoryRows {
    /// Fetches the next rows at an end whose buffer is empty.
    fn take(&mut self, at_front: bool) {
        if self.ended || is_empty(&self.from, &self.to) {
            return;
        }
        let maps = self.maps.asked(self.number);
        let (from, to) = (self.from.as_ref().map(|key| &**key), self.to.as_ref().map(|key| &**key));
        let taken = match &maps[self.number] {
            Map::Sorted(rows) => {
                let left = rows.range(from, to);
                next_rows(left.map(|(key, row)| (UserKey::from(key.bytes()), row)), at_front, self.at_once)
            }
            Map::ByPage(rows) => {
                let left = rows.range(from, to);
                next_rows(left.map(|(key, row)| (UserKey::from(key), row)), at_front, self.at_once)
            }
        };
        drop(maps);
        self.ended = taken.len() < self.at_once;
        if at_front {
            taken.back().into_iter().for_each(|(key, _)| self.from = Bound::Excluded(key.clone()));
            self.front = taken;
        } else {
            taken.front().into_iter().for_each(|(key, _)| self.to = Bound::Excluded(key.clone()));
            self.back = taken;
        }
        self.at_once = (self.at_once * 2).min(ROWS_AT_ONCE_MAX);
    }
}

/// So many of the remaining rows from one end, in key order.
fn next_rows<'a>(
    left: impl DoubleEndedIterator<Item = (UserKey, &'a UserValue)>,
    at_front: bool,
    at_once: usize,
) -> VecDeque<(UserKey, UserValue)> {
    let left = left.map(|(key, row)| (key, row.clone()));
    if at_front {
        return left.take(at_once).collect();
    }
    let mut taken = VecDeque::new();
    left.rev().take(at_once).for_each(|row| taken.push_front(row));
    taken
}

/// Whether no key lies between the bounds. A `BTreeMap` panics on some of such ranges.
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
