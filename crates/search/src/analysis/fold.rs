//! Lower case without accents: `Élan` and `elan` are one word.

use std::sync::LazyLock;

use tantivy::tokenizer::{AsciiFoldingFilter, RawTokenizer, TextAnalyzer};

/// The Latin letters with a fold: Latin-1 to Latin Extended-B, and Latin Extended Additional.
const LATIN: [(u32, u32); 2] = [(0xC0, 0x250), (0x1E00, 0x1F00)];

/// A pure table, made at its first use.
static FOLDED: LazyLock<Vec<Vec<Box<str>>>> = LazyLock::new(|| {
    let mut analyzer = TextAnalyzer::builder(RawTokenizer::default()).filter(AsciiFoldingFilter).build();
    let mut fold = |code: u32| -> Box<str> {
        let letter: String = char::from_u32(code).into_iter().collect();
        let mut stream = analyzer.token_stream(&letter);
        let folded = if stream.advance() { stream.token().text.as_str() } else { "" };
        folded.to_lowercase().into()
    };
    LATIN.iter().map(|&(from, to)| (from..to).map(&mut fold).collect()).collect()
});

/// Appends a letter in lower case without its accents.
pub fn fold_into(letter: char, word: &mut String) {
    if letter.is_ascii() {
        word.push(letter.to_ascii_lowercase());
        return;
    }
    for lower in letter.to_lowercase() {
        if is_accent(lower) {
            continue;
        }
        match of_latin(lower) {
            Some(folded) => word.push_str(folded),
            None => word.push(of_others(lower)),
        }
    }
}

/// Marks that stand after the letter they belong to.
pub fn is_accent(letter: char) -> bool {
    matches!(letter, '\u{0300}'..='\u{036F}' | '\u{0591}'..='\u{05C7}' | '\u{064B}'..='\u{065F}' | '\u{1AB0}'..='\u{1AFF}'
        | '\u{20D0}'..='\u{20FF}')
}

fn of_latin(letter: char) -> Option<&'static str> {
    let code = u32::from(letter);
    let place = LATIN.iter().position(|&(from, to)| (from..to).contains(&code))?;
    Some(&FOLDED[place][(code - LATIN[place].0) as usize])
}

/// Greek vowels with a mark, the final sigma, and the Cyrillic letter that is often written without its dots.
fn of_others(letter: char) -> char {
    match letter {
        'ά' => 'α',
        'έ' => 'ε',
        'ή' => 'η',
        'ί' | 'ϊ' | 'ΐ' => 'ι',
        'ό' => 'ο',
        'ύ' | 'ϋ' | 'ΰ' => 'υ',
        'ώ' => 'ω',
        'ς' => 'σ',
        'ё' => 'е',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        let mut word = String::new();
        text.chars().for_each(|letter| fold_into(letter, &mut word));
        word
    }

    #[test]
    fn accents_and_capitals_make_no_other_word() {
        for (written, word) in [
            ("Élan", "elan"),
            ("e\u{301}lan", "elan"),
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("İstanbul", "istanbul"),
            ("Ωμέγας", "ωμεγασ"),
            ("Ёлка", "елка"),
            ("Việt", "viet"),
        ] {
            assert_eq!(folded(written), word);
        }
    }
}
