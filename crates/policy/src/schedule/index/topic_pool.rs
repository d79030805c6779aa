//! Topics as a level of pooling between site and all: a site of which nothing was seen yet is expected to change as pages of
//! its topics do elsewhere (page → path → site → topic → all).
//!
//! For each topic Σ of the mean rates of its pages and how many were compared, over all partitions as far as they have told
//! each other. A topic's mean leans towards that of all as a site's does, and stands at so many steps from it; the mean of
//! a site's topics, each counted by the site's pages in it, is what the site's own prior leans towards. Steps follow from
//! the sums alone, so that nothing of them needs to be remembered, and pages are placed anew only when one is taken. Where
//! nobody tells topics, nothing here is ever asked.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use vernal_model::{PageKey, TopicId, TopicOf};

use super::policy::Index;
use super::site::POOLING;
use crate::{RateSums, TopicRates};

/// The height of a step, in logarithm: each one that is taken looks at all pages of new sites in the topic.
const STEP: f64 = 0.2;

#[derive(Clone, Debug, Default)]
pub(super) struct TopicPool {
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
    /// Stands where its sums say; whether that is another step.
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

    /// Takes the topics of a page away. What its rate counted in them stays counted.
    fn take(&mut self, number: u32, site: u32) -> Option<Box<[TopicId]>> {
        let topics = self.of_pages.remove(&number)?;
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
        Some(topics)
    }

    fn put(&mut self, number: u32, site: u32, topics: Box<[TopicId]>) {
        if topics.is_empty() {
            return;
        }
        let of_site = self.sites.entry(site).or_default();
        for topic in &topics {
            *of_site.pages.entry(*topic).or_default() += 1;
        }
        self.of_pages.insert(number, topics);
    }

    /// Counts another mean rate of a page in its topics, 0 being none; the topics that stand elsewhere now.
    fn count(&mut self, topics: &[TopicId], before: f32, after: f32, of_all: f64) -> Vec<TopicId> {
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

    /// Reckons a site's ratio anew; whether it is another one.
    fn weigh(&mut self, site: u32) -> bool {
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

impl Index {
    /// The rate that a site's own prior leans towards: that of its topics, or of all.
    pub(super) fn above_site(&self, site: u32) -> f64 {
        if self.topics.is_empty() {
            return self.shared.mean;
        }
        self.topics.ratio(site).map_or(self.shared.mean, |ratio| ratio * self.shared.mean)
    }

    pub(super) fn set_topics(&mut self, page: PageKey, topics: &[TopicOf]) {
        if self.pages.known(page).is_none() {
            return;
        }
        self.take_topics(page.number);
        self.put_topics(page.number, topics.iter().map(|of| of.topic).collect());
    }

    /// A page has no topics any more; those that it had.
    pub(super) fn take_topics(&mut self, number: u32) -> Option<Box<[TopicId]>> {
        if self.topics.is_empty() {
            return None;
        }
        let page = *self.pages.at(number);
        let topics = self.topics.take(number, page.site)?;
        let moved = self.topics.count(&topics, page.rate(), 0.0, self.shared.mean);
        self.topics_moved(&moved, Some(page.site));
        Some(topics)
    }

    pub(super) fn put_topics(&mut self, number: u32, topics: Box<[TopicId]>) {
        let page = *self.pages.at(number);
        let moved = self.topics.count(&topics, 0.0, page.rate(), self.shared.mean);
        self.topics.put(number, page.site, topics);
        self.topics_moved(&moved, Some(page.site));
    }

    /// The mean rate of a page is another now; 0 is none.
    pub(super) fn count_in_topics(&mut self, number: u32, before: f32, after: f32) {
        let Some(topics) = self.topics.of_pages.get(&number).cloned() else { return };
        let moved = self.topics.count(&topics, before, after, self.shared.mean);
        self.topics_moved(&moved, None);
    }

    /// What the pages of each topic showed here.
    pub(super) fn own_topic_rates(&self) -> Vec<TopicRates> {
        let known = self.topics.topics.iter().filter(|(_, pooled)| pooled.own.weight > 0.5);
        known.map(|(&topic, pooled)| TopicRates { topic, sums: pooled.own }).collect()
    }

    /// Hears what all partitions showed, this one included.
    pub(super) fn hear_all_topic_rates(&mut self, rates: &[TopicRates]) {
        if self.topics.is_empty() {
            return;
        }
        for &TopicRates { topic, sums } in rates {
            let pooled = self.topics.topics.entry(topic).or_default();
            let less = |all: f64, own: f64| (all - own).max(0.0);
            let (weighted, weight) = (less(sums.weighted, pooled.own.weighted), less(sums.weight, pooled.own.weight));
            pooled.others = RateSums { weighted, weight };
        }
        self.settle_topics();
    }

    /// The mean of all, or what others told, has moved: every topic stands where its sums say now.
    pub(super) fn settle_topics(&mut self) {
        let of_all = self.shared.mean;
        let topics = self.topics.topics.iter_mut();
        let moved: Vec<TopicId> =
            topics.filter_map(|(&topic, pooled)| pooled.settle(of_all).then_some(topic)).collect();
        self.topics_moved(&moved, None);
    }

    /// Sites in these topics expect something else; of which nothing was seen, their pages stand by that alone.
    fn topics_moved(&mut self, moved: &[TopicId], also: Option<u32>) {
        let is_in = |of_site: &SiteTopics| moved.iter().any(|topic| of_site.pages.contains_key(topic));
        let mut sites: BTreeSet<u32> = also.into_iter().collect();
        if !moved.is_empty() {
            sites.extend(self.topics.sites.iter().filter(|(_, of_site)| is_in(of_site)).map(|(&site, _)| site));
        }
        for site in sites {
            let has_none = also == Some(site) && self.topics.ratio(site).is_none();
            if (self.topics.weigh(site) || has_none) && self.sites[site as usize].all.mean == 0.0 {
                self.shake_stale(site);
            }
        }
    }
}
