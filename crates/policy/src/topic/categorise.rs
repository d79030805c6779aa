//! The topics of a page at the moment it is read (Algorithm 2 of seed 001): one step of the reputation, from the topics
//! of the pages that link to it and from its own words. A pass over all pages refines it later.

use std::collections::BTreeMap;

use vernal_model::{PageKey, TopicId, TopicOf};

use super::Best;

/// A page that links to the one in question.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkedFrom<'a> {
    pub topics: &'a [TopicOf],
    /// O(q).
    pub out: u32,
}

/// A word of the page that is a topic, and N_t.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub topic: TopicId,
    pub holders: u32,
}

/// topic(u): the page's best topics, as far as its in-links and its own words show.
pub fn known_for(words: &[Known], linked_from: &[LinkedFrom<'_>], jump: f64, most: usize) -> Vec<TopicOf> {
    let mut reputations: BTreeMap<TopicId, f64> = BTreeMap::new();
    for linked in linked_from {
        for of in linked.topics {
            let handed_on = (1.0 - jump) * f64::from(of.reputation) / f64::from(linked.out.max(1));
            *reputations.entry(of.topic).or_default() += handed_on;
        }
    }
    for word in words {
        *reputations.entry(word.topic).or_default() += jump / f64::from(word.holders.max(1));
    }
    let mut best = Best::default();
    for (topic, reputation) in reputations {
        best.offer(topic, reputation as f32, most);
    }
    best.into_topics()
}

/// The known topics, each with its pages: the C₁ … Cₙ that Algorithm 2 puts out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    topics: BTreeMap<TopicId, Vec<PageKey>>,
}

impl Catalogue {
    /// Adds a page to its topics, which are created where new. As printed, lines 9 to 12 add it only to topics that are
    /// new to the system, which is a slip: then a topic would have one page for ever.
    pub fn classify(&mut self, page: PageKey, topics: &[TopicOf]) {
        for of in topics {
            let pages = self.topics.entry(of.topic).or_default();
            if let Err(place) = pages.binary_search(&page) {
                pages.insert(place, page);
            }
        }
    }

    pub fn pages(&self, topic: TopicId) -> &[PageKey] {
        self.topics.get(&topic).map_or(&[], Vec::as_slice)
    }

    pub fn iter(&self) -> impl Iterator<Item = (TopicId, &[PageKey])> {
        self.topics.iter().map(|(&topic, pages)| (topic, pages.as_slice()))
    }
}
