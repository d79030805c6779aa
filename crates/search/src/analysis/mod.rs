//! Text becomes words: Unicode words in lower case without accents, and pairs of characters in scripts that have no spaces.
//!
//! The index holds words as they are written. Stems are applied to the question: a word of it stands for all words of the
//! index with the same stem (see `ask::forms`). So quotes can ask for exact words and prefixes for any letters, and a wrongly
//! detected language loses nothing.

pub mod fold;
pub mod language;
pub mod stems;
pub mod tokenizer;
pub mod words;
