//! Pages that wait in one place, by the keys at which they must be looked at.

use std::collections::BinaryHeap;

use super::site::Entry;

/// So many entries lie in the list itself: most buckets hold no more, and one that needs no memory of its own is reached
/// with one look. The list is as small as one without them.
const FEW: usize = 2;
/// A list of no more than this is looked through for the entry of a page that leaves; in a longer one it stays behind.
const LOOKED_THROUGH_MAX: usize = 32;
/// Numbers of pages are dense, so that nobody has this one.
const NO_PAGE: u32 = u32::MAX;
const NOTHING: Entry = Entry { key: f32::INFINITY, page: NO_PAGE };

/// Smallest key first. There are many such lists, so that none has much room to spare.
#[derive(Clone, Debug)]
pub(super) enum Entries {
    Few([Entry; FEW]),
    Many(BinaryHeap<Entry>),
}

impl Default for Entries {
    fn default() -> Self {
        Entries::Few([NOTHING; FEW])
    }
}

impl Entries {
    pub fn as_slice(&self) -> &[Entry] {
        match self {
            Entries::Few(few) => &few[..few.iter().take_while(|entry| entry.page != NO_PAGE).count()],
            Entries::Many(many) => many.as_slice(),
        }
    }

    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    pub fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.as_slice().iter()
    }

    pub fn peek(&self) -> Option<&Entry> {
        self.as_slice().first()
    }

    pub fn push(&mut self, entry: Entry) {
        match self {
            Entries::Few(few) if few[FEW - 1].page == NO_PAGE => {
                let index = few.iter().position(|other| entry > *other).unwrap_or(FEW - 1);
                few[index..].rotate_right(1);
                few[index] = entry;
            }
            Entries::Few(few) => {
                let mut many = BinaryHeap::with_capacity(room_for(FEW + 1));
                many.extend(few.iter().copied().chain([entry]));
                *self = Entries::Many(many);
            }
            Entries::Many(many) => {
                if many.len() == many.capacity() {
                    many.reserve_exact(room_for(many.len() + 1) - many.len());
                }
                many.push(entry);
            }
        }
    }

    pub fn pop(&mut self) -> Option<Entry> {
        match self {
            Entries::Few(few) => {
                few.rotate_left(1);
                let first = std::mem::replace(&mut few[FEW - 1], NOTHING);
                (first.page != NO_PAGE).then_some(first)
            }
            Entries::Many(many) => many.pop(),
        }
    }

    /// Takes out an entry of a page, where that is found soon: else somebody would look at the page for it once more.
    pub fn remove(&mut self, page: u32) {
        let found = self.as_slice().iter().take(LOOKED_THROUGH_MAX + 1).position(|entry| entry.page == page);
        let Some(index) = found.filter(|_| self.len() <= LOOKED_THROUGH_MAX) else { return };
        match self {
            Entries::Few(few) => {
                few[index] = NOTHING;
                few[index..].rotate_left(1);
            }
            Entries::Many(many) => {
                let mut all = std::mem::take(many).into_vec();
                all.swap_remove(index);
                *many = BinaryHeap::from(all);
            }
        }
    }

    /// All of them, in no order; the list is empty then.
    pub fn take(&mut self) -> Vec<Entry> {
        match std::mem::take(self) {
            Entries::Many(many) => many.into_vec(),
            few @ Entries::Few(_) => few.as_slice().to_vec(),
        }
    }

    pub fn append(&mut self, more: Vec<Entry>) {
        if self.len() + more.len() <= FEW {
            return more.into_iter().for_each(|entry| self.push(entry));
        }
        let mut all = BinaryHeap::from(self.take());
        all.append(&mut BinaryHeap::from(more));
        *self = Entries::Many(all);
        self.shrink();
    }

    /// Gives out those that do not stay. They may come back at once, so that memory is kept for them.
    pub fn drain_unless(&mut self, stays: impl Fn(&Entry) -> bool, into: &mut Vec<Entry>) {
        match self {
            Entries::Few(few) => {
                for entry in std::mem::replace(few, [NOTHING; FEW]) {
                    match few.iter_mut().find(|place| place.page == NO_PAGE) {
                        _ if entry.page == NO_PAGE => {}
                        Some(place) if stays(&entry) => *place = entry,
                        _ => into.push(entry),
                    }
                }
            }
            Entries::Many(many) => {
                many.retain(|entry| {
                    let stays = stays(entry);
                    if !stays {
                        into.push(*entry);
                    }
                    stays
                });
            }
        }
    }

    /// Gives back memory that many entries needed and those that are left do not.
    pub fn shrink(&mut self) {
        let Entries::Many(many) = self else { return };
        let room = room_for(many.len());
        if many.len() <= FEW {
            let mut few = [NOTHING; FEW];
            few.iter_mut().zip(many.as_slice()).for_each(|(place, entry)| *place = *entry);
            *self = Entries::Few(few);
        } else if many.capacity() > 2 * room {
            many.shrink_to(room);
        }
    }
}

/// Room for so many and a quarter more; an odd number, which leaves nothing unused between the pieces that memory is cut into.
fn room_for(entries: usize) -> usize {
    (entries + entries / 4 + 1) | 1
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

    fn entry((key, page): (u8, u32)) -> Entry {
        Entry { key: f32::from(key), page }
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

    proptest! {
        #[test]
        fn few_entries_or_many_come_out_as_from_a_heap(acts in acts()) {
            let (mut entries, mut heap) = (Entries::default(), BinaryHeap::new());
            for act in acts {
                match act {
                    Act::Push(key, page) => {
                        entries.push(entry((key, page)));
                        heap.push(entry((key, page)));
                    }
                    Act::Pop => prop_assert_eq!(entries.pop(), heap.pop()),
                    Act::Remove(page) => {
                        let removed = entries.as_slice().iter().find(|entry| entry.page == page).copied();
                        let few = entries.len() <= LOOKED_THROUGH_MAX;
                        entries.remove(page);
                        let mut all = std::mem::take(&mut heap).into_vec();
                        if let Some(index) = all.iter().position(|&entry| few && Some(entry) == removed) {
                            all.swap_remove(index);
                        }
                        heap = all.into();
                    }
                    Act::Append(more) => {
                        entries.append(more.iter().copied().map(entry).collect());
                        heap.extend(more.into_iter().map(entry));
                    }
                    Act::KeepOdd => {
                        let mut gone = Vec::new();
                        entries.drain_unless(|entry| entry.page % 2 == 1, &mut gone);
                        prop_assert!(gone.iter().all(|entry| entry.page % 2 == 0));
                        prop_assert_eq!(gone.len(), heap.iter().filter(|entry| entry.page % 2 == 0).count());
                        heap.retain(|entry| entry.page % 2 == 1);
                    }
                    Act::Shrink => entries.shrink(),
                }
                prop_assert_eq!((entries.len(), entries.peek()), (heap.len(), heap.peek()));
            }
            let mut all = entries.take();
            all.sort_unstable();
            prop_assert_eq!(all, heap.into_sorted_vec());
        }
    }

    #[test]
    fn a_list_is_no_larger_than_a_heap_and_gives_its_memory_back() {
        assert_eq!(size_of::<Entries>(), size_of::<BinaryHeap<Entry>>());
        let mut entries = Entries::default();
        (0..1_000u32).for_each(|page| entries.push(Entry { key: page as f32, page }));
        entries.drain_unless(|entry| entry.page < 10, &mut Vec::new());
        entries.shrink();
        assert!(matches!(&entries, Entries::Many(many) if many.capacity() < 30));
        entries.drain_unless(|entry| entry.page < 2, &mut Vec::new());
        entries.shrink();
        assert!(matches!(entries, Entries::Few(_)));
    }
}
