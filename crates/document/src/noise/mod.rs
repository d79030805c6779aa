//! What differs without meaning.
//!
//! - [`builtin`]: what every site has: tokens, clocks, counters, build ids.
//! - `shape`: the words of a paragraph with wildcards where it varies.
//! - `times`: the words that dates and ages are made of.
//! - `spot`: the operations of a change as places of the page, old and new side by side.
//! - `evidence`: when something that differs has shown itself to be noise, and when no longer.
//! - `ledger`: the rules of the site while one change is judged.
//! - `learned`: the judgement on one change.
//! - `fold`: one change on many pages of a site.
//! - `people`: rules that a person gives, allows or forgets.

pub mod builtin;
mod evidence;
mod fold;
mod learned;
mod ledger;
mod people;
mod shape;
mod spot;
mod times;

pub use fold::{FOLD_PAGES_MIN, Folding, FoldingKind, fold};
pub use learned::{NoiseInput, NoiseJudgement, explained, judge, may_explain, template_key, unchanged};
pub use people::{add, allow, forget};
pub use shape::Shape;
