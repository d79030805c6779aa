//! The invented web: sites, pages, links and answers, all from one chance number.
//! - `settings`: what the web is made of. `plan`: which pages there are and how they are linked.
//! - `articles`: pages that are written and edited as people do it.
//! - `answer`: one request, one Moment, one answer, without memory of earlier requests. `robots`, `sitemap`, `page`,
//!   `files` and `traps` write the bodies; `words` holds the prose they are made of.
//! - `charset`: what pages are encoded in.
//! - `truth`: what a crawler ought to find, on record.

mod answer;
mod articles;
mod charset;
mod class;
mod files;
mod page;
mod plan;
mod robots;
mod settings;
mod sitemap;
mod traps;
mod truth;
pub(crate) mod words;

pub use answer::{Answer, Behaviour, CacheKey, Request};
pub use articles::{Edit, EditKind, edits_between};
pub use class::{Class, Expected, Trap};
pub use plan::{PageNumber, Target, Web};
pub use settings::{PAGES_MAX, SITES_MAX, Shares, WebSettings, Writing};
pub use sitemap::SitemapManner;
pub use truth::TruthPage;
