//! Words that an event added or removed.

use schemars::JsonSchema;
use serde::Deserialize;
use vernal_model::ParagraphChange;

use super::answer::ApiError;

/// Words and phrases of one question.
const WORDS_MAX: usize = 32;

/// Words and phrases, all of which must have come, or gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordsAsked {
    phrases: Vec<String>,
    side: WordsSide,
}

/// Whether words came or went.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WordsSide {
    Added,
    Removed,
    #[default]
    Either,
}

impl WordsAsked {
    /// Reads words, and phrases between quotation marks.
    pub fn read(text: &str, side: WordsSide) -> Result<WordsAsked, ApiError> {
        let mut phrases = Vec::new();
        for (place, part) in text.split('"').enumerate() {
            let is_quoted = place % 2 == 1;
            match is_quoted {
                true => phrases.push(folded(part)),
                false => phrases.extend(part.split_whitespace().map(folded)),
            }
        }
        phrases.retain(|phrase| phrase.trim() != "");
        if text.matches('"').count() % 2 == 1 {
            return Err(ApiError::bad_request(format!("`{text}` has a quotation mark that is not closed")));
        }
        if phrases.is_empty() || phrases.len() > WORDS_MAX {
            return Err(ApiError::bad_request(format!("give from 1 to {WORDS_MAX} words")));
        }
        Ok(WordsAsked { phrases, side })
    }

    /// Whether the event has more of each of them after than before, or less. Words that only moved did neither.
    pub fn are_in(&self, paragraphs: &[ParagraphChange]) -> bool {
        let side = |texts: fn(&ParagraphChange) -> Option<&str>| -> Vec<String> {
            paragraphs.iter().filter_map(texts).map(folded).collect()
        };
        let (before, after) = (side(|one| one.before.as_deref()), side(|one| one.after.as_deref()));
        let counts =
            |texts: &[String], phrase: &str| -> usize { texts.iter().map(|text| occurrences(text, phrase)).sum() };
        self.phrases.iter().all(|phrase| {
            let (was, is) = (counts(&before, phrase), counts(&after, phrase));
            match self.side {
                WordsSide::Added => is > was,
                WordsSide::Removed => is < was,
                WordsSide::Either => is != was,
            }
        })
    }
}

/// The words of a text in small letters, each between two spaces.
fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len() + 2);
    folded.push(' ');
    for letter in text.chars().flat_map(char::to_lowercase) {
        if letter.is_alphanumeric() {
            folded.push(letter);
        } else if !folded.ends_with(' ') {
            folded.push(' ');
        }
    }
    if !folded.ends_with(' ') {
        folded.push(' ');
    }
    folded
}

/// How often a phrase stands in a text. Where words are not divided by spaces it may begin and end within one.
fn occurrences(text: &str, phrase: &str) -> usize {
    let phrase = if phrase.chars().any(is_undivided) { phrase.trim() } else { phrase };
    let (mut found, mut from) = (0, 0);
    while let Some(at) = text[from..].find(phrase) {
        found += 1;
        // The space behind one word is the one before the next.
        from += at + phrase.trim_end().len();
    }
    found
}

/// Letters of scripts that put no spaces between words: Thai to Khmer, kana, Han.
fn is_undivided(letter: char) -> bool {
    matches!(letter, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use vernal_model::{Operation, Role};

    use super::*;

    fn paragraph(before: Option<&str>, after: Option<&str>) -> ParagraphChange {
        ParagraphChange {
            operation: Operation::Edited,
            id: 1,
            digest: 0,
            role: Role::Main,
            headings: Vec::new(),
            position: 0,
            from: None,
            others: Vec::new(),
            before: before.map(Box::from),
            after: after.map(Box::from),
        }
    }

    fn has(words: &str, side: WordsSide, paragraphs: &[ParagraphChange]) -> bool {
        WordsAsked::read(words, side).unwrap().are_in(paragraphs)
    }

    #[test]
    fn words_are_added_only_where_there_are_more_of_them_than_before() {
        let edited = [paragraph(Some("The fee is due. Pay here."), Some("The old fee is due; pay the fee there."))];
        assert!(has("fee", WordsSide::Added, &edited) && !has("fee", WordsSide::Removed, &edited));
        assert!(has("OLD there", WordsSide::Added, &edited) && has("here", WordsSide::Removed, &edited));
        assert!(!has("due", WordsSide::Either, &edited), "it stands there as before");
        assert!(!has("ol", WordsSide::Added, &edited), "a part of a word is no word");
        assert!(has("\"old fee\"", WordsSide::Added, &edited) && !has("\"fee old\"", WordsSide::Added, &edited));
        assert!(!has("old here", WordsSide::Added, &edited), "each of them");
        let moved = [paragraph(Some("Price list"), None), paragraph(None, Some("The price list"))];
        assert!(!has("price", WordsSide::Either, &moved), "it only moved");
        assert!(has("the", WordsSide::Added, &moved));
        let twice = [paragraph(Some("no no"), Some("no no no"))];
        assert!(has("no", WordsSide::Added, &twice), "the space between two words counts for both");
    }

    #[test]
    fn words_of_scripts_without_spaces_are_found_within_a_run() {
        let chinese = [paragraph(Some("价格是三元"), Some("新价格是四元"))];
        assert!(has("四元", WordsSide::Added, &chinese) && has("三元", WordsSide::Removed, &chinese));
        assert!(!has("价格", WordsSide::Either, &chinese));
    }

    #[test]
    fn what_has_no_words_is_refused() {
        for text in ["", "  ", "\"open", "!!", "\"\"", &"a ".repeat(33)] {
            assert_eq!(WordsAsked::read(text, WordsSide::Either).unwrap_err().status.as_u16(), 400, "{text}");
        }
    }
}
