//! Policies that visit a few pages of each site, topic or group of pages to judge them all, then spend the rest of the
//! cycle's visits where the sample found changes (Cho and Ntoulas 2002; seeds 000 and 001).
//!
//! - `terms`: the parameters; the papers' signs are α, κ, V, P and k.
//! - `cycle`: how long one round of sampling and downloading is.
//! - `sizes`: how many pages to sample: √(N·r), the optimal formula, the hybrid's allocation, groups for low resources.
//! - `entry`: one page; `stratum`: one site, path or group of pages: its sample, what it found, and its rank.
//! - `placing`: which strata a page is in; several, where they are topics.
//! - `planning`: what a cycle is to do.
//! - `policy`: choose a few, learn, choose again; `why`: the same in words.

mod cycle;
mod entry;
mod placing;
mod planning;
mod policy;
mod sizes;
mod stratum;
mod terms;
mod why;

pub use entry::By;
pub use policy::{Sampling, Size};
pub use sizes::{
    allocation, allocation_as_printed, apportioned, groups_needed, optimal_sample_size, proportional_quotas,
    sample_size, storage_share,
};
pub use stratum::Rule;
pub use terms::SamplingTerms;
