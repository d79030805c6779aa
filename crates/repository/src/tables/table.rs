//! One table, in the embedded store or in memory. Both behave the same, so callers need not know which one they use.

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use fjall::{Guard, Keyspace, OwnedWriteBatch, UserKey, UserValue};

use super::memory::{MemoryRows, MemoryTable, MemoryTables};
use super::sorted::Key;

pub(crate) enum Table {
    Store(Keyspace),
    Memory(MemoryTable),
}

/// A row of an iteration. Key and value are read on demand.
pub(crate) enum Row {
    Store(Guard),
    Memory(UserKey, UserValue),
}

/// Rows in key order, from either end.
pub(crate) enum Rows {
    Store(fjall::Iter),
    Memory(MemoryRows),
}

/// Writes to any tables, done atomically.
pub(crate) enum Batch {
    Store(OwnedWriteBatch),
    Memory(Arc<MemoryTables>, Vec<Write>),
}

/// One write: the number of the table, the key, and the new row, or `None` to remove it.
pub(crate) type Write = (usize, Key, Option<UserValue>);

/// A key argument. The store takes ownership; a table in memory only reads it.
pub(crate) trait RowKey: AsRef<[u8]> + Into<UserKey> {}

impl<K: AsRef<[u8]> + Into<UserKey>> RowKey for K {}

impl Table {
    pub fn get(&self, key: impl AsRef<[u8]>) -> fjall::Result<Option<UserValue>> {
        match self {
            Table::Store(keyspace) => keyspace.get(key),
            Table::Memory(table) => Ok(table.get(key.as_ref())),
        }
    }

    pub fn contains_key(&self, key: impl AsRef<[u8]>) -> fjall::Result<bool> {
        match self {
            Table::Store(keyspace) => keyspace.contains_key(key),
            Table::Memory(table) => Ok(table.contains_key(key.as_ref())),
        }
    }

    pub fn iter(&self) -> Rows {
        match self {
            Table::Store(keyspace) => Rows::Store(keyspace.iter()),
            Table::Memory(table) => Rows::Memory(table.rows(Bound::Unbounded, Bound::Unbounded)),
        }
    }

    pub fn range<K: AsRef<[u8]>, R: RangeBounds<K>>(&self, range: R) -> Rows {
        match self {
            Table::Store(keyspace) => Rows::Store(keyspace.range(range)),
            Table::Memory(table) => {
                let owned = |bound: Bound<&K>| bound.map(|key| UserKey::from(key.as_ref()));
                Rows::Memory(table.rows(owned(range.start_bound()), owned(range.end_bound())))
            }
        }
    }

    /// The rows whose keys have this prefix.
    pub fn prefix(&self, prefix: impl AsRef<[u8]>) -> Rows {
        match self {
            Table::Store(keyspace) => Rows::Store(keyspace.prefix(prefix)),
            Table::Memory(table) => {
                let prefix = prefix.as_ref();
                Rows::Memory(table.rows(Bound::Included(UserKey::from(prefix)), behind(prefix)))
            }
        }
    }

    /// The keyspace of a table in the store.
    pub fn stored(&self) -> Option<&Keyspace> {
        match self {
            Table::Store(keyspace) => Some(keyspace),
            Table::Memory(_) => None,
        }
    }
}

/// The first key that is greater than all keys with this prefix.
fn behind(prefix: &[u8]) -> Bound<UserKey> {
    let Some(last) = prefix.iter().rposition(|&byte| byte < u8::MAX) else { return Bound::Unbounded };
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Bound::Excluded(end.into())
}

impl Row {
    pub fn key(self) -> fjall::Result<UserKey> {
        match self {
            Row::Store(guard) => guard.key(),
            Row::Memory(key, _) => Ok(key),
        }
    }

    pub fn value(self) -> fjall::Result<UserValue> {
        match self {
            Row::Store(guard) => guard.value(),
            Row::Memory(_, value) => Ok(value),
        }
    }

    pub fn into_inner(self) -> fjall::Result<(UserKey, UserValue)> {
        match self {
            Row::Store(guard) => guard.into_inner(),
            Row::Memory(key, value) => Ok((key, value)),
        }
    }
}

impl Iterator for Rows {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        match self {
            Rows::Store(rows) => rows.next().map(Row::Store),
            Rows::Memory(rows) => rows.next().map(|(key, value)| Row::Memory(key, value)),
        }
    }
}

impl DoubleEndedIterator for Rows {
    fn next_back(&mut self) -> Option<Row> {
        match self {
            Rows::Store(rows) => rows.next_back().map(Row::Store),
            Rows::Memory(rows) => rows.next_back().map(|(key, value)| Row::Memory(key, value)),
        }
    }
}

impl Batch {
    pub fn insert(&mut self, table: &Table, key: impl RowKey, row: impl Into<UserValue>) {
        match (self, table) {
            (Batch::Store(batch), Table::Store(keyspace)) => batch.insert(keyspace, key, row),
            (Batch::Memory(_, writes), Table::Memory(table)) => {
                writes.push((table.number, Key::new(key.as_ref()), Some(row.into())));
            }
            _ => unreachable!("a batch and its tables lie in one place"),
        }
    }

    pub fn remove(&mut self, table: &Table, key: impl RowKey) {
        match (self, table) {
            (Batch::Store(batch), Table::Store(keyspace)) => batch.remove(keyspace, key),
            (Batch::Memory(_, writes), Table::Memory(table)) => {
                writes.push((table.number, Key::new(key.as_ref()), None));
            }
            _ => unreachable!("a batch and its tables lie in one place"),
        }
    }

    pub fn commit(self) -> fjall::Result<()> {
        match self {
            Batch::Store(batch) => batch.commit(),
            Batch::Memory(maps, writes) => {
                maps.write(writes);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use proptest::prelude::*;

    use super::super::store::Tables;
    use super::*;

    type Key = Vec<u8>;

    /// Short keys of few bytes, so that they meet; the greatest byte has no prefix behind it.
    fn key() -> impl Strategy<Value = Key> {
        prop::collection::vec(prop::sample::select(vec![0u8, 1, 2, 254, 255]), 1..4)
    }

    /// The key of a page with a small number; questions about pages may begin or end anywhere.
    fn page(key: &[u8]) -> Key {
        let place = |index: usize| key.get(index).copied().unwrap_or_default() % 8;
        vec![place(0), 0, 0, place(1), place(2)]
    }

    fn bound() -> impl Strategy<Value = Bound<Key>> {
        prop_oneof![Just(Bound::Unbounded), key().prop_map(Bound::Included), key().prop_map(Bound::Excluded)]
    }

    fn all(rows: Rows) -> Vec<(Key, Key)> {
        let plain = |row: Row| row.into_inner().map(|(key, value)| (key.to_vec(), value.to_vec()));
        rows.map(plain).collect::<fjall::Result<_>>().unwrap()
    }

    /// Takes rows from either end in turns, as the pattern says.
    fn from_both_ends(mut rows: Rows, pattern: &[bool]) -> Vec<Key> {
        let mut met = Vec::new();
        for &front in pattern.iter().cycle() {
            let row = if front { rows.next() } else { rows.next_back() };
            let Some(row) = row else { break };
            met.push(row.key().unwrap().to_vec());
        }
        met
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
        #[test]
        fn tables_in_memory_answer_as_those_in_the_store(
            groups in prop::collection::vec(prop::collection::vec((key(), any::<Option<u8>>(), any::<bool>()), 1..40), 1..4),
            questions in prop::collection::vec((bound(), bound(), key()), 1..20),
            pattern in prop::collection::vec(any::<bool>(), 1..9),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let places = [Tables::open(folder.path()).unwrap(), Tables::in_memory().unwrap()];
            for tables in &places {
                for group in &groups {
                    let mut batch = tables.batch(group.len());
                    for (key, row, pages) in group {
                        let (table, key) = if *pages { (&tables.pages, page(key)) } else { (&tables.visits, key.clone()) };
                        match row {
                            Some(row) => batch.insert(table, key, [*row]),
                            None => batch.remove(table, key),
                        }
                    }
                    batch.commit().unwrap();
                }
            }
            let [stored, memory] = &places;
            for (stored, memory) in [(&stored.pages, &memory.pages), (&stored.visits, &memory.visits)] {
                prop_assert_eq!(all(stored.iter()), all(memory.iter()));
                prop_assert_eq!(from_both_ends(stored.iter(), &pattern), from_both_ends(memory.iter(), &pattern));
                for (from, to, key) in &questions {
                    for key in [key.clone(), page(key), [page(key), key.clone()].concat()] {
                        prop_assert_eq!(stored.get(&key).unwrap(), memory.get(&key).unwrap());
                        prop_assert_eq!(stored.contains_key(&key).unwrap(), memory.contains_key(&key).unwrap());
                        prop_assert_eq!(all(stored.prefix(&key)), all(memory.prefix(&key)));
                    }
                    let bounds = |shape: fn(Key) -> Key| (from.clone().map(shape), to.clone().map(shape));
                    for (from, to) in [bounds(|key| key), bounds(|key| page(&key)), bounds(|key| [page(&key), key].concat())] {
                        // What ends before it begins is asked of neither.
                        let (Bound::Included(first) | Bound::Excluded(first)) = &from else { continue };
                        if matches!(&to, Bound::Included(last) | Bound::Excluded(last) if first >= last) {
                            continue;
                        }
                        let range = (from, to);
                        prop_assert_eq!(all(stored.range::<Key, _>(range.clone())), all(memory.range::<Key, _>(range)));
                    }
                }
            }
        }
    }
}
