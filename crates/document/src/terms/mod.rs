//! The words of a document that may be topics: those of its title, its headings and the beginning of its text, and what
//! its links call other pages. Everything is limited, so that the cost of a page does not grow with its length.
//!
//! - [`page_terms`]: the terms of one document.
//! - [`words`]: text cut into words, in any script.
//! - [`Vocabulary`]: on how many pages each word stands, and which words are fit to be topics.
//! - `stop_words`: words that say nothing, by language.
//!
//! There is no stemmer. The stemmers to be had know some fifteen languages, need to be told which one, and fold words
//! that people want to see told apart; a topic that falls into a singular and a plural costs little, since a page is in
//! several topics anyway.

mod page;
mod stop_words;
mod vocabulary;
mod words;

pub use page::{ANCHORS_MAX, WORDS_MAX, page_terms};
pub use vocabulary::{Fit, VOCABULARY_MAX, Vocabulary};
pub use words::words;
