//! The topics that a page is best known for: a short list that stays sorted while the columns are processed one by one.

use serde::{Deserialize, Serialize};
use vernal_model::{TopicId, TopicOf};

/// How many topics a page is in. Seed 001 found 6 to be best (5.4).
pub const TOPICS_OF_A_PAGE: usize = 6;

/// The best of all that was offered: highest reputation first, equal ones by number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Best {
    topics: Vec<TopicOf>,
}

impl Best {
    /// Adds the topic if it is among the best `most`.
    pub fn offer(&mut self, topic: TopicId, reputation: f32, most: usize) {
        let offered = TopicOf { topic, reputation };
        let is_better = |other: &TopicOf| {
            other.reputation.total_cmp(&reputation).reverse().then(other.topic.cmp(&topic))
                == std::cmp::Ordering::Greater
        };
        let place = self.topics.iter().position(is_better).unwrap_or(self.topics.len());
        if place >= most {
            return;
        }
        if self.topics.capacity() == 0 {
            self.topics.reserve_exact(most);
        }
        if self.topics.len() == most {
            self.topics.pop();
        }
        self.topics.insert(place, offered);
    }

    /// The least reputation that is still added.
    pub fn least(&self, most: usize) -> f32 {
        match most.checked_sub(1) {
            Some(last) => self.topics.get(last).map_or(0.0, |of| of.reputation),
            None => f32::INFINITY,
        }
    }

    pub fn topics(&self) -> &[TopicOf] {
        &self.topics
    }

    pub fn into_topics(self) -> Vec<TopicOf> {
        self.topics
    }
}
