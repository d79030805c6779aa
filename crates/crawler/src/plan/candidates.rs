//! Finds the next page worth a visit, lane by lane. Choose late: a page is chosen when its visit can really be sent.

use vernal_frontier::Waiting;
use vernal_model::{Moment, Page, PageKey, PageState};

use super::Planner;
use crate::Result;
use crate::coordinator::{Coordinator, Lane};
use crate::core::Core;
use crate::hints::Hints;
use crate::intake::page_life::{VisitOwner, visit_owner};
use crate::partition::{Sums, bits};

/// The share of visits to held pages for retries of failed pages while others are due. Where many pages go away,
/// retries would otherwise use up all visits. A few retries may be saved up.
const RETRIES_SHARE: f64 = 0.25;
const RETRIES_SAVED_MAX: f64 = 8.0;

/// A page that may be visited next.
pub(crate) enum Candidate {
    First(Box<Waiting>),
    Again { page: Box<Page>, by: Chooser },
}

/// Which part chose a page that was visited before.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Chooser {
    Policy,
    /// Its last visit failed.
    Retry,
    DiscoveryPages,
    /// It left the collection, and the last pass over all links wants it back.
    Wanted,
    SecondLook,
    Sample,
}

/// Limits how often pages whose last visit failed are retried.
pub(crate) struct RetryTurns {
    /// Retries of held pages that may go before other visits.
    saved: f64,
    /// The tick at which no retry was due, for each lane.
    nothing_at: [Option<u64>; 2],
}

impl Default for RetryTurns {
    fn default() -> Self {
        RetryTurns { saved: 1.0, nothing_at: [None; 2] }
    }
}

impl RetryTurns {
    /// A page was added to the retries: it may be due at once.
    pub fn place_now(&mut self) {
        self.nothing_at = [None; 2];
    }

    /// Adds the share of a retry that a visit to a held page allows; returns whether a whole one is saved up.
    fn earn(&mut self) -> bool {
        self.saved = (self.saved + RETRIES_SHARE).min(RETRIES_SAVED_MAX);
        self.saved >= 1.0
    }

    fn spend(&mut self) {
        self.saved -= 1.0;
    }

    /// The next due retry. If none is due, the partitions are not asked again within the tick, unless a page was put
    /// back.
    fn next(&mut self, core: &mut Core, tick: u64, lane: Lane, now: Moment) -> Option<PageKey> {
        if self.nothing_at[lane as usize] == Some(tick) {
            return None;
        }
        let found =
            bits(core.partitions.active_bits()).find_map(|index| core.partitions.at_mut(index).next_retry(lane, now));
        if found.is_none() && !core.partitions.active().any(|partition| partition.retries.is_due(lane, now)) {
            self.nothing_at[lane as usize] = Some(tick);
        }
        found
    }
}

impl Planner {
    /// The next page worth a visit, from the lane that is behind its share or else from the other lane.
    pub fn candidate(&mut self, core: &mut Core, hints: &Hints, now: Moment) -> Result<Option<(Lane, Candidate)>> {
        let sums = core.partitions.sums();
        let first = core.coordinator.lane(Coordinator::discovery_share(sums.waiting, sums.held));
        let second = if first == Lane::New { Lane::Due } else { Lane::New };
        for lane in [first, second] {
            if !core.coordinator.can_spend(lane) {
                continue;
            }
            let candidate = match lane {
                Lane::New => self.new_candidate(core, sums, now)?,
                Lane::Due => self.due_candidate(core, hints, sums, now)?,
            };
            if let Some(candidate) = candidate {
                if lane == Lane::Due {
                    self.samples.count_visit();
                }
                return Ok(Some((lane, candidate)));
            }
        }
        Ok(None)
    }

    fn new_candidate(&mut self, core: &mut Core, sums: Sums, now: Moment) -> Result<Option<Candidate>> {
        if !core.may_discover_beside(sums.held) {
            return Ok(None);
        }
        if let Some(candidate) = self.retry_candidate(core, Lane::New, now)? {
            return Ok(Some(candidate));
        }
        if let Some(candidate) = self.wanted_candidate(core, now)? {
            return Ok(Some(candidate));
        }
        if self.wanted.alone && !self.wanted.is_empty() {
            return Ok(None);
        }
        Ok(self.turns.next_new(&mut core.partitions, now).map(|waiting| Candidate::First(Box::new(waiting))))
    }

    /// The most important URL that the last pass over all links wants and whose site is free.
    fn wanted_candidate(&mut self, core: &mut Core, now: Moment) -> Result<Option<Candidate>> {
        while !self.wanted.is_empty() {
            let partitions = &core.partitions;
            let earliest = |key: PageKey, site: &_| partitions.of(key.partition).sites.earliest_new(site);
            let Some((key, waiting)) = self.wanted.take(now, earliest) else { return Ok(None) };
            if let Some(waiting) = waiting {
                return Ok(Some(Candidate::First(waiting)));
            }
            if core.is_busy(key) {
                continue;
            }
            match core.work.page(key)? {
                None => {
                    let partition = core.partitions.of_mut(key.partition);
                    let row = core.work.url(key)?;
                    let waiting = row.and_then(|row| partition.waiting.take(&mut partition.sites, row));
                    if let Some(waiting) = waiting {
                        return Ok(Some(Candidate::First(Box::new(waiting))));
                    }
                }
                Some(page) if page.state == PageState::Left => {
                    return Ok(Some(Candidate::Again { page: Box::new(page), by: Chooser::Wanted }));
                }
                Some(_) => {}
            }
        }
        Ok(None)
    }

    /// The next page to retry. A page that left the collection meanwhile, or was read again, is skipped.
    fn retry_candidate(&mut self, core: &mut Core, lane: Lane, now: Moment) -> Result<Option<Candidate>> {
        while let Some(key) = self.retry_turns.next(core, self.tick(), lane, now) {
            let page = core.work.page(key)?;
            if let Some(page) = page.filter(|page| matches!(visit_owner(page), VisitOwner::Retry { .. })) {
                return Ok(Some(Candidate::Again { page: Box::new(page), by: Chooser::Retry }));
            }
        }
        Ok(None)
    }

    fn due_candidate(&mut self, core: &mut Core, hints: &Hints, sums: Sums, now: Moment) -> Result<Option<Candidate>> {
        if self.retry_turns.earn()
            && let Some(candidate) = self.retry_candidate(core, Lane::Due, now)?
        {
            self.retry_turns.spend();
            return Ok(Some(candidate));
        }
        let sent = core.in_flight.orders();
        if let Some(key) = self.second_looks.next_look(sent, |key| core.partitions.may_ask(key, now), now) {
            return again(core, key, Chooser::SecondLook);
        }
        if let Some(key) = self.samples.sample(core, now)? {
            return again(core, key, Chooser::Sample);
        }
        if let Some(page) = self.discovery_pages.next_page(core, now)? {
            return Ok(Some(Candidate::Again { page: Box::new(page), by: Chooser::DiscoveryPages }));
        }
        if self.chosen.is_empty() {
            self.chosen = self.turns.choose(core, self.tick(), sums, now);
        }
        while let Some(key) = self.chosen.pop() {
            let Some(key) = self.table_first(core, hints, key, now)? else { continue };
            if !core.partitions.may_ask(key, now) {
                core.partitions.of_mut(key.partition).refresh.put_back(key);
                continue;
            }
            return again(core, key, Chooser::Policy);
        }
        // The policy had nothing to choose: retry another failed page.
        self.retry_candidate(core, Lane::Due, now)
    }
}

/// A page that was visited before, as its row is now.
fn again(core: &Core, key: PageKey, by: Chooser) -> Result<Option<Candidate>> {
    Ok(core.work.page(key)?.map(|page| Candidate::Again { page: Box::new(page), by }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, START, after, failed, held, unhindered};

    #[test]
    fn retries_get_a_quarter_of_the_visits_and_save_up_a_few() {
        let (mut turns, mut spent) = (RetryTurns::default(), 0);
        for _ in 0..1_000 {
            if turns.earn() {
                turns.spend();
                spent += 1;
            }
        }
        assert!((250..=252).contains(&spent), "{spent}");
        (0..1_000).for_each(|_| _ = turns.earn());
        let saved = (0..100).take_while(|_| {
            let is_whole = turns.saved >= 1.0;
            turns.spend();
            is_whole
        });
        assert_eq!(saved.count(), RETRIES_SAVED_MAX as usize);
    }

    #[test]
    fn where_no_retry_was_due_nobody_is_asked_again_within_the_tick() {
        let mut bench = Bench::new(unhindered());
        bench.hold(&held("http://a.example/0", 0));
        let (mut turns, core) = (RetryTurns::default(), &mut bench.crawler.core);
        assert_eq!(turns.next(core, 1, Lane::New, START), None);
        let page = failed("http://a.example/1", 1, START);
        core.partitions.of_mut(page.key.partition).place(&page);
        assert_eq!(turns.next(core, 1, Lane::New, START), None, "it came behind the back of this tick");
        assert_eq!(turns.next(core, 2, Lane::New, START), Some(page.key));
        assert_eq!(turns.next(core, 2, Lane::New, START), None);
        core.partitions.of_mut(page.key.partition).retries.place_now(&page, START);
        turns.place_now();
        assert_eq!(turns.next(core, 2, Lane::New, START), Some(page.key), "it was put back");
    }

    #[test]
    fn a_retry_that_is_well_again_or_left_is_passed_over() {
        let mut bench = Bench::new(unhindered());
        let page = failed("http://a.example/1", 1, START);
        bench.hold(&page);
        let (mut plan, core) = (Planner::default(), &mut bench.crawler.core);
        plan.begin_tick();
        let found = plan.retry_candidate(core, Lane::New, after(1)).unwrap();
        assert!(matches!(found, Some(Candidate::Again { by: Chooser::Retry, .. })));
        plan.give_back(core, found.unwrap(), after(1));
        let well = Page { last_visit: after(1), ..held("http://a.example/1", 1) };
        let visited = crate::testing::visit(Some(PageState::Failed), &well, None);
        core.work.push(well.key.partition, vernal_model::Deed::Visited(Box::new(visited)));
        plan.begin_tick();
        assert!(plan.retry_candidate(core, Lane::New, after(2)).unwrap().is_none());
        assert_eq!(core.partitions.of(well.key.partition).retries.len(), 0);
    }

    #[test]
    fn a_full_collection_reads_nothing_new() {
        let mut bench = Bench::new(crate::Settings { pages_max: 2, ..unhindered() });
        bench.hold(&held("http://a.example/0", 0));
        bench.hold(&failed("http://a.example/1", 1, START));
        let (plan, core) = (&mut bench.crawler.plan, &mut bench.crawler.core);
        plan.begin_tick();
        let sums = core.partitions.sums();
        let candidate = plan.new_candidate(core, sums, START).unwrap();
        assert!(matches!(&candidate, Some(Candidate::Again { page, .. }) if page.key.number == 1));
        plan.give_back(core, candidate.unwrap(), START);
        core.partitions
            .of_mut(held("http://a.example/2", 2).key.partition)
            .count_held(&vernal_model::Site::new("a.example"), 1);
        let sums = core.partitions.sums();
        assert!(plan.new_candidate(core, sums, START).unwrap().is_none());
    }
}
