//! Paper 000: sampling policies and the frequency-greedy hybrid.
//!
//! - `examples`: its worked examples, as it counts them and by the policies themselves.
//! - `nine_sites`: the web of its experiment; `accuracy`: that experiment (Tables 4.1 and 4.2, Figures 4.1 and 4.2).
//! - `sample_size`: change ratio against the size of the sample (Figure 2.2).
//! - `meta_updates`: pages that say when they change (Figure 1.3).
//! - `policies`: all the papers' policies on one changing web.

mod accuracy;
mod examples;
mod meta_updates;
pub(super) mod nine_sites;
mod policies;
mod sample_size;

use super::trials::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    meta_updates::EXPERIMENT,
    policies::ORDERS,
    examples::EXPERIMENT,
    sample_size::EXPERIMENT,
    examples::FORMULAS,
    accuracy::EXPERIMENT,
    policies::EXPERIMENT,
];
