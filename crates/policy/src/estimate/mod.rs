//! Estimates from a history of visits.
//!
//! - `degree_of_success`: the share of the last visits that found a change.
//! - `regular`, `irregular`, `last_modified`, `stochastic`: change rates, by what the visits could see.
//! - `forgetting`, `confidence`: how much old evidence counts, and how sure a sample is.
//! - `gamma`: a belief about one page's change rate.
//! - `site_clock`: the operational time of a site, learned from visits to its pages.
//! - `hint`: what a hint is worth in days of waiting.
//! - `dates`: how far the Last-Modified dates of pages are trusted.
//! - `trust`: how far a source of hints is trusted, by the results of its hints.

mod confidence;
pub mod dates;
mod degree_of_success;
mod forgetting;
mod gamma;
mod hint;
mod irregular;
mod last_modified;
mod regular;
mod site_clock;
mod stochastic;
pub mod trust;

pub use confidence::{Interval, wilson, wilson_of_mean, z_of};
pub use degree_of_success::RecentVisits;
pub use forgetting::{Fading, kept_after};
pub use gamma::Gamma;
pub use hint::{days_per_hint, days_per_hint_of_all, effective_time};
pub use irregular::{Look, RATE_MAX, RATE_MIN, irregular};
pub use last_modified::LastModified;
pub use regular::{bias_reduced, most_likely, naive};
pub use site_clock::{ReadBin, Reading, SiteClock};
pub use stochastic::{Approximation, HeavyBall, LargeNumbers};
