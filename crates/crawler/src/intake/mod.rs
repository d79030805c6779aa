//! A report becomes one [`VisitEffects`] value, and that is applied (paper 003's document-and-URL buffer).
//!
//! - `effects`: the stages in their order, and what they come to.
//! - `verdict`: whether the page is the same as before, and which test decided.
//! - `judging`: what differs, and whether the difference has meaning.
//! - `readable`: makes sure that each reported change has something to read.
//! - `requisites`: images, scripts and style sheets whose bytes changed under a page that uses them.
//! - `archive_record`: the archive record of the visit.
//! - `page_life`: the page's row after the visit, and when the next visit is due.
//! - `events`: the event that the feed gets.
//! - `folding`: the folds that its operations join, and the event of the site.
//! - `discovery`: the URLs that the report names.
//! - `sessions`: session ids in links, and the traps of a site.
//! - `apply_effects`: passes the effects to policy, schedule, hints, topics and journal.
//! - `robots_answer`: the answer to a request for robots.txt.
//! - `walls`: tells a redirect that leads to a login page from a move.
//! - `archived_report`: turns a kept record back into the report that it was made from.
//! - `imported`: visits that others made, at the end of a page's history or within it.

mod apply_effects;
pub(crate) mod archive_record;
pub(crate) mod archived_report;
pub(crate) mod discovery;
mod effects;
mod events;
mod folding;
pub(crate) mod imported;
mod judging;
pub(crate) mod page_life;
mod readable;
pub(crate) mod requisites;
mod robots_answer;
pub(crate) mod sessions;
#[cfg(test)]
mod tests;
pub(crate) mod verdict;
mod walls;

pub(crate) use self::apply_effects::Appliers;
pub(crate) use self::effects::{Arrived, Restored, VisitEffects, imported_document};
pub(crate) use self::judging::Intake;
pub(crate) use self::robots_answer::{take_robots, visit_beside_pages};
