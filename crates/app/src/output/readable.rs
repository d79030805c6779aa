//! URLs as people read them: letters of every script instead of their percent-encoded bytes.

use vernal_model::Url;

/// A URL with its percent-encoded letters decoded; any other text as it is. What is shown can be given back: it means the same
/// URL. JSON never shows this form.
pub fn readable(text: &str) -> String {
    if !text.contains('%') || !text.contains("://") {
        return text.to_owned();
    }
    let shown = decoded(text);
    let is_same = shown != text && Url::parse(&shown).is_ok_and(|url| url.as_str() == text);
    if is_same { shown } else { text.to_owned() }
}

/// Decodes runs of encoded bytes where they are letters that cannot be mistaken for anything else.
fn decoded(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        shown.push_str(&rest[..at]);
        let run = encoded_run(&rest[at..]);
        if run.is_empty() {
            shown.push('%');
            rest = &rest[at + 1..];
            continue;
        }
        for part in run.utf8_chunks() {
            part.valid().chars().for_each(|letter| push(letter, &mut shown));
            part.invalid().iter().for_each(|byte| push_encoded(*byte, &mut shown));
        }
        rest = &rest[at + 3 * run.len()..];
    }
    shown.push_str(rest);
    shown
}

/// The bytes of the run of `%XX` that a text begins with.
fn encoded_run(text: &str) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes().chunks(3).map_while(|part| match part.first() {
        Some(b'%') => Some((digit(part.get(1))? * 16 + digit(part.get(2))?) as u8),
        _ => None,
    });
    bytes.collect()
}

fn push(letter: char, shown: &mut String) {
    if is_plain(letter) {
        shown.push(letter);
        return;
    }
    letter.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| push_encoded(byte, shown));
}

fn push_encoded(byte: u8, shown: &mut String) {
    shown.push_str(&format!("%{byte:02X}"));
}

/// Whether a letter may stand for its bytes. ASCII stays encoded, because what was encoded there may be a delimiter; so do
/// control characters, spaces of every kind, and letters that turn the direction of text or are not seen at all.
fn is_plain(letter: char) -> bool {
    let is_hidden = matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{ffff}' | '\u{e000}'..='\u{f8ff}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{10ffff}');
    !letter.is_ascii() && !letter.is_control() && !letter.is_whitespace() && !is_hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_shown_and_what_could_mislead_stays_encoded() {
        for (url, shown) in [
            ("http://a.example/gro%C3%9Fe-stra%C3%9Fe/%C3%BCn%C3%AF", "http://a.example/große-straße/ünï"),
            ("http://a.example/2024/%E4%BD%A0%E5%A5%BD/", "http://a.example/2024/你好/"),
            ("http://a.example/a%2Fb%3Fc%23d%25e%20f", "http://a.example/a%2Fb%3Fc%23d%25e%20f"),
            ("http://a.example/%C3%BC%2F%C3%BC", "http://a.example/ü%2Fü"),
            ("http://a.example/%E2%80%AEgnp.exe", "http://a.example/%E2%80%AEgnp.exe"),
            ("http://a.example/%C2%A0%C2%85%E2%80%8B", "http://a.example/%C2%A0%C2%85%E2%80%8B"),
            ("http://a.example/%FF%C3%BC%C3", "http://a.example/%FFü%C3"),
            ("http://a.example/?q=%E4%BD%A0&r=%26", "http://a.example/?q=你&r=%26"),
            ("no URL: 100%C3%BC", "no URL: 100%C3%BC"),
        ] {
            assert_eq!(readable(url), shown);
        }
    }

    #[test]
    fn what_is_shown_means_the_same_url() {
        let letters =
            ["a", "/", "%", "ä", "你", "\u{202e}", "\u{a0}", " ", "?", "&", "=", "#", ".", "%2F", "%ff", "e\u{301}"];
        for first in letters {
            for second in letters {
                for third in letters {
                    let Ok(url) = Url::parse(&format!("http://a.example/x{first}{second}{third}")) else { continue };
                    let shown = readable(url.as_str());
                    assert_eq!(Url::parse(&shown).unwrap(), url);
                    assert!(!shown.chars().any(|letter| letter.is_control() || letter == '\u{202e}'), "{shown}");
                }
            }
        }
    }
}
