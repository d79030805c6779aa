//! Promises to visit some pages at least, or at most, so often.
//!
//! - `around`: serves and holds back around any policy.
//! - `promise`: what is promised of one page.
//! - `rest`: pages that may not be visited yet.

mod around;
mod promise;
mod rest;

pub use around::Promises;
