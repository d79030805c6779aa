//! Topics: groups of pages, across sites, that are thought to change together (seed 001; its word is category). A topic
//! is a word that some pages have a reputation on.

use serde::{Deserialize, Serialize};

use crate::{Fingerprint, Moment};

/// A topic by its number; a number is never given to another word.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TopicId(pub u32);

/// One topic of a page, and the page's reputation on it: R(p, t) of seed 001.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopicOf {
    pub topic: TopicId,
    pub reputation: f32,
}

/// What is known of a topic since the last pass over the repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopicRow {
    pub id: TopicId,
    pub word: Box<str>,
    /// N_t: pages that contain the word, or are called so by a link.
    pub holders: u32,
    /// Pages that are in the topic; a topic without pages is remembered for its number only.
    pub pages: u32,
    /// Changes that the visits of its pages found, and the days over which these were watched, summed up.
    pub changes: u64,
    pub watched_days: f64,
}

impl TopicRow {
    /// Changes per day of one page in the mean; `None` where nobody watched for long enough to see one.
    pub fn change_rate(&self) -> Option<f64> {
        (self.watched_days > 0.0).then(|| self.changes as f64 / self.watched_days)
    }
}

/// The words of a page that may be topics, as they were read from one version of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageTerms {
    /// The version that they were read from.
    pub version: u32,
    pub words: Vec<Box<str>>,
    /// What its links call other pages.
    pub anchors: Vec<AnchorTerms>,
}

/// The words of the links from one page to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorTerms {
    pub target: Fingerprint,
    pub words: Vec<Box<str>>,
}

/// How far the passes over the repository have come.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopicMark {
    /// Passes that were ended, and when the last of them was.
    pub passes: u32,
    pub ended: Option<Moment>,
    /// The number that the next new topic gets.
    pub next: TopicId,
    /// Pages that the last pass found topics for, and topics that have pages.
    pub pages: u32,
    pub topics: u32,
}
