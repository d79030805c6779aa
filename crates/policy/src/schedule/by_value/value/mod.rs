//! What a visit is worth.
//!
//! - `worth`: how the value of one page grows with the operational time since its last visit.
//! - `valuer`: importance, cost, hints and limits, which turn what is believed of a page into its worth.

mod valuer;
mod worth;

pub use valuer::Valuer;
pub use worth::Worth;
