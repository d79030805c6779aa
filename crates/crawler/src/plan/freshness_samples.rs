//! Measures how fresh the copy really is: now and then a held page is drawn at random and visited, whatever the policy
//! prefers. The share of samples that had not changed is the measured freshness, beside the policy's belief.

use std::collections::{BTreeMap, VecDeque};

use vernal_model::{Moment, Page, PageKey, PageState, Partition as PartitionId, Site};

use crate::Result;
use crate::core::Core;
use crate::intake::page_life::{VisitOwner, visit_owner};
use crate::plan::measured::{Measured, Sample};

/// One of so many visits to held pages is a sample: two per cent of the budget.
const SAMPLE_EVERY: u32 = 50;
/// Freshness is measured over this many of the latest samples.
const SAMPLES_KEPT: usize = 1_000;
/// Draws for one sample: a draw may hit the number of a page that is not held.
const DRAWS_MAX: usize = 32;

#[derive(Default)]
pub(crate) struct FreshnessSamples {
    /// Visits to held pages since the last sample.
    visits: u32,
    /// The page that was drawn and waits for its site. No other is drawn meanwhile, or busy sites would be sampled
    /// less.
    drawn: Option<PageKey>,
    /// The page whose sample visit is under way.
    out: Option<PageKey>,
    latest: VecDeque<Sample>,
}

impl FreshnessSamples {
    pub fn measured(&self) -> Option<Measured> {
        Measured::of(self.latest.iter())
    }

    /// What the last samples of each site show: how many were fresh, and how many there are.
    pub fn by_site(&self, site_of: impl Fn(PageKey) -> Option<Site>) -> BTreeMap<Site, (u32, u32)> {
        let mut sites: BTreeMap<Site, (u32, u32)> = BTreeMap::new();
        for sample in &self.latest {
            let Some(site) = site_of(sample.page) else { continue };
            let (fresh, samples) = sites.entry(site).or_default();
            (*fresh, *samples) = (*fresh + u32::from(sample.fresh), *samples + 1);
        }
        sites
    }

    /// Counts a visit to a held page. Without such visits there are no samples: they would measure idle hours only.
    pub fn count_visit(&mut self) {
        self.visits += 1;
    }

    pub fn concern(&self, page: PageKey) -> bool {
        self.drawn == Some(page) || self.out == Some(page)
    }

    /// Notes that a page could not be visited now; if it was the sample, it keeps waiting.
    pub fn put_back(&mut self, page: PageKey) {
        if self.out == Some(page) {
            (self.out, self.drawn) = (None, Some(page));
        }
    }

    /// Records what a visit found, if it was a sample. The policy has not learned from the visit yet.
    pub fn hear(&mut self, core: &Core, page: &Page, changed: Option<bool>, moment: Moment) {
        if self.out != Some(page.key) {
            return;
        }
        self.out = None;
        changed.into_iter().for_each(|changed| self.note(core, page, !changed, moment));
    }

    fn note(&mut self, core: &Core, page: &Page, fresh: bool, moment: Moment) {
        if self.latest.len() == SAMPLES_KEPT {
            self.latest.pop_front();
        }
        self.latest.push_back(Sample {
            fresh,
            importance: page.importance,
            page: page.key,
            believed: core.partitions.belief_of(page.key, moment),
            in_trap: core.partitions.of(page.key.partition).sites.lies_in_trap(page.key),
        });
    }

    /// The page to visit as a sample now, if one is due.
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
        // The policy chose the page first, so this visit is not a random draw.
        self.drawn = self.drawn.filter(|&key| !core.in_flight.has(key));
        let Some(key) = self.drawn.filter(|&key| core.partitions.may_ask(key, now)) else { return Ok(None) };
        self.drawn = None;
        self.out = Some(key);
        Ok(Some(key))
    }

    /// Draws a held page uniformly at random. A page that was read within its shortest refresh time may not be visited;
    /// it is counted as a fresh sample. To skip it would be to measure the older part of the copy alone.
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
            let is_ours = page.state == PageState::Held && visit_owner(&page) == VisitOwner::Policy && page.visits > 0;
            if !is_ours || core.in_flight.has(key) {
                continue;
            }
            if now.since(page.last_visit) >= core.settings.refresh_min {
                return Ok(Some(key));
            }
            self.note(core, &page, true, now);
            return Ok(None);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::Span;

    use super::*;
    use crate::Settings;
    use crate::testing::{Bench, after, failed, held, unhindered};

    const DAY: u64 = 86_400;

    fn bench() -> Bench {
        let mut bench = Bench::new(unhindered());
        (0..5).for_each(|number| bench.hold(&held(&format!("http://a.example/{number}"), number)));
        bench.hold(&failed("http://a.example/9", 9, after(0)));
        bench
    }

    fn hear(bench: &Bench, samples: &mut FreshnessSamples, key: PageKey, changed: Option<bool>) {
        let page = Page { key, ..held("http://a.example/0", 0) };
        samples.hear(&bench.crawler.core, &page, changed, after(DAY));
    }

    #[test]
    fn one_visit_to_held_pages_in_fifty_is_a_sample() {
        let (bench, mut samples, mut drawn) = (bench(), FreshnessSamples::default(), 0);
        for visit in 0..1_000 {
            samples.count_visit();
            if let Some(key) = samples.sample(&bench.crawler.core, after(DAY)).unwrap() {
                assert!(key.number < 5, "a page that is not held is none");
                assert_eq!(samples.sample(&bench.crawler.core, after(DAY)).unwrap(), None, "one at a time");
                hear(&bench, &mut samples, key, Some(visit % 2 == 0));
                drawn += 1;
            }
        }
        assert_eq!(drawn, 20);
        assert_eq!(samples.measured().map(|measured| measured.samples), Some(20));
    }

    #[test]
    fn a_sample_that_could_not_be_asked_for_waits_on() {
        let (bench, mut samples) = (bench(), FreshnessSamples { visits: SAMPLE_EVERY, ..Default::default() });
        let core = &bench.crawler.core;
        let key = samples.sample(core, after(DAY)).unwrap().expect("it is time for one");
        assert!(samples.concern(key));
        samples.put_back(key);
        assert!(samples.concern(key));
        assert_eq!(samples.sample(core, after(DAY)).unwrap(), Some(key), "no other is drawn in its place");
        hear(&bench, &mut samples, PageKey::new(key.partition, 77), Some(true));
        assert_eq!(samples.measured(), None, "only the sample is heard");
        hear(&bench, &mut samples, key, None);
        assert_eq!(samples.measured(), None, "there was nothing to compare with");
        assert!(!samples.concern(key));
    }

    #[test]
    fn a_page_read_within_its_shortest_refresh_time_counts_as_fresh_without_a_visit() {
        let (bench, mut samples) = (bench(), FreshnessSamples { visits: SAMPLE_EVERY, ..Default::default() });
        assert_eq!(samples.sample(&bench.crawler.core, after(60)).unwrap(), None);
        let measured = samples.measured().unwrap();
        assert_eq!((measured.fresh, measured.samples, measured.weighted), (1, 1, 1.0));
    }

    #[test]
    fn every_held_page_is_drawn_with_the_same_chance() {
        let (mut bench, mut draws) = (bench(), [0u32; 5]);
        for _ in 0..500 {
            let mut samples = FreshnessSamples { visits: SAMPLE_EVERY, ..Default::default() };
            bench.crawler.core.in_flight.next_id();
            let drawn = samples.sample(&bench.crawler.core, after(DAY)).unwrap();
            draws[drawn.expect("most numbers are held").number as usize] += 1;
        }
        assert!(draws.iter().all(|draws| (60..140).contains(draws)), "{draws:?}");
    }

    #[test]
    fn a_page_counts_by_its_importance() {
        let (bench, mut samples) = (bench(), FreshnessSamples::default());
        let core = &bench.crawler.core;
        let page = |importance: f32| Page { importance, ..held("http://a.example/0", 0) };
        samples.note(core, &page(3.0), true, after(DAY));
        samples.note(core, &page(1.0), false, after(DAY));
        let measured = samples.measured().unwrap();
        assert_eq!((measured.fresh, measured.samples, measured.weighted), (1, 2, 0.75));
        (0..SAMPLES_KEPT).for_each(|_| samples.note(core, &page(1.0), false, after(DAY)));
        let measured = samples.measured().unwrap();
        assert_eq!((measured.fresh, measured.samples as usize), (0, SAMPLES_KEPT), "the old ones are forgotten");
    }

    #[test]
    fn samples_are_told_by_the_sites_of_their_pages() {
        let (bench, mut samples) = (bench(), FreshnessSamples::default());
        let core = &bench.crawler.core;
        for (number, fresh) in [(0, true), (1, false), (2, true)] {
            samples.note(core, &held("http://a.example/0", number), fresh, after(DAY));
        }
        let site = |name: &str| Site::new(name);
        let by_site = samples.by_site(|page| Some(site(if page.number < 2 { "a.example" } else { "b.example" })));
        assert_eq!(by_site, BTreeMap::from([(site("a.example"), (1, 2)), (site("b.example"), (1, 1))]));
    }

    #[test]
    fn who_visits_each_page_once_samples_nothing() {
        let bench = Bench::new(Settings { once: true, refresh_min: Span::ZERO, ..unhindered() });
        let mut samples = FreshnessSamples { visits: SAMPLE_EVERY, ..Default::default() };
        assert_eq!(samples.sample(&bench.crawler.core, after(DAY)).unwrap(), None);
    }
}
