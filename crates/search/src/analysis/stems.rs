//! The stems of words, by language.

use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer};

/// The languages with a stemmer, by the first part of their BCP 47 tag.
const STEMMED: [(&str, Language); 20] = [
    ("ar", Language::Arabic),
    ("da", Language::Danish),
    ("de", Language::German),
    ("el", Language::Greek),
    ("en", Language::English),
    ("es", Language::Spanish),
    ("fi", Language::Finnish),
    ("fr", Language::French),
    ("hu", Language::Hungarian),
    ("it", Language::Italian),
    ("nb", Language::Norwegian),
    ("nl", Language::Dutch),
    ("nn", Language::Norwegian),
    ("no", Language::Norwegian),
    ("pt", Language::Portuguese),
    ("ro", Language::Romanian),
    ("ru", Language::Russian),
    ("sv", Language::Swedish),
    ("ta", Language::Tamil),
    ("tr", Language::Turkish),
];

/// The stemmer of one language.
#[derive(Clone)]
pub struct WordStemmer {
    analyzer: TextAnalyzer,
}

impl WordStemmer {
    /// `None` for a language without one.
    pub fn of(language: &str) -> Option<WordStemmer> {
        let (_, language) = STEMMED.iter().find(|(code, _)| *code == language)?;
        let builder = TextAnalyzer::builder(RawTokenizer::default()).filter(Stemmer::new(*language));
        Some(WordStemmer { analyzer: builder.build() })
    }

    pub fn stem(&mut self, word: &str) -> String {
        let mut stream = self.analyzer.token_stream(word);
        if stream.advance() { stream.token().text.clone() } else { String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem_in_their_language() {
        let mut english = WordStemmer::of("en").unwrap();
        assert_eq!(english.stem("connections"), english.stem("connected"));
        let mut german = WordStemmer::of("de").unwrap();
        assert_eq!(german.stem("hauser"), german.stem("hausern"));
        assert!(WordStemmer::of("zh").is_none());
    }
}
