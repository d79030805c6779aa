//! The policies.
//!
//! - `agenda`: pages in the order of their due Moments, site by site; `words`: what every `why` shares.
//! - `round_robin`, `random_order`: every page in its turn, in a fixed or random order, at certain hours of the day.
//! - `strides`: pages in proportion to what each asks for, scaled to the budget; `change_frequency` and `rivals` ask.
//! - `sampling`: a few pages tell of many: proportional, greedy, adaptive, hybrid, by path, by features, in groups.
//! - `refresh_time`: the self-adjusting refresh time (the paper's refresh time controller).
//! - `value`: what a visit is worth, for each objective; `allocation`: how a budget is split over known rates.
//! - `by_value`: the policies that visit by value, with the default among them.
//! - `promises`: what keeps `at_least_every` and `at_most_every` around any of them.

mod agenda;
pub mod allocation;
mod by_value;
mod change_frequency;
mod promises;
mod random_order;
mod refresh_time;
mod rivals;
mod round_robin;
mod sampling;
mod strides;
mod value;
mod words;

pub use by_value::ByValue;
pub use change_frequency::ChangeFrequency;
pub use promises::Promises;
pub use random_order::{PurelyRandom, RandomOrder};
pub use refresh_time::{RefreshTerms, RefreshTime, UrlRecord, adjusted};
pub use rivals::{HeritrixFixed, NutchAdaptive, StormcrawlerAdaptive};
pub use round_robin::{Points, RoundRobin};
pub use sampling::{
    By, Rule, Sampling, SamplingTerms, Size, allocation, allocation_as_printed, apportioned, groups_needed,
    optimal_sample_size, proportional_quotas, sample_size, storage_share,
};
pub use strides::Strides;
pub use value::{HARMONIC_SHARE, Objective, Rate};
