//! Cuts text into words. Letters, digits and their marks make a word. Text of scripts without spaces becomes overlapping pairs
//! of characters, and its last character stands once more for itself, so that a single character is found by its prefix.

use std::ops::Range;

use super::fold::{fold_into, is_accent};

/// The rest of a longer word is not kept: no one types it, and a page could fill the index with it.
pub const WORD_BYTES_MAX: usize = 64;

/// Walks over the words of a text.
pub struct Words<'t> {
    text: &'t str,
    at: usize,
    /// The last character of a run without spaces, and where it begins.
    last: Option<(char, usize)>,
}

#[derive(PartialEq, Eq)]
enum Class {
    Letter,
    Unspaced,
    Other,
}

impl<'t> Words<'t> {
    pub fn of(text: &'t str) -> Self {
        Words { text, at: 0, last: None }
    }

    /// Fills `word` with the next word and returns where it is written. `None` at the end.
    pub fn next_into(&mut self, word: &mut String) -> Option<Range<usize>> {
        word.clear();
        loop {
            if let Some((first, start)) = self.last.take() {
                return Some(self.pair(first, start, word));
            }
            let letter = self.peek()?;
            let start = self.at;
            self.at += letter.len_utf8();
            match class(letter) {
                Class::Unspaced => self.last = Some((letter, start)),
                Class::Letter if !is_accent(letter) => {
                    fold_into(letter, word);
                    self.rest_of_word(word);
                    if !word.is_empty() {
                        return Some(start..self.at);
                    }
                }
                Class::Letter | Class::Other => {}
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn pair(&mut self, first: char, start: usize, word: &mut String) -> Range<usize> {
        fold_into(first, word);
        if let Some(second) = self.peek().filter(|letter| class(*letter) == Class::Unspaced) {
            fold_into(second, word);
            self.last = Some((second, self.at));
            self.at += second.len_utf8();
        }
        start..self.at
    }

    /// Letters and digits of ASCII, which most words are made of, need no look at each character.
    fn ascii_run(&mut self, word: &mut String) {
        let rest = &self.text[self.at..];
        let run = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let begins = word.len();
        word.push_str(&rest[..run.min(WORD_BYTES_MAX.saturating_sub(begins))]);
        word[begins..].make_ascii_lowercase();
        self.at += run;
    }

    fn rest_of_word(&mut self, word: &mut String) {
        self.ascii_run(word);
        while let Some(letter) = self.peek().filter(|letter| class(*letter) == Class::Letter) {
            self.at += letter.len_utf8();
            if word.len() < WORD_BYTES_MAX {
                fold_into(letter, word);
            }
        }
    }
}

/// All words of a short text, with the place of each.
pub fn words(text: &str) -> Vec<(String, Range<usize>)> {
    let (mut all, mut walk, mut word) = (Vec::new(), Words::of(text), String::new());
    while let Some(place) = walk.next_into(&mut word) {
        all.push((word.clone(), place));
    }
    all
}

/// Whether a word is of a script without spaces.
pub fn is_unspaced(word: &str) -> bool {
    word.chars().next().is_some_and(|letter| class(letter) == Class::Unspaced)
}

fn class(letter: char) -> Class {
    match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Class::Letter,
        '\0'..='\x7F' => Class::Other,
        // Han, kana, hangul, Thai, Lao, Burmese and Khmer.
        '\u{3040}'..='\u{30FF}'
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{323AF}'
        | '\u{0E00}'..='\u{0EFF}'
        | '\u{1000}'..='\u{109F}'
        | '\u{1780}'..='\u{17FF}' => Class::Unspaced,
        _ if letter.is_alphanumeric() || is_accent(letter) || is_vowel_sign(letter) => Class::Letter,
        _ => Class::Other,
    }
}

/// Signs of Indian scripts that belong to the letter before them.
fn is_vowel_sign(letter: char) -> bool {
    matches!(letter, '\u{0900}'..='\u{0963}' | '\u{0981}'..='\u{0983}' | '\u{09BC}'..='\u{09D7}' | '\u{0A01}'..='\u{0DF3}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(text: &str) -> Vec<String> {
        words(text).into_iter().map(|(word, _)| word).collect()
    }

    #[test]
    fn words_are_letters_and_digits_and_pairs_where_there_are_no_spaces() {
        assert_eq!(list("The Café, at 10:30 (it's)"), ["the", "cafe", "at", "10", "30", "it", "s"]);
        assert_eq!(list("日本語 ok"), ["日本", "本語", "語", "ok"]);
        assert_eq!(list("x漢y"), ["x", "漢", "y"]);
        assert_eq!(list("हिन्दी"), ["हिन्दी"]);
        assert_eq!(list("\u{301}\0\u{202e}—"), Vec::<String>::new());
    }

    #[test]
    fn a_word_without_end_is_cut() {
        let all = list(&"ä".repeat(1_000_000));
        assert_eq!(all.len(), 1);
        assert!(all[0].len() <= WORD_BYTES_MAX + 4);
    }

    proptest! {
        #[test]
        fn places_are_in_the_text_and_in_order(text in "\\PC{0,60}|[a-c日本ก \u{301}\u{0}]{0,40}") {
            let mut before = 0;
            for (word, place) in words(&text) {
                prop_assert!(!word.is_empty());
                prop_assert!(text.get(place.clone()).is_some_and(|written| !written.is_empty()));
                prop_assert!(place.start >= before);
                before = place.start;
            }
        }
    }
}
