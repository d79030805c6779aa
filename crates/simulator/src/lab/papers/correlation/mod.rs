//! Paper 001: sampling with correlation, where topics and not sites are sampled.
//!
//! - `example`: its worked example and formulas (Table 1, 4.1, 7.1).
//! - `sample_size`: change ratio against the size of the sample (Figure 1).
//! - `topical_web`: pages with words and links, whose topics are reckoned; `topics`: its experiments on that web (Tables 2
//!   and 3, Figure 2).

mod example;
mod sample_size;
mod topical_web;
mod topics;

use super::trials::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] =
    &[example::EXPERIMENT, topics::EXPERIMENT, sample_size::EXPERIMENT, example::FORMULAS];

/// The repository of its experiment: a thousand pages, twenty topics, two hundred visits.
const PAGES: usize = 1_000;
const TOPICS: usize = 20;
const VISITS: usize = 200;
/// Round-robin's change ratio in Table 3 is the mean share of changed pages; topics lie evenly about it.
const MEAN_RATE: f64 = 0.45;

/// The share of a topic's pages that has changed.
fn rate_of(topic: usize) -> f64 {
    2.0 * MEAN_RATE * (topic as f64 + 0.5) / TOPICS as f64
}
