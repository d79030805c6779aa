//! The parts that ask for visits, and their order.

use vernal_model::{Moment, PageKey, PageState};

use super::candidates::{Candidate, Chooser, RetryTurns};
use super::choosing::PartitionTurns;
use super::discovery_pages::DiscoveryPages;
use super::freshness_samples::FreshnessSamples;
use super::second_looks::SecondLooks;
use super::sieve::Sieve;
use super::volatile_tables::VolatileTables;
use super::wanted::Wanted;
use crate::core::Core;

#[derive(Default)]
pub(crate) struct Planner {
    pub sieve: Sieve,
    pub second_looks: SecondLooks,
    pub samples: FreshnessSamples,
    pub discovery_pages: DiscoveryPages,
    pub tables: VolatileTables,
    pub wanted: Wanted,
    pub retry_turns: RetryTurns,
    pub turns: PartitionTurns,
    /// Due pages that the policies chose and that have not been ordered yet, the next one last.
    pub chosen: Vec<PageKey>,
    /// The number of ticks so far.
    ticks: u64,
}

impl Planner {
    /// Begins a tick.
    pub fn begin_tick(&mut self) {
        self.ticks += 1;
    }

    pub fn tick(&self) -> u64 {
        self.ticks
    }

    /// Whether pages that policies chose wait for their order.
    pub fn has_chosen(&self) -> bool {
        !self.chosen.is_empty()
    }

    pub fn is_chosen(&self, page: PageKey) -> bool {
        self.chosen.contains(&page)
    }

    /// Removes a chosen page that is not to be visited after all.
    pub fn drop_chosen(&mut self, page: PageKey) {
        self.chosen.retain(|chosen| *chosen != page);
    }

    /// Whether this page has a special visit, such as a second look or a sample, that waits or is under way.
    pub fn concerns(&self, page: PageKey) -> bool {
        self.samples.concern(page) || self.second_looks.concern(page)
    }

    /// Returns a candidate that cannot be ordered now to the part that it came from.
    pub fn give_back(&mut self, core: &mut Core, candidate: Candidate, now: Moment) {
        match candidate {
            Candidate::First(waiting) if core.partitions.of(waiting.page.partition).waiting.is_taken(waiting.page) => {
                self.wanted.put_back(*waiting, now);
            }
            Candidate::First(waiting) => {
                core.partitions.of_mut(waiting.page.partition).waiting.window.put_back(*waiting);
            }
            // It stays outside of the collection; the next pass may want it again.
            Candidate::Again { page, .. } if page.state == PageState::Left => {}
            Candidate::Again { page, by: Chooser::Retry } => {
                self.retry_turns.place_now();
                core.partitions.of_mut(page.key.partition).retries.place_now(&page, now);
            }
            Candidate::Again { page, by } => {
                if by == Chooser::DiscoveryPages {
                    self.discovery_pages.put_back(page.key);
                }
                self.samples.put_back(page.key);
                self.second_looks.put_back(page.key);
                core.partitions.of_mut(page.key.partition).refresh.put_back(page.key);
            }
        }
    }
}
