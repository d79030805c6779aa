//! Deeds on their way to the journal: a group is written, synced and applied as one.

use foldhash::HashSet;
use vernal_model::{Deed, PageKey, Partition, Version};

use crate::GroupLimits;

/// Room for so many deeds is kept from group to group.
const ROOM_MAX: usize = 1 << 14;

#[derive(Default)]
pub(crate) struct Group {
    deeds: Vec<(Partition, Deed)>,
    /// Room for the deeds of the next group, as much as one before came to need.
    room: Vec<(Partition, Deed)>,
    visits: usize,
    bytes: usize,
    /// Pages whose rows in the tables are behind this group.
    pages: HashSet<PageKey>,
    /// Whether the group holds links on their way to the sieve.
    pub has_found: bool,
    /// URLs among them that are spelled out and may be new.
    pub spelled: u64,
}

impl Group {
    pub(crate) fn push(&mut self, partition: Partition, deed: Deed) {
        match &deed {
            Deed::Visited(visited) => {
                self.visits += 1;
                self.pages.insert(visited.page.key);
            }
            Deed::Weighed(row) => self.bytes += size_of_val(row.scores.as_slice()),
            Deed::Left(leaving) => {
                self.visits += 1;
                self.pages.insert(leaving.page.key);
            }
            Deed::Found { urls, .. } => {
                self.has_found = true;
                self.spelled += urls.len() as u64;
            }
            Deed::Unlinked { .. } => self.has_found = true,
            _ => {}
        }
        self.deeds.push((partition, deed));
    }

    /// Bytes that the archive got with this group.
    pub(crate) fn kept(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    pub(crate) fn is_full(&self, limits: GroupLimits) -> bool {
        self.visits >= limits.visits || self.bytes >= limits.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.deeds.is_empty()
    }

    pub(crate) fn touches(&self, page: PageKey) -> bool {
        self.pages.contains(&page)
    }

    /// The newest version of a page that is on its way in this group, if there is one.
    pub(crate) fn version_of(&self, page: PageKey) -> Option<Version> {
        if !self.touches(page) {
            return None;
        }
        self.deeds.iter().rev().find_map(|(_, deed)| match deed {
            Deed::Visited(visited) if visited.page.key == page => visited.visit.version,
            _ => None,
        })
    }

    /// Pages whose rows in the tables are behind this group, in no order.
    pub(crate) fn touched(&self) -> impl Iterator<Item = PageKey> {
        self.pages.iter().copied()
    }

    pub(crate) fn take(&mut self) -> Vec<(Partition, Deed)> {
        let mut pages = std::mem::take(&mut self.pages);
        pages.clear();
        let deeds = std::mem::take(&mut self.room);
        std::mem::replace(self, Group { deeds, pages, ..Group::default() }).deeds
    }

    /// Gives back what was taken, when it is committed: the group after the next has its room.
    pub(crate) fn give_back(&mut self, mut deeds: Vec<(Partition, Deed)>) {
        deeds.clear();
        if deeds.capacity() <= ROOM_MAX {
            self.room = deeds;
        }
    }
}
