//! All partitions of this process, and the sums over them.

use foldhash::{HashMap, HashMapExt};
use vernal_model::{BudgetAccount, Moment, PageKey, Partition as PartitionId, Site, Span, Url};
use vernal_policy::RateSums;
use vernal_repository::Reader;

use super::{Believed, Partition};
use crate::{Result, Settings};

pub(crate) struct Partitions {
    all: Vec<Partition>,
    /// The partition of each known site, from its row: the public-suffix list may have changed since.
    home: HashMap<Site, PartitionId>,
    /// The partitions that have sites, a bit for each. Most crawls use few partitions, and iterating over all of them
    /// for every order would cost more than the order.
    active: u64,
    /// The mean change rate per day over all partitions, and when it was summed up.
    mean_rate: f64,
    rates_summed: Option<Moment>,
    /// What the policies believed of their pages when that was last summed up.
    believed: Option<Believed>,
}

/// What is held and what waits, over all partitions. A caller that needs it several times for one order sums it up
/// once.
#[derive(Copy, Clone, Default)]
pub(crate) struct Sums {
    pub held: u64,
    pub waiting: u64,
}

impl Partitions {
    pub fn new(settings: &Settings, now: Moment) -> Result<Self> {
        let all = (0..PartitionId::COUNT).map(|id| Partition::new(PartitionId(id), settings, now));
        Ok(Partitions {
            all: all.collect::<Result<_>>()?,
            home: HashMap::new(),
            active: 0,
            mean_rate: RateSums::default().mean(),
            rates_summed: None,
            believed: None,
        })
    }

    /// Restores the sites that the tables know.
    pub fn recall_sites(&mut self, reader: &Reader) {
        for row in reader.sites() {
            self.home.insert(row.site.clone(), row.partition);
            self.of_mut(row.partition).recall_site(&row);
        }
    }

    pub fn recall_numbers(&mut self, reader: &Reader) {
        for partition in &mut self.all {
            partition.recall_numbers(reader.next_number(partition.id));
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Partition> {
        self.all.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Partition> {
        self.all.iter_mut()
    }

    pub fn of(&self, id: PartitionId) -> &Partition {
        &self.all[usize::from(id.0 % PartitionId::COUNT)]
    }

    pub fn of_mut(&mut self, id: PartitionId) -> &mut Partition {
        &mut self.all[usize::from(id.0 % PartitionId::COUNT)]
    }

    pub fn at(&self, index: usize) -> &Partition {
        &self.all[index]
    }

    pub fn at_mut(&mut self, index: usize) -> &mut Partition {
        &mut self.all[index]
    }

    /// Recomputes which partitions have sites.
    pub fn note_active(&mut self) {
        let active = self.all.iter().enumerate().filter(|(_, partition)| !partition.is_quiet());
        self.active = active.fold(0, |bits, (index, _)| bits | 1 << index);
    }

    /// The partitions that have sites, a bit for each.
    pub fn active_bits(&self) -> u64 {
        self.active
    }

    pub fn active(&self) -> impl Iterator<Item = &Partition> {
        bits(self.active).map(|index| &self.all[index])
    }

    /// The partition of a URL.
    pub fn home_of(&self, url: &Url) -> PartitionId {
        self.home.get(url.site_text()).copied().unwrap_or_else(|| url.partition())
    }

    /// The partition of a site that is known.
    pub fn home_of_site(&self, site: &Site) -> Option<PartitionId> {
        self.home.get(site).copied()
    }

    pub fn is_known(&self, site: &Site) -> bool {
        self.home.contains_key(site)
    }

    /// Notes that the site is known; returns whether it was new.
    pub fn settle(&mut self, site: &Site, id: PartitionId) -> bool {
        let is_new = !self.home.contains_key(site);
        if is_new {
            self.home.insert(site.clone(), id);
        }
        is_new
    }

    /// The number of known sites.
    pub fn sites(&self) -> usize {
        self.home.len()
    }

    pub fn held(&self) -> u64 {
        self.active().map(|partition| partition.held).sum()
    }

    pub fn waiting(&self) -> u64 {
        self.active().map(|partition| partition.waiting.len()).sum()
    }

    /// Pages held and URLs waiting, in one iteration.
    pub fn sums(&self) -> Sums {
        self.active().fold(Sums::default(), |sums, partition| Sums {
            held: sums.held + partition.held,
            waiting: sums.waiting + partition.waiting.len(),
        })
    }

    /// Whether the site of a page may be asked now.
    pub fn may_ask(&self, page: PageKey, now: Moment) -> bool {
        self.of(page.partition).sites.may_ask(page, now)
    }

    /// How long the policy, which is the same in all partitions, may save up its budget.
    pub fn saves_up(&self) -> Span {
        self.all.first().map_or(BudgetAccount::IN_HAND_MAX, |partition| partition.refresh.policy.saves_up())
    }

    pub fn mean_rate(&self) -> f64 {
        self.mean_rate
    }

    /// What the policies believe of their pages.
    pub fn believed(&mut self, now: Moment) -> Believed {
        let believed = self.believed.take().filter(|believed| believed.is_of(now));
        let believed = believed.unwrap_or_else(|| Believed::sum(self.active(), now));
        self.believed = Some(believed.clone());
        believed
    }

    /// How likely one page is up to date; `None` if its policy does not know it, or knows no probabilities.
    pub fn belief_of(&self, page: PageKey, now: Moment) -> Option<f64> {
        self.of(page.partition).refresh.policy.believing()?.belief_of(page, now)
    }

    /// Sums up what all policies know of change rates, if the last time is `every` ago; returns whether it did.
    pub fn sum_up_rates(&mut self, every: Span, now: Moment) -> bool {
        if self.rates_summed.is_some_and(|at| now.since(at) < every) {
            return false;
        }
        self.rates_summed = Some(now);
        let sums = self
            .all
            .iter()
            .map(|partition| partition.refresh.policy.believing().map_or_else(RateSums::default, |x| x.rates()));
        self.mean_rate = sums.fold(RateSums::default(), RateSums::plus).mean();
        true
    }
}

/// The positions of the bits that are set, lowest first.
pub(crate) fn bits(bits: u64) -> impl Iterator<Item = usize> {
    let mut left = bits;
    std::iter::from_fn(move || {
        let place = (left != 0).then(|| left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(place)
    })
}

const _: () = assert!(PartitionId::COUNT as u32 == u64::BITS, "one bit for each partition");

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{START, after, site_of_partition, url};

    fn partitions() -> Partitions {
        Partitions::new(&Settings::default(), START).unwrap()
    }

    proptest! {
        #[test]
        fn the_places_of_bits_are_those_that_are_set_and_come_in_order(number in any::<u64>()) {
            let set: Vec<usize> = (0..64).filter(|place| number >> place & 1 == 1).collect();
            prop_assert_eq!(bits(number).collect::<Vec<_>>(), set);
        }

        #[test]
        fn sums_are_those_of_all_partitions_once_they_are_known_to_be_active(
            held in prop::collection::vec((0u8..64, 1i64..50, 0u64..50), 0..12),
        ) {
            let mut partitions = partitions();
            let mut model = std::collections::BTreeMap::new();
            for (place, (id, pages, waiting)) in held.into_iter().enumerate() {
                let site = Site::new(&format!("s{place}.example"));
                let partition = partitions.of_mut(PartitionId(id));
                partition.count_held(&site, pages);
                let number = partition.sites.number(&site);
                partition.waiting.recall(number, waiting);
                let (of, also) = model.entry(usize::from(id)).or_insert((0, 0));
                (*of, *also) = (*of + pages as u64, *also + waiting);
            }
            partitions.note_active();
            prop_assert_eq!(bits(partitions.active_bits()).collect::<Vec<_>>(), model.keys().copied().collect::<Vec<_>>());
            prop_assert_eq!(partitions.held(), model.values().map(|(held, _)| held).sum::<u64>());
            prop_assert_eq!(partitions.waiting(), model.values().map(|(_, waiting)| waiting).sum::<u64>());
            let sums = partitions.sums();
            prop_assert_eq!((sums.held, sums.waiting), (partitions.held(), partitions.waiting()));
        }
    }

    #[test]
    fn a_site_stays_in_the_partition_in_which_it_was_settled_first() {
        let mut partitions = partitions();
        let (site, at) = (Site::new("a.example"), url("http://a.example/x"));
        assert_eq!((partitions.home_of(&at), partitions.home_of_site(&site)), (at.partition(), None));
        let elsewhere = PartitionId((at.partition().0 + 1) % PartitionId::COUNT);
        assert!(partitions.settle(&site, elsewhere));
        assert!(!partitions.settle(&site, at.partition()), "it is known");
        assert_eq!((partitions.home_of(&at), partitions.home_of_site(&site)), (elsewhere, Some(elsewhere)));
        assert!(partitions.is_known(&site) && partitions.sites() == 1);
    }

    #[test]
    fn a_site_of_each_partition_can_be_named() {
        for id in [0, 17, 63] {
            let site = site_of_partition(id);
            assert_eq!(partitions().home_of(&url(&format!("http://{site}/"))), PartitionId(id));
        }
    }

    #[test]
    fn rates_are_summed_up_once_in_so_long() {
        let mut partitions = partitions();
        let every = Span::from_secs(60);
        assert!(partitions.sum_up_rates(every, START));
        assert!(!partitions.sum_up_rates(every, after(59)));
        assert!(partitions.sum_up_rates(every, after(60)));
        assert_eq!(partitions.mean_rate(), RateSums::default().mean(), "nothing was learned");
    }
}
