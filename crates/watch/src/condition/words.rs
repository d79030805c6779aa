//! Words and patterns, compiled to automata whose time is linear in the text, and looked for in what came or went.

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};

use super::when::{Side, When};

/// Words and phrases of one watch.
pub const WORDS_MAX: usize = 200;
/// One word or phrase.
const WORD_BYTES_MAX: usize = 200;
/// A pattern as it is written.
pub const PATTERN_BYTES_MAX: usize = 1 << 10;
/// A pattern as it is compiled; beyond this it is refused.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// What is looked for, compiled.
#[derive(Clone, Debug)]
pub struct Words {
    patterns: Vec<Regex>,
    side: Side,
}

impl Words {
    /// `None` where nothing is looked for. The error says what is wrong with a word or a pattern.
    pub fn compile(when: &When) -> Result<Option<Words>, String> {
        if when.words.len() > WORDS_MAX {
            return Err(format!("{} words are too many: a watch has at most {WORDS_MAX}", when.words.len()));
        }
        let mut patterns = Vec::new();
        if !when.words.is_empty() {
            let words = when.words.iter().map(|word| pattern_of(word)).collect::<Result<Vec<String>, String>>()?;
            patterns.push(compiled(&words.join("|"), true)?);
        }
        if let Some(pattern) = &when.regex {
            if pattern.is_empty() || pattern.len() > PATTERN_BYTES_MAX {
                return Err(format!("a pattern has 1 to {PATTERN_BYTES_MAX} bytes"));
            }
            let compiled = compiled(pattern, false)?;
            if compiled.is_match("") {
                return Err(format!("the pattern `{pattern}` matches the empty text, and so every change"));
            }
            patterns.push(compiled);
        }
        Ok((!patterns.is_empty()).then_some(Words { patterns, side: when.r#in }))
    }

    /// Whether what is looked for came or went between the two texts of a paragraph.
    pub fn are_in(&self, before: Option<&str>, after: Option<&str>) -> bool {
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        match self.side {
            Side::Paragraph => self.stand_in(before) || self.stand_in(after),
            Side::Added => self.more_in(after, before),
            Side::Removed => self.more_in(before, after),
            Side::Either => self.more_in(after, before) || self.more_in(before, after),
        }
    }

    /// Whether one of them stands in the text.
    pub fn stand_in(&self, text: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.is_match(text))
    }

    /// Whether something that is looked for stands more often in the first text.
    fn more_in(&self, text: &str, other: &str) -> bool {
        if !self.stand_in(text) {
            return false;
        }
        let (counts, others) = (self.counts(text), self.counts(other));
        counts.iter().any(|(found, count)| others.get(found).is_none_or(|other| other < count))
    }

    fn counts(&self, text: &str) -> HashMap<String, usize> {
        let mut counts = HashMap::new();
        for found in self.patterns.iter().flat_map(|pattern| pattern.find_iter(text)) {
            *counts.entry(found.as_str().to_lowercase()).or_default() += 1;
        }
        counts
    }
}

fn compiled(pattern: &str, is_of_words: bool) -> Result<Regex, String> {
    let built = RegexBuilder::new(pattern).case_insensitive(is_of_words).size_limit(COMPILED_BYTES_MAX).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => format!("the pattern `{pattern}` becomes too large"),
        error => {
            // The last line of the library's picture says what is wrong.
            let told = error.to_string();
            let what = told.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            format!("`{pattern}` is no pattern: {what}")
        }
    })
}

/// A word stands whole, except that `*` at its end stands for any ending. Blanks in a phrase are any white space. Scripts
/// that write no blanks between words have no whole words.
fn pattern_of(word: &str) -> Result<String, String> {
    let (text, is_prefix) = match word.trim().strip_suffix('*') {
        Some(text) => (text.trim_end(), true),
        None => (word.trim(), false),
    };
    if text.is_empty() || text.len() > WORD_BYTES_MAX {
        return Err(format!("`{word}` is no word: give 1 to {WORD_BYTES_MAX} bytes"));
    }
    let parts: Vec<String> = text.split_whitespace().map(regex::escape).collect();
    let edge = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() && !is_unspaced(letter));
    let begin = if edge(text.chars().next()) { r"\b" } else { "" };
    let end = if !is_prefix && edge(text.chars().last()) { r"\b" } else { "" };
    Ok(format!("(?:{begin}{}{end})", parts.join(r"\s+")))
}

/// Letters of scripts that write no blanks between words: Thai, Lao, Khmer, Kana and Han.
fn is_unspaced(letter: char) -> bool {
    matches!(u32::from(letter), 0x0E00..=0x0EFF | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str], side: Side) -> Words {
        let when = When { words: words.iter().map(|word| (*word).to_owned()).collect(), r#in: side, ..When::default() };
        Words::compile(&when).unwrap().unwrap()
    }

    #[test]
    fn a_word_stands_whole_in_any_case_and_a_star_stands_for_any_ending() {
        let budget = words(&["Budget", "public debt"], Side::Added);
        let added = |text: &str| budget.are_in(None, Some(text));
        assert!(added("the BUDGET, again") && added("the public\n  debt"));
        assert!(!added("budgets") && !added("republic debt") && !added(""));
        assert!(words(&["budget*"], Side::Added).are_in(None, Some("Budgets rise")));
        assert!(words(&["预算"], Side::Added).are_in(None, Some("政府预算案")));
        assert!(words(&["€"], Side::Added).are_in(None, Some("9€")));
    }

    #[test]
    fn only_words_that_came_or_went_count_unless_the_paragraph_is_asked_for() {
        let (before, after) = (Some("the budget is 5"), Some("the budget is 6"));
        for side in [Side::Added, Side::Removed, Side::Either] {
            assert!(!words(&["budget"], side).are_in(before, after), "{side:?}");
        }
        assert!(words(&["budget"], Side::Paragraph).are_in(before, after));
        assert!(words(&["6"], Side::Added).are_in(before, after));
        assert!(!words(&["6"], Side::Removed).are_in(before, after));
        assert!(words(&["5"], Side::Either).are_in(before, after));
    }

    #[test]
    fn a_pattern_is_linear_small_and_never_empty() {
        let compile = |pattern: &str| {
            Words::compile(&When { regex: Some(pattern.into()), ..When::default() }).map(|words| words.unwrap())
        };
        let price = compile(r"€ ?\d+").unwrap();
        assert!(price.are_in(Some("€ 5 now"), Some("€ 6 now")) && !price.are_in(Some("€ 5 then"), Some("€ 5 now")));
        for wrong in ["(", "x*", "", r"(?P<a>x)\1", "((a{1000}){1000})"] {
            assert!(compile(wrong).is_err(), "{wrong}");
        }
        assert!(compile(&"x".repeat(PATTERN_BYTES_MAX + 1)).is_err());
        // A pattern that takes exponential time where it is tried by going back.
        let slow = compile("(x+x+)+y").unwrap();
        assert!(!slow.stand_in(&"x".repeat(100_000)));
    }
}
