//! Topics as a level of pooling between a site and all pages: a site of which nothing was seen yet is expected to change as
//! pages of its topics do elsewhere (page → path → site → topic → all).
//!
//! For each topic Σ of the mean rates of its pages and how many were compared, over all partitions as far as they have told
//! each other. A topic's mean leans towards that of all as a site's does, and stands at so many steps from it; the mean of
//! a site's topics, each counted by the site's pages in it, is what the site's own prior leans towards. Steps follow from
//! the sums alone, so that nothing of them needs to be remembered, and pages are placed anew only at a step. Where pages
//! have no topics, all this stays empty.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use vernal_model::TopicId;

use crate::schedule::by_value::site::POOLING;
use crate::{RateSums, TopicRates};

/// The height of a step, in logarithm: each step looks at all pages of new sites in the topic.
const STEP: f64 = 0.2;

#[derive(Clone, Debug, Default)]
pub struct TopicPool {
    /// The topics of pages. Looked up only, never walked through.
    of_pages: HashMap<u32, Box<[TopicId]>>,
    sites: BTreeMap<u32, SiteTopics>,
    topics: BTreeMap<TopicId, Pooled>,
}

#[derive(Clone, Debug, Default)]
struct SiteTopics {
    /// How many of its pages are in each topic.
    pages: BTreeMap<TopicId, u32>,
    /// How many times the rate of all its topics' pages have.
    ratio: f64,
}

#[derive(Copy, Clone, Debug, Default)]
struct Pooled {
    own: RateSums,
    /// What the other partitions have told.
    others: RateSums,
    step: i32,
}

impl Pooled {
    /// Takes the step that its sums say; whether that is another one.
    fn settle(&mut self, of_all: f64) -> bool {
        let RateSums { weighted, weight } = self.own.plus(self.others);
        let mean = (POOLING * of_all + weighted.max(0.0)) / (POOLING + weight.max(0.0));
        let step = ((mean / of_all).ln() / STEP).round() as i32;
        std::mem::replace(&mut self.step, step) != step
    }
}

impl TopicPool {
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// How many times the rate of all a site's topics have; nothing where it has none.
    pub fn ratio(&self, site: u32) -> Option<f64> {
        self.sites.get(&site).map(|topics| topics.ratio)
    }

    /// Takes the topics of a page away: these, and the sites that expect another rate now.
    pub fn take(&mut self, number: u32, site: u32, rate: f32, of_all: f64) -> (Option<Box<[TopicId]>>, Vec<u32>) {
        let Some(topics) = self.of_pages.remove(&number) else { return (None, Vec::new()) };
        if let Some(of_site) = self.sites.get_mut(&site) {
            for topic in &topics {
                let pages = of_site.pages.entry(*topic).or_default();
                *pages = pages.saturating_sub(1);
            }
            of_site.pages.retain(|_, pages| *pages > 0);
            if of_site.pages.is_empty() {
                self.sites.remove(&site);
            }
        }
        let moved = self.count_in(&topics, rate, 0.0, of_all);
        let sites = self.sites_changed(&moved, Some(site));
        (Some(topics), sites)
    }

    /// Gives a page topics; the sites that expect another rate now.
    pub fn put(&mut self, number: u32, site: u32, topics: Box<[TopicId]>, rate: f32, of_all: f64) -> Vec<u32> {
        let moved = self.count_in(&topics, 0.0, rate, of_all);
        if !topics.is_empty() {
            let of_site = self.sites.entry(site).or_default();
            for topic in &topics {
                *of_site.pages.entry(*topic).or_default() += 1;
            }
            self.of_pages.insert(number, topics);
        }
        self.sites_changed(&moved, Some(site))
    }

    /// The mean rate of a page is another now, 0 being none; the sites that expect another rate for it.
    pub fn count(&mut self, number: u32, before: f32, after: f32, of_all: f64) -> Vec<u32> {
        let Some(topics) = self.of_pages.get(&number).cloned() else { return Vec::new() };
        let moved = self.count_in(&topics, before, after, of_all);
        self.sites_changed(&moved, None)
    }

    /// What the pages of each topic showed here.
    pub fn own_rates(&self) -> Vec<TopicRates> {
        let known = self.topics.iter().filter(|(_, pooled)| pooled.own.weight > 0.5);
        known.map(|(&topic, pooled)| TopicRates { topic, sums: pooled.own }).collect()
    }

    /// Hears what all partitions showed, this one included; the sites that expect another rate now.
    pub fn hear_all(&mut self, rates: &[TopicRates], of_all: f64) -> Vec<u32> {
        if self.is_empty() {
            return Vec::new();
        }
        for &TopicRates { topic, sums } in rates {
            let pooled = self.topics.entry(topic).or_default();
            let less = |all: f64, own: f64| (all - own).max(0.0);
            let (weighted, weight) = (less(sums.weighted, pooled.own.weighted), less(sums.weight, pooled.own.weight));
            pooled.others = RateSums { weighted, weight };
        }
        self.settle(of_all)
    }

    /// The mean of all, or what others told, has moved: every topic stands where its sums say; the sites that expect another
    /// rate now.
    pub fn settle(&mut self, of_all: f64) -> Vec<u32> {
        let topics = self.topics.iter_mut();
        let moved: Vec<TopicId> =
            topics.filter_map(|(&topic, pooled)| pooled.settle(of_all).then_some(topic)).collect();
        self.sites_changed(&moved, None)
    }

    /// Counts another mean rate in these topics; those that stand at another step now.
    fn count_in(&mut self, topics: &[TopicId], before: f32, after: f32, of_all: f64) -> Vec<TopicId> {
        let mut moved = Vec::new();
        for &topic in topics {
            let pooled = self.topics.entry(topic).or_default();
            pooled.own.weighted += f64::from(after) - f64::from(before);
            pooled.own.weight += f64::from(u8::from(after > 0.0)) - f64::from(u8::from(before > 0.0));
            if pooled.settle(of_all) {
                moved.push(topic);
            }
        }
        moved
    }

    /// Sites of these topics, and one more, as far as they expect another rate now.
    fn sites_changed(&mut self, moved: &[TopicId], also: Option<u32>) -> Vec<u32> {
        let is_in = |of_site: &SiteTopics| moved.iter().any(|topic| of_site.pages.contains_key(topic));
        let mut sites: BTreeSet<u32> = also.into_iter().collect();
        if !moved.is_empty() {
            sites.extend(self.sites.iter().filter(|(_, of_site)| is_in(of_site)).map(|(&site, _)| site));
        }
        let lost_all = |site: u32| also == Some(site) && self.ratio(site).is_none();
        let lost = also.filter(|&site| lost_all(site));
        sites.into_iter().filter(|&site| self.update_ratio(site) || lost == Some(site)).collect()
    }

    /// Computes a site's ratio; whether it is another one.
    fn update_ratio(&mut self, site: u32) -> bool {
        let Some(of_site) = self.sites.get_mut(&site) else { return false };
        let (mut weighted, mut weight) = (0.0, 0.0);
        for (topic, &pages) in &of_site.pages {
            let step = self.topics.get(topic).map_or(0, |pooled| pooled.step);
            weighted += f64::from(pages) * (STEP * f64::from(step)).exp();
            weight += f64::from(pages);
        }
        let ratio = if weight > 0.0 { weighted / weight } else { 1.0 };
        std::mem::replace(&mut of_site.ratio, ratio) != ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OF_ALL: f64 = 0.1;
    const ELSEWHERE: u32 = 9;

    fn topics(number: u32) -> Box<[TopicId]> {
        Box::new([TopicId(number)])
    }

    /// Twenty pages of another site showed this rate in topic 1.
    fn taught(rate: f32) -> TopicPool {
        let mut pool = TopicPool::default();
        for number in 100..120 {
            pool.put(number, ELSEWHERE, topics(1), rate, OF_ALL);
        }
        pool
    }

    #[test]
    fn a_new_site_is_expected_to_change_as_its_topic_does_elsewhere() {
        let mut pool = taught(1.0);
        assert_eq!(pool.ratio(3), None);
        assert_eq!(pool.put(0, 3, topics(1), 0.0, OF_ALL), [3], "its expectation is another one");
        assert!((4.0..10.0).contains(&pool.ratio(3).unwrap()), "{:?}", pool.ratio(3));
        let (taken, changed) = pool.take(0, 3, 0.0, OF_ALL);
        assert_eq!((taken, changed, pool.ratio(3)), (Some(topics(1)), vec![3], None));
    }

    #[test]
    fn what_other_partitions_showed_counts_and_ones_own_does_not_count_twice() {
        let mut pool = taught(1.0);
        pool.put(0, 3, topics(1), 0.0, OF_ALL);
        let (before, own) = (pool.ratio(3), pool.own_rates());
        assert_eq!(pool.hear_all(&own, OF_ALL), Vec::<u32>::new());
        assert_eq!(pool.ratio(3), before);
        let quiet = TopicRates { topic: TopicId(1), sums: RateSums { weighted: 20.0, weight: 2_000.0 } };
        assert_eq!(pool.hear_all(&[quiet], OF_ALL), [3, ELSEWHERE]);
        assert!(pool.ratio(3) < before);
    }

    proptest! {
        #[test]
        fn what_left_leaves_nothing_behind(pages in prop::collection::vec((0u32..5, 0u32..4, 0.0f32..3.0), 0..40)) {
            let mut pool = TopicPool::default();
            for (number, &(site, topic, rate)) in (0u32..).zip(&pages) {
                pool.put(number, site, topics(topic), rate, OF_ALL);
            }
            for (number, &(site, _, rate)) in (0u32..).zip(&pages) {
                pool.take(number, site, rate, OF_ALL);
            }
            prop_assert!(pool.is_empty() && pool.of_pages.is_empty());
            prop_assert!(pool.topics.values().all(|pooled| pooled.own.weight.abs() < 1e-9 && pooled.step == 0));
        }
    }
}
