//! The index policies: visit what is worth most, and when it is worth the price.
//!
//! One way of choosing serves them all, in the laboratory and live. The value of a page grows with the operational time
//! since its last visit. Pages of a site wait in buckets by the bin of their last visit, each with the time at which it
//! reaches the next rung of value; rungs are a tenth apart. A visit that moves the site's clock moves the time of at
//! most a hundred buckets and looks at no page but those that come due. Above a floor, which follows the price, pages
//! stand on the ladder of their site by their rung, and the best rung of all sites is taken first. What is below the
//! floor is not sorted; when the ladder runs empty the floor sinks. So the choice is always the same as if every page
//! had been looked at, up to the width of a rung, and equals are taken in the order of their spread numbers.
//!
//! - `page`, `site`: what is kept of each.
//! - `pieces`: all pages in one row.
//! - `rule`: what tells `vernal`, `bayes`, `index`, `hindsight`, `optimal`, `random-optimal` and `lambda` apart.
//! - `worth`: the value of a page now, and the time at which it reaches another.
//! - `dial`: what was read off a site's clock, and the buckets that are set by it.
//! - `entries`: pages that wait in one place.
//! - `resting`: pages that were visited too short a time ago.
//! - `waiting`: where pages wait.
//! - `trains`: pages that wait behind others which are worth no less.
//! - `wakes`: when their site is woken.
//! - `rungs`, `ladder`: how they climb, and how the best are drawn.
//! - `heads`: the best of each site in the order of all.
//! - `floor`: below which nothing is sorted.
//! - `learning`: what a visit teaches.
//! - `memory`: what is remembered of sites.
//! - `octaves`: what the importance of pages says of their rates.
//! - `firmness`: how closely a page is expected to keep to its prior.
//! - `calibration`: what was foretold against what was found.
//! - `policy`: the two verbs.
//! - `section`: paths with enough pages, which are kept like sites.
//! - `telling`: the reasons, in words and numbers.

mod calibration;
mod dial;
mod entries;
mod firmness;
mod floor;
mod heads;
mod ladder;
mod learning;
#[cfg(test)]
mod looks;
mod memory;
mod octaves;
mod page;
mod pieces;
mod policy;
#[cfg(test)]
mod reference;
mod resting;
mod rule;
mod rungs;
mod section;
mod site;
mod telling;
mod topic_pool;
mod trains;
mod waiting;
mod wakes;
mod worth;

pub use policy::Index;
