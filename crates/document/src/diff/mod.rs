//! What a person reads between two versions, and how a paragraph keeps its identity.
//!
//! - `matching` says which paragraph became which: every paragraph of both versions is in exactly one pairing. What has
//!   no equal on the other side is matched in `rest`, by the words (`postings`, `similarity`, `word_marks`) and as parts (`wholes`).
//! - [`explain`] tells it as operations with words, for the change feed; [`diff`] tells it completely, word by word, so
//!   that [`Diff::apply`] makes the new paragraphs of the old ones.
//! - [`carry_ids`] and [`carry_ids_by_marks`] hand a page's paragraph numbers on from version to version.
//! - [`render`] shows a diff: as text, as source lines, as a safe page of HTML. JSON comes through serde.
//! - [`Blame`] walks over the versions of a page and says which one each paragraph and word came from.
//!
//! Work is counted in steps and ends at `STEPS_MAX`; what is left then is told whole, and [`Fallback`] says so.
//!
//! Order means nothing in a menu and little in a list: items of one run of navigation or of list items that only changed
//! places within their run are told as **one** move (the first of them, with the others beside it), never as many.

mod blame;
mod difference;
mod explain;
mod headings;
mod identity;
mod matching;
mod postings;
pub mod render;
mod rest;
mod rewritten;
mod similarity;
mod steps;
mod wholes;
mod word_marks;
pub(crate) mod words;

pub use blame::{Blame, BlamedParagraph, BlamedWords, Seen, blame};
pub use difference::{Diff, Fallback, ParagraphDiff, WordEdit, WordOperation, diff, texts};
pub use explain::{explain, operations};
pub use identity::{carry_ids, carry_ids_by_marks};
pub use steps::STEPS_MAX;
pub(crate) use steps::Steps;
