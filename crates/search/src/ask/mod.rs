//! An expression becomes hits.
//!
//! - `answer`: what is asked, and what is answered.
//! - `forms`: the words of the index that a word of the query stands for.
//! - `compiled`: the expression with its words, as a query of the index.
//! - `excluded`: what must not fit.
//! - `gather`: the best units, how many there are, and how they divide by site, language, month and kind.
//! - `matcher`: the same expression held against the words of one text, with the places of its words.
//! - `excerpt`: the part of a text that is shown.
//! - `current`, `past`, `held_at`: hits on pages, on removed paragraphs, and on what was held at a time.
//! - `like`: other pages with the words of one.

pub mod answer;
mod compiled;
mod current;
pub mod excerpt;
mod excluded;
mod forms;
mod gather;
mod held_at;
mod like;
pub mod matcher;
mod past;
mod search;
