//! The names of pages: `/` and `/index.html`, and other spellings of one content on a site, are one page with several names.
//!
//! - `candidate`: a page that may be one with others, as it is known now.
//! - `relation`: what makes two pages one, and what ends it.
//! - `group`: the pages that are one page together, and which of them is the first name.
//! - `rename`: the deeds by which the names of pages become others.
//! - `visit`: what a visit says of the names of its page.
//! - `rule`: the word of a person, which counts more than any rule.

mod candidate;
mod group;
mod relation;
mod rename;
mod rule;
#[cfg(test)]
mod tests;
mod visit;

pub(crate) use self::rule::rule;
pub(crate) use self::visit::{VisitOfNames, note_visit};
