//! The difference of two versions for people, and the identity of paragraphs across versions.
//!
//! - `matching` pairs the paragraphs: every paragraph of both versions is in exactly one pairing. Paragraphs without an equal
//!   are matched in `unmatched`, by their words (`postings`, `similarity`, `word_marks`) and as parts (`splits`). `unrelated`
//!   finds those that match nothing.
//! - [`explain`] describes the result as operations with words, for the change feed. [`diff`] is complete, word by word, so
//!   that [`Diff::apply`] makes the new paragraphs from the old ones.
//! - [`carry_ids`] and [`carry_ids_by_marks`] pass the paragraph numbers of a page on from version to version.
//! - [`replica_steps`] is for programs that hold a copy of a page's paragraphs by their numbers.
//! - [`render`] shows a diff: as text, as source lines, as a safe page of HTML. JSON comes through serde.
//! - [`Blame`] finds the version that each paragraph and word of a page came from.
//!
//! Work is counted in steps and ends at `STEPS_MAX`. The rest is then shown as whole paragraphs, and [`Fallback`] says so.
//!
//! Order means nothing in a menu and little in a list. So items of one run of navigation or list items that only changed places
//! within the run are **one** move (the first of them, with the others listed), never many.

mod blame;
mod difference;
mod explain;
mod headings;
mod identity;
mod matching;
mod postings;
pub mod render;
mod replica;
mod similarity;
mod splits;
mod steps;
mod unchanged;
mod unmatched;
mod unrelated;
mod word_marks;
pub(crate) mod words;

pub use blame::{Blame, BlamedParagraph, BlamedWords, SeenVersion, blame};
pub use difference::{Diff, Fallback, ParagraphDiff, WordEdit, WordOperation, diff, texts};
pub use explain::{explain, operations};
pub use headings::heading_trails;
pub use identity::{carry_ids, carry_ids_by_marks};
pub use replica::{NumberedParagraph, ReplicaOperation, ReplicaStep, replay, replica_steps};
pub use steps::STEPS_MAX;
pub(crate) use steps::Steps;
pub use unchanged::{Reading, Unchanged, whole};
pub use words::text_of;
