//! How the crawl is doing now.

use vernal_frontier::PriorityList;

use crate::crawler::Crawler;
use crate::plan::measured::Measured;

/// The current state of the crawl, beyond what the tables hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pulse {
    pub in_flight: usize,
    /// URLs in memory, in the windows of the frontiers.
    pub window: usize,
    /// The three priority lists of those windows, over all partitions.
    pub lists: [PriorityList; 3],
    pub orders_sent: u64,
    pub reports_taken: u64,
    pub commits: u64,
    pub paused: bool,
    /// Fetching has stopped because the disk is nearly full.
    pub disk_full: bool,
    /// Sites known to this process, and how many of them are in back-off now.
    pub sites: usize,
    pub sites_backing_off: usize,
    pub budget_in_hand: f64,
    /// How fresh the copy is, as measured by random samples.
    pub measured: Option<Measured>,
    pub retries_waiting: usize,
    /// The number of known URLs when it exceeds the limit of a pass over all links, so that no pass is made; else
    /// `None`.
    pub pass_refused_urls: Option<u64>,
    /// While held pages are rescanned after a change of the scope: how many are done so far. `None` when no rescan is
    /// due.
    pub scope_pass_pages: Option<u64>,
}

impl Crawler {
    pub fn pulse(&self) -> Pulse {
        let Crawler { core, plan, passes, .. } = self;
        let sites = core.partitions.iter().flat_map(|partition| partition.sites.iter());
        Pulse {
            in_flight: core.in_flight.len(),
            window: core.partitions.iter().map(|partition| partition.waiting.window.len()).sum(),
            lists: lists(self),
            orders_sent: core.in_flight.orders(),
            reports_taken: core.in_flight.reports(),
            commits: core.work.commits(),
            paused: self.paused,
            disk_full: self.disk.is_full(),
            sites: core.partitions.sites(),
            sites_backing_off: sites.filter(|life| life.profile.failures > 0).count(),
            budget_in_hand: core.coordinator.account.in_hand,
            measured: plan.samples.measured(),
            pass_refused_urls: passes.link_scores.refused(),
            scope_pass_pages: passes.scope_rescan.progress(core),
            retries_waiting: core.partitions.iter().map(|partition| partition.retries.len()).sum(),
        }
    }
}

fn lists(crawler: &Crawler) -> [PriorityList; 3] {
    let windows = crawler.core.partitions.iter().map(|partition| partition.waiting.window.lists());
    windows.fold(<[PriorityList; 3]>::default(), |sums, lists| {
        std::array::from_fn(|place| PriorityList {
            turns: lists[place].turns,
            waiting: sums[place].waiting + lists[place].waiting,
            drawn: sums[place].drawn + lists[place].drawn,
        })
    })
}
