//! Noise: differences without meaning.
//!
//! - [`builtin`]: noise that every site has: tokens, clocks, counters, build ids.
//! - `shape`: the words of a paragraph with wildcards (`shape_word`) where it varies; `generalise` makes them.
//! - `times`: the words that dates and ages are made of.
//! - `changed_spots`: the operations of a change as places of the page, with both sides.
//! - `class`: what kind of text varies, and so how much proof it needs.
//! - `evidence`: decides when a difference is noise, and when it no longer is.
//! - `active_rules`: the rules of the site while one change is judged; `rules`: makes, merges and widens rules.
//! - `rotating_texts`: texts that rotate on pages of a template.
//! - `suspicion`: differences that no rule explains yet.
//! - `learned`: judges one change; `suppressed`: the change without the explained parts.
//! - `template`: recognises pages of the same template.
//! - `fold`: one operation on many pages of a site.
//! - `past`: the rules as they spoke when an older version was read.
//! - `people`: rules that a person gives, allows or forgets.

mod active_rules;
pub mod builtin;
mod changed_spots;
mod class;
mod evidence;
mod fold;
mod generalise;
mod learned;
mod past;
mod people;
mod rotating_texts;
mod rules;
mod shape;
mod shape_word;
mod suppressed;
mod suspicion;
mod template;
mod times;

pub use active_rules::shapes_on;
pub use fold::{FoldVisit, OperationMarks, continues, is_due, join, operation_marks};
pub use learned::{Lesson, NoiseInput, NoiseJudgement, explained, judge, may_explain, unchanged};
pub use past::{book_of, book_of_today};
pub use people::{add, allow, forget};
pub use shape::Shape;
pub use template::template_key;
