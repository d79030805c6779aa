//! The site clock as the queue uses it; the clock itself is `estimate/site_clock`.
//!
//! - `snapshot`: what was last read off a clock, and how it goes on by itself.
//! - `cohort`: pages that were last visited within one bin of the clock.

mod cohort;
mod snapshot;

pub use cohort::{Cohort, insert, set_all};
pub use snapshot::ClockSnapshot;
