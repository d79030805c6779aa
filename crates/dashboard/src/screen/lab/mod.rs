//! The lab: this crawl's own record, and the machine of the founding papers at work.

mod crawl;
mod papers;
mod routes;

pub use routes::routes;
