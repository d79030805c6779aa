//! Deeds on their way to the journal: a group is written, synced and applied as one. Until then, the rows that its
//! deeds carry are read from here.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};
use vernal_model::{
    Deed, DocumentRow, Event, Eviction, EvictionRow, FoldKey, FoldRow, ListEntryRows, NameMark, NameRow, NoiseRows,
    Origin, Page, PageKey, PageNoise, Partition, RobotsRow, Site, TopicOf, Version, Visit, Visited,
};

use crate::GroupLimits;

/// The largest capacity, in deeds, that is reused from group to group.
const CAPACITY_KEPT_MAX: usize = 1 << 14;

#[derive(Default)]
pub(super) struct Group {
    deeds: Vec<(Partition, Deed)>,
    /// An empty list with the capacity that an earlier group needed.
    spare: Vec<(Partition, Deed)>,
    /// The positions of the newest rows of a page among the deeds.
    pages: HashMap<PageKey, Newest>,
    /// The positions of the newest rows of scores, by partition and chunk.
    scores: HashMap<(Partition, u32), u32>,
    /// The positions of the newest rows of folds, by partition and mark, and the pages that joined folds.
    folds: HashMap<(Partition, u64), u32>,
    fold_pages: HashSet<(PageKey, FoldKey)>,
    /// Pages that have marks of names from now on, or no more.
    name_marks: BTreeMap<(Partition, NameMark, PageKey), bool>,
    counts: Counts,
    visits: usize,
    bytes: usize,
}

/// Counts that are not yet in the totals of the tables.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub visits: u64,
    pub wire_bytes: u64,
    /// Links on their way to the sieve, and how many of them are spelled out and may be new.
    pub found: u64,
    pub new_urls: u64,
}

/// The positions of the newest deeds that carry rows of one page.
#[derive(Copy, Clone, Default)]
struct Newest {
    page: Option<u32>,
    document: Option<u32>,
    left: Option<u32>,
    noise: Option<u32>,
    topics: Option<u32>,
    names: Option<u32>,
}

impl Group {
    pub fn push(&mut self, partition: Partition, deed: Deed) {
        let place = Some(self.deeds.len() as u32);
        match &deed {
            Deed::Visited(visited) => {
                self.visits += 1;
                self.count(&visited.visit);
                let newest = self.newest(visited.page.key);
                newest.page = place;
                newest.document = if visited.document.is_some() { place } else { newest.document };
            }
            Deed::Left(leaving) => {
                self.visits += 1;
                let newest = self.newest(leaving.page.key);
                (newest.page, newest.left) = (place, place);
            }
            Deed::Relinked { page, .. } => self.newest(*page).document = place,
            Deed::NoiseLearned(rows) => {
                if let Some((page, _)) = &rows.page {
                    self.newest(*page).noise = place;
                }
            }
            Deed::Categorised(rows) => rows.iter().for_each(|(page, _)| self.newest(*page).topics = place),
            Deed::RobotsRead { visit, .. } | Deed::HubAsked { visit, .. } => self.count(visit),
            Deed::Weighed(row) => {
                self.bytes += size_of_val(row.scores.as_slice());
                self.scores.insert((partition, row.chunk), self.deeds.len() as u32);
            }
            Deed::Folded(folded) => {
                for (mark, row) in &folded.folds {
                    self.folds.insert((partition, *mark), self.deeds.len() as u32);
                    self.fold_pages.insert((folded.page, FoldKey { mark: *mark, number: row.number }));
                }
            }
            Deed::Named(named) => {
                let page = named.page;
                let marks = named.marked.iter().map(|mark| (mark, true));
                let marks = marks.chain(named.unmarked.iter().map(|mark| (mark, false)));
                self.name_marks.extend(marks.map(|(mark, is_marked)| ((partition, *mark, page), is_marked)));
                let newest = self.newest(page);
                newest.names = if named.row.is_some() { place } else { newest.names };
            }
            Deed::Found { urls, again } => {
                self.counts.found += (urls.len() + again.len()) as u64;
                self.counts.new_urls += urls.len() as u64;
            }
            Deed::Unlinked { gone } => self.counts.found += gone.len() as u64,
            _ => {}
        }
        self.deeds.push((partition, deed));
    }

    fn count(&mut self, visit: &Visit) {
        self.counts.visits += u64::from(visit.outcome.asked());
        self.counts.wire_bytes += visit.wire_bytes;
    }

    fn newest(&mut self, page: PageKey) -> &mut Newest {
        self.pages.entry(page).or_default()
    }

    /// Adds the bytes that the archive got with this group.
    pub fn kept(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    pub fn is_full(&self, limits: GroupLimits) -> bool {
        self.visits >= limits.visits || self.bytes >= limits.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.deeds.is_empty()
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Whether this group has a newer row of a page than the tables.
    pub fn has_page(&self, page: PageKey) -> bool {
        self.pages.get(&page).is_some_and(|newest| newest.page.is_some())
    }

    pub fn page(&self, page: PageKey) -> Option<&Page> {
        match self.deed(self.pages.get(&page)?.page)? {
            Deed::Visited(visited) => Some(&visited.page),
            Deed::Left(leaving) => Some(&leaving.page),
            _ => None,
        }
    }

    pub fn document(&self, page: PageKey) -> Option<&DocumentRow> {
        match self.deed(self.pages.get(&page)?.document)? {
            Deed::Visited(visited) => visited.document.as_ref(),
            Deed::Relinked { document, .. } => Some(document),
            _ => None,
        }
    }

    pub fn left(&self, page: PageKey) -> Option<&EvictionRow> {
        match self.deed(self.pages.get(&page)?.left)? {
            Deed::Left(leaving) => {
                let Eviction { row, .. } = &**leaving;
                Some(row)
            }
            _ => None,
        }
    }

    pub fn page_noise(&self, page: PageKey) -> Option<&PageNoise> {
        match self.deed(self.pages.get(&page)?.noise)? {
            Deed::NoiseLearned(rows) => rows.page.as_ref().map(|(_, noise)| noise),
            _ => None,
        }
    }

    pub fn folds(&self, partition: Partition, mark: u64) -> Option<&FoldRow> {
        match self.deed(self.folds.get(&(partition, mark)).copied())? {
            Deed::Folded(folded) => folded.folds.iter().find(|(known, _)| *known == mark).map(|(_, row)| row),
            _ => None,
        }
    }

    /// Whether the page joined the fold in this group.
    pub fn is_page_of_fold(&self, page: PageKey, fold: FoldKey) -> bool {
        self.fold_pages.contains(&(page, fold))
    }

    pub fn name_row(&self, page: PageKey) -> Option<&NameRow> {
        match self.deed(self.pages.get(&page)?.names)? {
            Deed::Named(named) => named.row.as_ref(),
            _ => None,
        }
    }

    /// The pages that got or lost this mark in this group, and whether they have it now.
    pub fn marked_pages(&self, partition: Partition, mark: NameMark) -> BTreeMap<PageKey, bool> {
        let (first, last) = (PageKey::new(partition, 0), PageKey::new(partition, u32::MAX));
        let marks = self.name_marks.range((partition, mark, first)..=(partition, mark, last));
        marks.map(|((_, _, page), is_marked)| (*page, *is_marked)).collect()
    }

    pub fn topics(&self, page: PageKey) -> Option<&[TopicOf]> {
        match self.deed(self.pages.get(&page)?.topics)? {
            Deed::Categorised(rows) => rows.iter().find(|(known, _)| *known == page).map(|(_, topics)| &topics[..]),
            _ => None,
        }
    }

    pub fn scores(&self, partition: Partition, chunk: u32) -> Option<&[f32]> {
        match self.deed(self.scores.get(&(partition, chunk)).copied())? {
            Deed::Weighed(row) => Some(&row.scores),
            _ => None,
        }
    }

    /// The versions of a page in this group, the oldest first.
    pub fn versions(&self, page: PageKey) -> impl Iterator<Item = Version> {
        let deeds = if self.has_page(page) { &self.deeds[..] } else { &[] };
        deeds.iter().filter_map(move |(_, deed)| match deed {
            Deed::Visited(visited) => {
                let Visited { page: row, visit, .. } = &**visited;
                visit.version.filter(|_| row.key == page)
            }
            _ => None,
        })
    }

    /// The newest event of a page in this group.
    pub fn last_event(&self, page: PageKey) -> Option<&Event> {
        let deeds = if self.has_page(page) { &self.deeds[..] } else { &[] };
        deeds.iter().rev().find_map(|(_, deed)| match deed {
            Deed::Visited(visited) => visited.event.as_ref().filter(|event| event.page == page),
            _ => None,
        })
    }

    /// What was learned of noise at a site, the oldest first. It is needed seldom: when a book is read from the tables.
    pub fn noise_of(&self, site: &Site) -> impl Iterator<Item = &NoiseRows> {
        self.deeds.iter().filter_map(move |(_, deed)| match deed {
            Deed::NoiseLearned(rows) if rows.site == *site => Some(&**rows),
            _ => None,
        })
    }

    /// The entries that moved in a list, the oldest first.
    pub fn listed(&self, file: PageKey) -> impl Iterator<Item = &ListEntryRows> {
        self.deeds.iter().filter_map(move |(_, deed)| match deed {
            Deed::Hinted(rows) => rows.listed.as_ref().filter(|listed| listed.file == file),
            _ => None,
        })
    }

    pub fn robots(&self, origin: &Origin) -> Option<&RobotsRow> {
        self.deeds.iter().rev().find_map(|(_, deed)| match deed {
            Deed::RobotsRead { row, .. } if row.origin == *origin => Some(row),
            _ => None,
        })
    }

    fn deed(&self, place: Option<u32>) -> Option<&Deed> {
        self.deeds.get(place? as usize).map(|(_, deed)| deed)
    }

    pub fn take(&mut self) -> Vec<(Partition, Deed)> {
        let mut pages = std::mem::take(&mut self.pages);
        pages.clear();
        let deeds = std::mem::take(&mut self.spare);
        std::mem::replace(self, Group { deeds, pages, ..Group::default() }).deeds
    }

    /// Takes back the list that `take` returned, once it is committed: the group after the next reuses its capacity.
    pub fn give_back(&mut self, mut deeds: Vec<(Partition, Deed)>) {
        deeds.clear();
        if deeds.capacity() <= CAPACITY_KEPT_MAX {
            self.spare = deeds;
        }
    }
}
