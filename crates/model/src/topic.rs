//! Topics: groups of pages, across sites, that are thought to change together (seed 001; its word is category). A topic
//! is a word that some pages have a reputation on.

use serde::{Deserialize, Serialize};

use crate::{Fingerprint, Moment};

/// The number of a topic. A number is never reused for another word.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TopicId(pub u32);

/// One topic of a page, and the reputation of the page on it: R(p, t) of seed 001.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopicOf {
    pub topic: TopicId,
    pub reputation: f32,
}

/// A topic, as of the last pass over the repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopicRow {
    pub id: TopicId,
    pub word: Box<str>,
    /// N_t: pages that contain the word or have it in the anchor of a link to them.
    pub holders: u32,
    /// Pages in the topic. A topic without pages is kept for its number only.
    pub pages: u32,
    /// The sums of the changes that visits of its pages found, and of the days of observation.
    pub changes: u64,
    pub watched_days: f64,
}

impl TopicRow {
    /// The mean changes per day of a page; `None` without enough observation.
    pub fn change_rate(&self) -> Option<f64> {
        (self.watched_days > 0.0).then(|| self.changes as f64 / self.watched_days)
    }
}

/// The words of a page that may be topics, extracted from one version of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageTerms {
    /// That version.
    pub version: u32,
    pub words: Vec<Box<str>>,
    /// The anchor words of its links to other pages.
    pub anchors: Vec<AnchorTerms>,
}

/// The words of the links from one page to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorTerms {
    pub target: Fingerprint,
    pub words: Vec<Box<str>>,
}

/// The state of the passes over the repository.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopicMark {
    /// Completed passes, and when the last one ended.
    pub passes: u32,
    pub ended: Option<Moment>,
    /// The number for the next new topic.
    pub next: TopicId,
    /// Pages with topics at the last pass, and topics with pages.
    pub pages: u32,
    pub topics: u32,
}
