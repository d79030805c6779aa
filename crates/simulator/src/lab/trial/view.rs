//! What a policy can see of a trial, and the numbers that pages go by.

use vernal_model::{Chance, PageKey, Partition, Span};
use vernal_policy::View;

use crate::lab::world::World;

/// The number that each page of a world goes by, and back: all are in one partition.
pub(super) struct PageNumbers {
    pub of_page: Vec<u32>,
    pub page_of: Vec<u32>,
}

/// What the policy can see.
pub(super) struct TrialView<'a> {
    pub world: &'a World,
    pub numbers: PageNumbers,
    pub refresh_min: Span,
    pub visits_left: usize,
    pub held: u64,
    pub per_day: f64,
    pub mean_rate: Option<f64>,
    pub counts_bytes: bool,
    /// Visits that each site's politeness still allows; empty if it binds nowhere.
    pub room: Vec<f64>,
    /// Visits to each site in this slot, to know the peak.
    pub asked: Vec<u32>,
}

impl View for TrialView<'_> {
    fn visits_left(&self) -> usize {
        self.visits_left
    }

    fn has_room(&self, page: PageKey) -> bool {
        self.room.is_empty() || self.has_room_at(self.world.pages[self.numbers.page(page)].site as usize)
    }

    fn refresh_min(&self) -> Span {
        self.refresh_min
    }

    fn held(&self) -> u64 {
        self.held
    }

    fn per_day(&self) -> f64 {
        self.per_day
    }

    fn mean_rate(&self) -> Option<f64> {
        self.mean_rate
    }

    fn counts_bytes(&self) -> bool {
        self.counts_bytes
    }
}

impl TrialView<'_> {
    pub fn has_room_at(&self, site: usize) -> bool {
        self.room.get(site).is_none_or(|&room| room >= 1.0 - 1e-9)
    }

    pub fn take_room(&mut self, site: usize) {
        self.asked[site] += 1;
        if let Some(room) = self.room.get_mut(site) {
            *room -= 1.0;
        }
    }
}

impl PageNumbers {
    pub fn of(pages: usize, drawn: Option<Chance>) -> Self {
        let mut page_of: Vec<u32> = (0..pages as u32).collect();
        if let Some(mut chance) = drawn {
            chance.shuffle(&mut page_of);
        }
        let mut of_page = vec![0; pages];
        page_of.iter().zip(0..).for_each(|(&page, number)| of_page[page as usize] = number);
        PageNumbers { of_page, page_of }
    }

    pub fn key(&self, page: usize) -> PageKey {
        PageKey::new(Partition(0), self.of_page[page])
    }

    pub fn find(&self, key: PageKey) -> Option<usize> {
        self.page_of.get(key.number as usize).filter(|_| key.partition == Partition(0)).map(|&page| page as usize)
    }

    /// The page of a key that was made here.
    pub fn page(&self, key: PageKey) -> usize {
        self.page_of[key.number as usize] as usize
    }
}
