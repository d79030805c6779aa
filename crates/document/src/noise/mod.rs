//! What differs without meaning.
//!
//! - [`builtin`]: what every site has: tokens, clocks, counters, build ids.
//! - `shape`: the words of a paragraph with wildcards (`piece`) where it varies; `generalise` makes them.
//! - `times`: the words that dates and ages are made of.
//! - `spot`: the operations of a change as places of the page, old and new side by side.
//! - `evidence`: when something that differs has shown itself to be noise, and when no longer.
//! - `ledger`: the rules of the site while one change is judged; `rules`: how they come to be, join and widen.
//! - `suspicion`: what no rule explains yet, until it is proven.
//! - `learned`: the judgement on one change; `aside`: the change without what is explained.
//! - `template`: which pages were made alike.
//! - `fold`: one change on many pages of a site; `sightings`: what one page alone has shown so far.
//! - `people`: rules that a person gives, allows or forgets.

mod aside;
pub mod builtin;
mod evidence;
mod fold;
mod generalise;
mod learned;
mod ledger;
mod people;
mod piece;
mod rules;
mod shape;
mod sightings;
mod spot;
mod suspicion;
mod template;
mod times;

pub use fold::{FOLD_PAGES_MIN, Folding, FoldingKind, fold};
pub use learned::{NoiseInput, NoiseJudgement, explained, judge, may_explain, unchanged};
pub use ledger::shapes_on;
pub use people::{add, allow, forget};
pub use shape::Shape;
pub use sightings::Sightings;
pub use template::template_key;
