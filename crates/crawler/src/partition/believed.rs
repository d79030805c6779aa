//! What is believed of the freshness of all held pages. Status, plan and the mean of all reasons come from this one sum.

use std::collections::BTreeMap;
use std::sync::Arc;

use vernal_model::{Moment, Site};
use vernal_policy::{Belief, Sampled, SamplingCycle};

use super::Partition;

/// A sum over n pages is made at most once in n / `PAGES_PER_S` seconds; until then the last one is given.
const PAGES_PER_S: f64 = 100_000.0;

/// The belief about the held pages that the policies know, as of one Moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Believed {
    pub moment: Moment,
    pub all: Belief,
    /// The same without the pages of recognised traps.
    pub outside_traps: Belief,
    /// The same for each site with such pages.
    pub sites: Arc<BTreeMap<Site, Belief>>,
    /// What samples drawn by chance found at each site: how many pages were up to date, and how many samples there are.
    pub measured: BTreeMap<Site, (u32, u32)>,
    /// How far the cycle is of a policy that samples in cycles.
    pub cycle: Option<SamplingCycle>,
}

impl Believed {
    pub(crate) fn sum<'a>(partitions: impl Iterator<Item = &'a Partition>, now: Moment) -> Self {
        let (mut all, mut outside_traps) = (Belief::default(), Belief::default());
        let mut sites: BTreeMap<Site, Belief> = BTreeMap::new();
        let mut cycle: Option<SamplingCycle> = None;
        for partition in partitions {
            if let Some(own) = partition.refresh.policy.sampled().and_then(Sampled::cycle) {
                cycle = Some(cycle.map_or(own, |sum| sum.plus(own)));
            }
            let Some(policy) = partition.refresh.policy.believing() else { continue };
            let mut here: BTreeMap<u32, Belief> = BTreeMap::new();
            policy.each_belief(now, &mut |page| {
                all.add(page);
                if !partition.sites.lies_in_trap(page.page) {
                    outside_traps.add(page);
                }
                if let Some(site) = partition.sites.site_of(page.page) {
                    here.entry(site).or_default().add(page);
                }
            });
            sites.extend(here.into_iter().map(|(site, belief)| (partition.sites.at(site).site.clone(), belief)));
        }
        Believed { moment: now, all, outside_traps, sites: Arc::new(sites), measured: BTreeMap::new(), cycle }
    }

    /// Whether this still stands for the belief of now.
    pub(crate) fn is_of(&self, now: Moment) -> bool {
        let stands_s = self.all.pages as f64 / PAGES_PER_S;
        now == self.moment || now > self.moment && now.since(self.moment).secs_f64() < stands_s.min(60.0)
    }
}
