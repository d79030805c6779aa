//! Letters become words.

use super::letters::{Letter, LetterText, Mark};

/// A gap wider than this part of the letters' size is a space.
const SPACE_FROM: f32 = 0.16;

/// Letters go back at most so far within a word, in parts of their size. Accents do, and so does tight setting.
const BACK_MAX: f32 = 0.45;

/// A word of one line.
#[derive(Clone, Debug)]
pub struct Word {
    pub text: String,
    pub start: f32,
    pub end: f32,
    /// The line on which it stands.
    pub down: f32,
    pub size: f32,
    pub mark: Mark,
    /// Its link, by number.
    pub link: Option<u32>,
    /// A space was written before it, so that it is no part of the word before.
    pub spaced: bool,
}

/// The words of one direction, in the order in which they were drawn.
pub fn words_of(letters: &[Letter], link_at: &dyn Fn(f32, f32) -> Option<u32>) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut is_open = false;
    let mut spaced = true;
    for letter in letters {
        if is_space(&letter.text) {
            is_open = false;
            spaced = true;
            continue;
        }
        let end = letter.along + letter.advance;
        let continued = words.last_mut().filter(|word| is_open && goes_on(word, letter));
        if let Some(word) = continued {
            push(&mut word.text, &letter.text);
            word.end = word.end.max(end);
        } else {
            let mut text = String::new();
            push(&mut text, &letter.text);
            words.push(Word {
                text,
                start: letter.along,
                end,
                down: letter.down,
                size: letter.size,
                mark: letter.mark,
                link: link_at(letter.x + letter.advance * 0.3, letter.y - letter.size * 0.3),
                spaced,
            });
        }
        (is_open, spaced) = (true, false);
    }
    words
}

/// Joins words that were drawn apart and stand together. They are sorted by their start and lie on one line.
pub fn joined(words: Vec<Word>) -> Vec<Word> {
    let mut all: Vec<Word> = Vec::with_capacity(words.len());
    for word in words {
        let joins = all.last().is_some_and(|last| {
            let gap = word.start - last.end;
            let size = last.size.max(word.size);
            !word.spaced && gap < SPACE_FROM * 0.6 * size && gap > -BACK_MAX * size && last.link == word.link
        });
        match all.last_mut() {
            Some(last) if joins => {
                last.text.push_str(&word.text);
                last.end = last.end.max(word.end);
                last.size = last.size.max(word.size);
            }
            _ => all.push(word),
        }
    }
    all
}

fn goes_on(word: &Word, letter: &Letter) -> bool {
    let size = word.size.min(letter.size);
    let gap = letter.along - word.end;
    let same_line = (letter.down - word.down).abs() < 0.2 * size;
    let same_size = letter.size < word.size * 1.6 && word.size < letter.size * 1.6;
    same_line && same_size && gap < SPACE_FROM * size && gap > -BACK_MAX * size && letter.mark == word.mark
}

fn is_space(text: &LetterText) -> bool {
    match text {
        LetterText::One(letter) => letter.is_whitespace(),
        LetterText::More(text) => text.trim().is_empty(),
    }
}

fn push(text: &mut String, letter: &LetterText) {
    match letter {
        LetterText::One(one) => text.push(*one),
        LetterText::More(more) => text.push_str(more),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(text: &str, spacing: f32) -> Vec<Letter> {
        let mut along = 0.0;
        let letter = |character| {
            let letter = Letter {
                text: LetterText::One(character),
                along,
                down: 100.0,
                advance: 5.0,
                size: 10.0,
                turn: 0,
                mark: Mark::None,
                x: along,
                y: 100.0,
            };
            along += 5.0 + spacing;
            letter
        };
        text.chars().map(letter).collect()
    }

    fn texts(letters: &[Letter]) -> Vec<String> {
        words_of(letters, &|_, _| None).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn a_gap_or_a_space_parts_words() {
        assert_eq!(texts(&letters("two words", 0.0)), ["two", "words"]);
        assert_eq!(texts(&letters("ab", 3.0)), ["a", "b"]);
        assert_eq!(texts(&letters("ab", 0.5)), ["ab"]);
        let mut other_line = letters("ab", 0.0);
        other_line[1].down = 112.0;
        assert_eq!(texts(&other_line), ["a", "b"]);
    }
}
