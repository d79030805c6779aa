//! The sizes and rates of paper 001's experiments.

/// The repository of its experiment: a thousand pages, twenty topics, two hundred visits.
pub const PAGES: usize = 1_000;
pub const TOPICS: usize = 20;
pub const VISITS: usize = 200;
/// Round-robin's change ratio in Table 3 is the mean share of changed pages; topics lie evenly about it.
pub const MEAN_RATE: f64 = 0.45;

/// The share of a topic's pages that has changed.
pub fn rate_of(topic: usize) -> f64 {
    2.0 * MEAN_RATE * (topic as f64 + 0.5) / TOPICS as f64
}
