//! Paper 001: sampling with correlation, where topics and not sites are sampled.
//!
//! - `setting`: the sizes and rates of its experiments.
//! - `example`: its worked example and formulas (Table 1, 4.1, 7.1).
//! - `sample_size`: change ratio against the size of the sample (Figure 1).
//! - `topical_web`: pages with words and links, whose topics are reckoned; `topics`: its experiments on that web (Tables 2
//!   and 3, Figure 2).

mod example;
mod sample_size;
mod setting;
mod topical_web;
mod topics;

use self::setting::{MEAN_RATE, PAGES, TOPICS, VISITS, rate_of};
use super::trials::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] =
    &[example::EXPERIMENT, topics::EXPERIMENT, sample_size::EXPERIMENT, example::FORMULAS];
