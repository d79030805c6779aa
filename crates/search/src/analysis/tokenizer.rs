//! The words of a text as the index library takes them.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::words::Words;

/// The name under which the index knows this tokenizer.
pub const NAME: &str = "vernal";

#[derive(Clone, Default)]
pub struct WordTokenizer {
    token: Token,
}

pub struct WordStream<'a> {
    words: Words<'a>,
    token: &'a mut Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { words: Words::of(text), token: &mut self.token }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        self.token.position = self.token.position.wrapping_add(1);
        match self.words.next_into(&mut self.token.text) {
            Some(place) => {
                (self.token.offset_from, self.token.offset_to) = (place.start, place.end);
                true
            }
            None => false,
        }
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
