//! Extracts the words of a document that may be topics: those of its title, its headings and the beginning of its text, and the
//! anchor texts of its links. Everything is limited, so that the cost does not grow with the length of the page.
//!
//! - [`page_terms`]: the terms of one document.
//! - [`words`]: text cut into words, in any script.
//! - [`Vocabulary`]: the number of pages with each word, and the words that may be topics.
//! - `stop_words`: words without meaning for topics, by language.
//!
//! There is no stemmer. Available stemmers support some fifteen languages, need to know the language, and merge words that people
//! want to distinguish. A topic that is split into singular and plural costs little, because a page is in several topics anyway.

mod page;
mod stop_words;
mod vocabulary;
mod words;

pub use page::{ANCHORS_MAX, WORDS_MAX, page_terms};
pub use vocabulary::{TopicLimits, VOCABULARY_MAX, Vocabulary};
pub use words::words;
