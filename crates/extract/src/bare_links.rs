//! Finds addresses in running text that nobody made links of.

use std::ops::Range;

/// Further addresses of one run of text are left as words.
const FOUND_MAX: usize = 1_000;

/// Longer words are data and no addresses.
const WORD_BYTES_MAX: usize = 2_048;

/// One word holds few addresses.
const FOUND_IN_WORD_MAX: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BareLink {
    pub range: Range<usize>,
    pub target: String,
}

/// The addresses of a text, in order and without overlaps.
pub fn bare_links(text: &str) -> Vec<BareLink> {
    let mut found = Vec::new();
    // Nearly all text has none.
    if !text.contains("://") && !text.contains("www.") {
        return found;
    }
    let mut from = 0;
    for word in text.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        if word.len() <= WORD_BYTES_MAX && (word.contains("://") || word.contains("www.")) {
            in_word(word, from, &mut found);
        }
        from += word.len();
        from += text[from..].chars().next().map_or(0, char::len_utf8);
        if found.len() >= FOUND_MAX {
            break;
        }
    }
    found
}

fn in_word(word: &str, offset: usize, found: &mut Vec<BareLink>) {
    const BEGINNINGS: [&str; 4] = ["https://", "http://", "ftp://", "www."];
    let mut from = 0;
    for _ in 0..FOUND_IN_WORD_MAX {
        let first = BEGINNINGS.iter().filter_map(|&beginning| Some((word[from..].find(beginning)?, beginning))).min();
        let Some((before, beginning)) = first else { return };
        let start = from + before;
        let named = start + beginning.len();
        let end = named.max(start + length(&word[start..]));
        from = end;
        let stands_alone = word[..start].chars().next_back().is_none_or(|before| !before.is_alphanumeric());
        let name = &word[named..end];
        if stands_alone && name.contains('.') && name.starts_with(char::is_alphanumeric) {
            let scheme = if beginning == "www." { "http://" } else { "" };
            let target = format!("{scheme}{}", &word[start..end]);
            found.push(BareLink { range: offset + start..offset + end, target });
        }
    }
}

/// How long the address is. What ends a sentence does not belong to it, nor does a bracket that was not opened inside.
fn length(text: &str) -> usize {
    let ends = |letter: char| {
        letter.is_whitespace()
            || letter.is_control()
            || matches!(
                letter,
                '<' | '>' | '"' | '“' | '”' | '«' | '»' | '‘' | '’' | '|' | '\\' | '^' | '`' | '{' | '}'
            )
    };
    let mut end = text.find(ends).unwrap_or(text.len());
    while let Some(last) = text[..end].chars().next_back() {
        let address = &text[..end];
        let is_open = |open: char| address.matches(open).count() >= address.matches(last).count();
        let belongs = match last {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '…' => false,
            ')' => is_open('('),
            ']' => is_open('['),
            _ => true,
        };
        if belongs {
            break;
        }
        end -= last.len_utf8();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_end_where_the_sentence_goes_on() {
        for (text, expected) in [
            ("see https://a.example/x.", &["https://a.example/x"][..]),
            ("(at www.a.example)", &["http://www.a.example"]),
            ("http://a.example/b_(c), ftp://f.example/d", &["http://a.example/b_(c)", "ftp://f.example/d"]),
            ("http:// and www. are none, awww.a.example neither", &[]),
            ("„https://ä.example/ö“", &["https://ä.example/ö"]),
        ] {
            let targets: Vec<String> = bare_links(text).into_iter().map(|link| link.target).collect();
            assert_eq!(targets, expected, "{text}");
        }
    }

    #[test]
    fn a_text_of_nothing_but_beginnings_costs_no_more_than_its_length() {
        let text = "www.http://".repeat(20_000);
        assert!(bare_links(&text).len() <= FOUND_MAX);
    }
}
