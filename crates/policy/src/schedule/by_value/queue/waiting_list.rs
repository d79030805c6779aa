//! Pages that wait in one place, by the keys at which they must be looked at.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A list of no more than this is searched for the entry of a page that leaves; in a longer one it stays behind.
const SEARCHED_MAX: usize = 32;

/// A page that waits; the smallest key comes first.
#[derive(Copy, Clone, Debug)]
pub struct Entry {
    pub key: f32,
    pub page: u32,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.total_cmp(&self.key).then(other.page.cmp(&self.page))
    }
}

/// There are many such lists, so that none has much room to spare.
#[derive(Clone, Debug, Default)]
pub struct WaitingList {
    entries: BinaryHeap<Entry>,
}

impl WaitingList {
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    pub fn peek(&self) -> Option<&Entry> {
        self.entries.peek()
    }

    pub fn push(&mut self, entry: Entry) {
        if self.entries.len() == self.entries.capacity() {
            self.entries.reserve_exact(room_for(self.entries.len() + 1) - self.entries.len());
        }
        self.entries.push(entry);
    }

    pub fn pop(&mut self) -> Option<Entry> {
        self.entries.pop()
    }

    /// Takes out an entry of a page if the list is short: left behind, it would cost one more look at the page.
    pub fn remove(&mut self, page: u32) {
        if self.entries.len() > SEARCHED_MAX {
            return;
        }
        let Some(index) = self.entries.iter().position(|entry| entry.page == page) else { return };
        let mut all = std::mem::take(&mut self.entries).into_vec();
        all.swap_remove(index);
        self.entries = all.into();
    }

    /// All of them, in no order; the list is empty then.
    pub fn take(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.entries).into_vec()
    }

    pub fn append(&mut self, more: Vec<Entry>) {
        self.entries.append(&mut more.into());
        self.shrink();
    }

    /// Gives out those that do not stay. They may come back at once, so that memory is kept for them.
    pub fn drain_unless(&mut self, stays: impl Fn(&Entry) -> bool, into: &mut Vec<Entry>) {
        self.entries.retain(|entry| {
            let stays = stays(entry);
            if !stays {
                into.push(*entry);
            }
            stays
        });
    }

    /// Gives back memory that many entries needed and those that are left do not.
    pub fn shrink(&mut self) {
        let room = if self.entries.is_empty() { 0 } else { room_for(self.entries.len()) };
        if self.entries.capacity() > 2 * room {
            self.entries.shrink_to(room);
        }
    }
}

/// Room for so many and a quarter more.
fn room_for(entries: usize) -> usize {
    entries + entries / 4 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Act {
        Push(u8, u32),
        Pop,
        Remove(u32),
        Append(Vec<(u8, u32)>),
        KeepOdd,
        Shrink,
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let one = || (0u8..9, 0u32..20);
        let act = prop_oneof![
            4 => one().prop_map(|(key, page)| Act::Push(key, page)),
            3 => Just(Act::Pop),
            2 => (0u32..20).prop_map(Act::Remove),
            1 => prop::collection::vec(one(), 0..5).prop_map(Act::Append),
            1 => Just(Act::KeepOdd),
            1 => Just(Act::Shrink),
        ];
        prop::collection::vec(act, 0..60)
    }

    fn entry((key, page): (u8, u32)) -> Entry {
        Entry { key: f32::from(key), page }
    }

    /// Smallest key first, as a plain sorted vector has them.
    fn sorted(list: &WaitingList) -> Vec<(u8, u32)> {
        let mut all: Vec<(u8, u32)> = list.iter().map(|entry| (entry.key as u8, entry.page)).collect();
        all.sort_unstable();
        all
    }

    proptest! {
        #[test]
        fn entries_come_out_as_from_a_sorted_row(acts in acts()) {
            let (mut list, mut row) = (WaitingList::default(), Vec::<(u8, u32)>::new());
            for act in acts {
                match act {
                    Act::Push(key, page) => {
                        list.push(entry((key, page)));
                        row.push((key, page));
                    }
                    Act::Pop => {
                        let first = (!row.is_empty()).then(|| row.remove(0));
                        prop_assert_eq!(list.pop(), first.map(entry));
                    }
                    Act::Remove(page) => {
                        list.remove(page);
                        let left = sorted(&list);
                        let gone = row.iter().position(|one| one.1 == page && left.binary_search(one).is_err());
                        if row.len() > left.len() {
                            // One of its entries, if there are several that look the same any of them.
                            let index = gone.or_else(|| row.iter().position(|one| one.1 == page)).unwrap();
                            row.remove(index);
                        } else {
                            prop_assert!(row.len() > SEARCHED_MAX || row.iter().all(|one| one.1 != page));
                        }
                        row = left;
                    }
                    Act::Append(more) => {
                        list.append(more.iter().copied().map(entry).collect());
                        row.extend(more);
                    }
                    Act::KeepOdd => {
                        let mut gone = Vec::new();
                        list.drain_unless(|entry| entry.page % 2 == 1, &mut gone);
                        prop_assert!(gone.iter().all(|entry| entry.page % 2 == 0));
                        prop_assert_eq!(gone.len(), row.iter().filter(|one| one.1 % 2 == 0).count());
                        row.retain(|one| one.1 % 2 == 1);
                    }
                    Act::Shrink => list.shrink(),
                }
                row.sort_unstable();
                prop_assert_eq!(&sorted(&list), &row);
                prop_assert_eq!(list.peek().copied(), row.first().copied().map(entry));
            }
            prop_assert_eq!(list.take().len(), row.len());
            prop_assert!(list.is_empty());
        }
    }

    #[test]
    fn a_list_gives_its_memory_back() {
        let mut list = WaitingList::default();
        (0..1_000u32).for_each(|page| list.push(Entry { key: page as f32, page }));
        list.drain_unless(|entry| entry.page < 10, &mut Vec::new());
        list.shrink();
        assert!(list.entries.capacity() < 30);
        list.drain_unless(|_| false, &mut Vec::new());
        list.shrink();
        assert_eq!(list.entries.capacity(), 0);
    }
}
