//! Letters that turn the direction of text are shown as escapes, so that a line on a terminal says what its bytes say.

use std::borrow::Cow;
use std::fmt::Write;

use crate::diff::render::turns_direction;

/// The text with such letters as `\u202e`, which means the same letter inside JSON.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(turns_direction) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if turns_direction(letter) {
            let _ = write!(shown, "\\u{:04x}", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_turn_the_direction_are_escaped_and_json_still_means_the_same() {
        let all = "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{200e}\u{200f}\u{61c}";
        let text = format!("invoice{all}fdp.exe שלום ünï");
        let shown = escaped(&text);
        assert!(!shown.chars().any(turns_direction) && shown.starts_with("invoice\\u202a\\u202b"), "{shown}");
        assert!(shown.ends_with("\\u061cfdp.exe שלום ünï"));
        let json = serde_json::to_string(&text).unwrap();
        assert_eq!(serde_json::from_str::<String>(&escaped(&json)).unwrap(), text);
        assert!(matches!(escaped("שלום ünï"), Cow::Borrowed(_)));
    }
}
