//! Topics as a level of pooling between site and all: a site of which nothing was seen yet is expected to change as pages of
//! its topics do elsewhere (page → path → site → topic → all).
//!
//! For each topic Σ of the mean rates of its pages and how many were compared, over all partitions as far as they have told
//! each other. A topic's mean leans towards that of all as a site's does; the mean of a site's topics, each counted by the
//! site's pages in it and by how much is known of it, is what the site's own prior leans towards. Where nobody tells
//! topics, nothing here is ever asked.

use std::collections::{BTreeMap, HashMap};

use vernal_model::{PageKey, TopicId, TopicOf};

use super::policy::Index;
use super::site::POOLING;
use crate::{RateSums, TopicRates};

/// A prior by topics moves only when it is off by this much, in logarithm: each move looks at all pages of the site.
const PRIOR_STEP: f64 = 0.2;

#[derive(Clone, Debug, Default)]
pub(super) struct TopicPool {
    /// The topics of pages. Looked up only, never walked through.
    of_pages: HashMap<u32, Box<[TopicId]>>,
    /// How many pages of a site are in each topic, and the prior that they give.
    sites: BTreeMap<u32, SiteTopics>,
    own: BTreeMap<TopicId, RateSums>,
    /// What the other partitions have told.
    others: BTreeMap<TopicId, RateSums>,
}

#[derive(Clone, Debug, Default)]
struct SiteTopics {
    pages: BTreeMap<TopicId, u32>,
    /// 0 until it is fitted.
    prior: f64,
}

impl TopicPool {
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// What a site's topics say of its rate; nothing where they say nothing.
    pub fn prior(&self, site: u32) -> Option<f64> {
        self.sites.get(&site).map(|topics| topics.prior).filter(|&prior| prior > 0.0)
    }

    /// The topics of a page, taken away.
    pub fn take(&mut self, number: u32, site: u32, rate: f32) -> Option<Box<[TopicId]>> {
        let topics = self.of_pages.remove(&number)?;
        self.count(&topics, rate, 0.0);
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

    pub fn put(&mut self, number: u32, site: u32, rate: f32, topics: Box<[TopicId]>) {
        if topics.is_empty() {
            return;
        }
        self.count(&topics, 0.0, rate);
        let of_site = self.sites.entry(site).or_default();
        for topic in &topics {
            *of_site.pages.entry(*topic).or_default() += 1;
        }
        self.of_pages.insert(number, topics);
    }

    /// The mean rate of a page is another now; 0 is none.
    pub fn set_rate(&mut self, number: u32, before: f32, after: f32) {
        if let Some(topics) = self.of_pages.get(&number).cloned() {
            self.count(&topics, before, after);
        }
    }

    fn count(&mut self, topics: &[TopicId], before: f32, after: f32) {
        for topic in topics {
            let sums = self.own.entry(*topic).or_default();
            sums.weighted += f64::from(after) - f64::from(before);
            sums.weight += f64::from(u8::from(after > 0.0)) - f64::from(u8::from(before > 0.0));
        }
    }

    /// Fits the prior of a site; whether it moved.
    pub fn fit(&mut self, site: u32, of_all: f64) -> bool {
        let Some(topics) = self.sites.get(&site) else { return false };
        let (mut weighted, mut weight) = (0.0, 0.0);
        for (topic, &pages) in &topics.pages {
            let sums = self.sums(*topic);
            let known = sums.weight.max(0.0);
            let mean = (POOLING * of_all + sums.weighted.max(0.0)) / (POOLING + known);
            let counts = f64::from(pages) * known / (POOLING + known);
            (weighted, weight) = (weighted + counts * mean, weight + counts);
        }
        let prior = if weight > 0.0 { weighted / weight } else { of_all };
        let before = topics.prior;
        if before > 0.0 && (prior / before).ln().abs() < PRIOR_STEP {
            return false;
        }
        if let Some(topics) = self.sites.get_mut(&site) {
            topics.prior = prior;
        }
        true
    }

    fn sums(&self, topic: TopicId) -> RateSums {
        let of = |sums: &BTreeMap<TopicId, RateSums>| sums.get(&topic).copied().unwrap_or_default();
        of(&self.own).plus(of(&self.others))
    }
}

impl Index {
    /// The rate that a site's own prior leans towards: that of its topics, or of all.
    pub(super) fn above_site(&self, site: u32) -> f64 {
        if self.topics.is_empty() { self.shared.mean } else { self.topics.prior(site).unwrap_or(self.shared.mean) }
    }

    pub(super) fn set_topics(&mut self, page: PageKey, topics: &[TopicOf]) {
        let Some(&known) = self.pages.known(page) else { return };
        self.topics.take(page.number, known.site, known.rate);
        let topics = topics.iter().map(|of| of.topic).collect();
        self.topics.put(page.number, known.site, known.rate, topics);
        self.fit_topics_of(known.site);
    }

    /// What the pages of each topic showed here.
    pub(super) fn own_topic_rates(&self) -> Vec<TopicRates> {
        let known = self.topics.own.iter().filter(|(_, sums)| sums.weight > 0.5);
        known.map(|(&topic, &sums)| TopicRates { topic, sums }).collect()
    }

    /// Hears what all partitions showed, this one included, and fits the priors of sites by it.
    pub(super) fn hear_all_topic_rates(&mut self, rates: &[TopicRates]) {
        if self.topics.is_empty() {
            return;
        }
        let own = &self.topics.own;
        let others = rates.iter().map(|&TopicRates { topic, sums }| {
            let own = own.get(&topic).copied().unwrap_or_default();
            let less = |all: f64, own: f64| (all - own).max(0.0);
            (topic, RateSums { weighted: less(sums.weighted, own.weighted), weight: less(sums.weight, own.weight) })
        });
        self.topics.others = others.collect();
        let sites: Vec<u32> = self.topics.sites.keys().copied().collect();
        sites.into_iter().for_each(|site| self.fit_topics_of(site));
    }

    /// A site of which nothing was seen stands by its topics alone: when they say something else, its pages do too.
    pub(super) fn fit_topics_of(&mut self, site: u32) {
        if self.topics.fit(site, self.shared.mean) && self.sites[site as usize].all.mean == 0.0 {
            self.shake_stale(site);
        }
    }
}
