//! What a history of visits says.
//!
//! - `degree_of_success`: how many of the last visits found a change.
//! - `gamma`: a belief about one page's change rate.
//! - `site_clock`: the operational time of a site, learned from visits to its pages.
//! - `hint`: what a hint is worth in days of waiting.

mod degree_of_success;
mod gamma;
mod hint;
mod site_clock;

pub use degree_of_success::RecentVisits;
pub use gamma::Gamma;
pub use hint::{days_per_hint, effective_time};
pub use site_clock::{ReadBin, Reading, SiteClock};
