//! Cuts text into words. A word begins with a letter, goes on with letters and digits, and is in lower case. Text of
//! scripts without spaces is cut into pairs of characters, as search engines do.

/// Shorter words mean little, and longer ones are no words.
const LETTERS_MIN: usize = 3;
const LETTERS_MAX: usize = 32;

/// Calls `each` with every word. It returns whether to continue.
pub fn words(text: &str, mut each: impl FnMut(&str) -> bool) {
    let mut word = String::new();
    let mut letters = 0;
    let mut before: Option<char> = None;
    for letter in text.chars() {
        if is_ideograph(letter) {
            if !end(&mut word, &mut letters, &mut each) {
                return;
            }
            if let Some(first) = before.replace(letter) {
                word.extend([first, letter]);
                let goes_on = each(&word);
                word.clear();
                if !goes_on {
                    return;
                }
            }
            continue;
        }
        before = None;
        if letter.is_alphabetic() || is_mark(letter) || (letters > 0 && letter.is_numeric()) {
            letters += 1;
            // Words that are too long are measured and not kept.
            if letters <= LETTERS_MAX {
                word.extend(letter.to_lowercase());
            }
        } else if !end(&mut word, &mut letters, &mut each) {
            return;
        }
    }
    end(&mut word, &mut letters, &mut each);
}

fn end(word: &mut String, letters: &mut usize, each: &mut impl FnMut(&str) -> bool) -> bool {
    let goes_on = !(LETTERS_MIN..=LETTERS_MAX).contains(letters) || each(word);
    word.clear();
    *letters = 0;
    goes_on
}

/// Han characters: they are written without spaces, and a pair is about a word.
fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}')
}

/// Characters that belong to the letter before them (vowel signs of Indian scripts, combining accents).
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{0300}'..='\u{036F}' | '\u{0591}'..='\u{05C7}' | '\u{064B}'..='\u{065F}' | '\u{0900}'..='\u{0903}'
        | '\u{093A}'..='\u{094F}' | '\u{0981}'..='\u{0983}' | '\u{09BC}'..='\u{09CD}' | '\u{0BBE}'..='\u{0BCD}'
        | '\u{0E31}' | '\u{0E34}'..='\u{0E3A}' | '\u{0E47}'..='\u{0E4E}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        words(text, |word| {
            found.push(word.to_owned());
            true
        });
        found
    }

    #[test]
    fn words_of_many_scripts_are_told_apart() {
        assert_eq!(cut("The QUICK-brown fox, l'été; ab 2024 h264!"), ["the", "quick", "brown", "fox", "été", "h264"]);
        assert_eq!(cut("Größe ΑΘΉΝΑ Москва"), ["größe", "αθήνα", "москва"]);
        assert_eq!(cut("東京都の天気"), ["東京", "京都", "天気"]);
        assert_eq!(cut("हिन्दी भाषा"), ["हिन्दी", "भाषा"]);
    }

    #[test]
    fn what_is_too_long_is_no_word_and_nothing_follows_a_no() {
        let long = "x".repeat(LETTERS_MAX + 1);
        assert_eq!(cut(&format!("one {long} two")), ["one", "two"]);
        let mut seen = 0;
        words("one two three", |_| {
            seen += 1;
            seen < 2
        });
        assert_eq!(seen, 2);
    }

    proptest! {
        #[test]
        fn no_text_breaks_it_and_no_word_is_too_long(text in "\\PC{0,200}") {
            for word in cut(&text) {
                // One letter may become three in lower case.
                prop_assert!(!word.is_empty() && word.chars().count() <= 3 * LETTERS_MAX, "{}", word);
            }
        }
    }
}
