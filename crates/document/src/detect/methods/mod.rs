//! The methods of change detection side by side, each alone: those of paper 003 (section 4), and ours.
//!
//! - `method`: the seam. Two bodies go in; whether they differ, where, and what it cost come out.
//! - `tree`: the document tree, compared level by level (4.1.1.1).
//! - `fingerprint`: the first and last letters of the opening tags (4.1.1.2).
//! - `letters`: root mean square and weighted checksum, of the page and of its paragraphs (4.1.2).
//! - `words`: what was found, in one line.
//!
//! The crawl uses our method, which compares stored signatures. The others are run when somebody asks.

mod fingerprint;
mod letters;
mod method;
mod tree;
mod words;

pub use fingerprint::{FingerprintFound, LETTERS_SHOWN_MAX, Parting};
pub use letters::{LettersFound, Numbers, PARAGRAPHS_SHOWN_MAX, ParagraphNumbers};
pub use method::{Cost, Found, Method, MethodVerdict, PaperVerdicts, VernalFound, paper_verdicts};
pub use tree::{LEVELS_SHOWN_MAX, Sides, TreeFound, TreePlace};
