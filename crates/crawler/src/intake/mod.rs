//! A report becomes one [`VisitEffects`] value, and that is applied (paper 003's document-and-URL buffer).
//!
//! - `effects`: the stages in their order, and what they come to.
//! - `verdict`: is it the same page as before, and by which test do we know.
//! - `judging`: what differs, and whether it means something.
//! - `images`: images whose bytes changed under a page that names them.
//! - `archive_record`: what the archive writes of the visit.
//! - `page_life`: the page's row after the visit, and when it is wanted again.
//! - `events`: what the feed says of it.
//! - `discovery`: the URLs it names.
//! - `sessions`: session ids in links, and the traps of a site.
//! - `apply_effects`: the effects reach policy, schedule, hints, topics and journal.
//! - `robots_answer`: the answer to a request for robots.txt.
//! - `archived_report`: the way back: a kept record as the report that it was made of.

mod apply_effects;
pub(crate) mod archive_record;
pub(crate) mod archived_report;
pub(crate) mod discovery;
mod effects;
mod events;
mod images;
mod judging;
pub(crate) mod page_life;
mod robots_answer;
pub(crate) mod sessions;
#[cfg(test)]
mod tests;
mod verdict;

pub(crate) use self::apply_effects::Appliers;
pub(crate) use self::effects::{Arrived, Restored, VisitEffects};
pub(crate) use self::judging::Intake;
pub(crate) use self::robots_answer::{take_robots, visit_beside_pages};
