//! How fresh the copy really is: now and then a held page is drawn by pure chance and visited, whatever the policy thinks.
//! The share of such samples that had not changed is freshness as measured, beside what the policy believes.

use std::collections::VecDeque;

use vernal_model::{Moment, PageKey, PageState, Partition as PartitionId};

use crate::Result;
use crate::core::Core;
use crate::intake::page_life::{VisitOwner, visit_owner};

/// One visit to a held page in so many is a sample: two per cent of the budget.
const SAMPLE_EVERY: u32 = 50;
/// Freshness is measured over the last so many samples.
const SAMPLES_KEPT: usize = 1_000;
/// Draws for one sample: numbers of pages that are not held are drawn in vain.
const DRAWS_MAX: usize = 32;

#[derive(Default)]
pub(crate) struct FreshnessSamples {
    /// Visits to held pages since the last sample.
    visits: u32,
    /// Drawn, and waiting for its site; it is not drawn again, or busy sites would be sampled less.
    drawn: Option<PageKey>,
    /// The page whose visit is under way as a sample.
    out: Option<PageKey>,
    /// Whether each of the last samples was fresh, and how much its page counts.
    were_fresh: VecDeque<(bool, f32)>,
}

/// Freshness as the samples show it.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Measured {
    pub fresh: u32,
    pub samples: u32,
    /// The share that was fresh when each page counts by its importance.
    pub weighted: f64,
}

impl FreshnessSamples {
    pub fn measured(&self) -> Option<Measured> {
        let samples = self.were_fresh.len() as u32;
        let fresh = self.were_fresh.iter().filter(|(fresh, _)| *fresh).count() as u32;
        let sum = |counts: fn(bool) -> bool| -> f64 {
            self.were_fresh.iter().filter(|(fresh, _)| counts(*fresh)).map(|(_, weight)| f64::from(*weight)).sum()
        };
        let weighted = sum(|fresh| fresh) / sum(|_| true).max(f64::MIN_POSITIVE);
        (samples > 0).then_some(Measured { fresh, samples, weighted })
    }

    /// A visit to a held page is chosen. Where there are none, there are no samples either: they would tell of idle hours alone.
    pub fn count_visit(&mut self) {
        self.visits += 1;
    }

    pub fn concern(&self, page: PageKey) -> bool {
        self.drawn == Some(page) || self.out == Some(page)
    }

    /// A page could not be visited now; if it was the sample, it waits on.
    pub fn put_back(&mut self, page: PageKey) {
        if self.out == Some(page) {
            (self.out, self.drawn) = (None, Some(page));
        }
    }

    /// Hears what a visit found, if it was a sample.
    pub fn hear(&mut self, page: PageKey, changed: Option<bool>, importance: f32) {
        if self.out != Some(page) {
            return;
        }
        self.out = None;
        changed.into_iter().for_each(|changed| self.note(!changed, importance));
    }

    fn note(&mut self, was_fresh: bool, importance: f32) {
        if self.were_fresh.len() == SAMPLES_KEPT {
            self.were_fresh.pop_front();
        }
        self.were_fresh.push_back((was_fresh, importance));
    }

    /// The page that is to be visited as a sample now, if it is time for one.
    pub fn sample(&mut self, core: &Core, now: Moment) -> Result<Option<PageKey>> {
        if core.settings.once || self.out.is_some() {
            return Ok(None);
        }
        if self.drawn.is_none() {
            if self.visits < SAMPLE_EVERY {
                return Ok(None);
            }
            self.visits = 0;
            self.drawn = self.draw(core, now)?;
        }
        // The policy came first: then the visit is no draw by chance.
        self.drawn = self.drawn.filter(|&key| !core.in_flight.has(key));
        let Some(key) = self.drawn.filter(|&key| core.partitions.may_ask(key, now)) else { return Ok(None) };
        self.drawn = None;
        self.out = Some(key);
        Ok(Some(key))
    }

    /// A held page, each with the same chance. One that was read within its shortest refresh time may not be visited; it is a
    /// sample all the same, and counts as fresh. To pass it over would be to measure the older part of the copy alone.
    fn draw(&mut self, core: &Core, now: Moment) -> Result<Option<PageKey>> {
        let mut chance = core.chance.stream("samples").numbered(core.in_flight.orders());
        let known: u64 = core.partitions.iter().map(|partition| u64::from(partition.numbers())).sum();
        for _ in 0..DRAWS_MAX {
            let mut place = chance.below(known.max(1));
            let home = core.partitions.iter().position(|partition| {
                let here = u64::from(partition.numbers());
                let is_here = place < here;
                place -= if is_here { 0 } else { here };
                is_here
            });
            let Some(home) = home else { return Ok(None) };
            let key = PageKey::new(PartitionId(home as u8), place as u32);
            let Some(page) = core.work.page(key)? else { continue };
            let is_ours = page.state == PageState::Held && visit_owner(&page) == VisitOwner::Policy;
            if !is_ours || core.in_flight.has(key) {
                continue;
            }
            if now.since(page.last_visit) >= core.settings.refresh_min {
                return Ok(Some(key));
            }
            self.note(true, page.importance);
            return Ok(None);
        }
        Ok(None)
    }
}
