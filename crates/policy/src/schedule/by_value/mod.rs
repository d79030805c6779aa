//! The policies by value: visit what is worth most, and when it is worth the price.
//!
//! One way of choosing serves them all, in the laboratory and live. The value of a page grows with the operational time since
//! its last visit, as its site's clock counts it.
//!
//! - `policy`: choose and learn; `rule`: what tells `vernal`, `bayes`, `index`, `hindsight`, `optimal`, `random-optimal` and
//!   `lambda` apart.
//! - `model`: all that is known of pages and sites, and what visits teach.
//! - `page`, `pages`, `page_state`: what is kept of each page; `site`, `sites`: of each site, and of its sections.
//! - `belief`: what is believed of change rates.
//! - `clock`: the site clock as the queue uses it.
//! - `value`: what a visit is worth.
//! - `queue`: which page is visited next.
//! - `memory`: what is remembered of a site beyond its pages.
//! - `explanation`: the reasons of a choice, in words and numbers.
//! - `time`: Moments as seconds and days.

mod belief;
mod clock;
mod explanation;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod looks;
mod memory;
mod model;
mod page;
mod page_state;
mod pages;
mod policy;
mod queue;
#[cfg(test)]
mod reference;
mod rule;
mod site;
mod sites;
mod time;
mod value;

pub use policy::ByValue;
