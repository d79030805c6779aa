//! The pattern of a URL: its path with digits and hexadecimal runs replaced by `#`, and the names of its parameters.
//! `/shop/item-17?page=3&sort=up` has the pattern `/shop/item-#?page&sort`.

use vernal_model::Url;

use super::rules::parameters;

/// The site and the pattern of a URL, in one text.
pub(super) fn key_of(url: &Url) -> String {
    let mut key = String::with_capacity(url.as_str().len());
    key.push_str(url.site_text());
    for segment in url.path().split('/').skip(1) {
        key.push('/');
        fold(&mut key, segment);
    }
    let mut names: Vec<&str> = parameters(url).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    for (place, name) in names.into_iter().enumerate() {
        key.push(if place == 0 { '?' } else { '&' });
        fold(&mut key, name);
    }
    key
}

/// Writes `#` for a run of digits, and for a run of eight or more hexadecimal digits with a decimal one among them.
fn fold(out: &mut String, text: &str) {
    const HEX_RUN_MIN: usize = 8;
    // Each cut lies next to an ASCII letter or digit, so no character of several bytes is cut in two.
    let mut rest = text;
    while !rest.is_empty() {
        let hex_end = end_of(rest, u8::is_ascii_hexdigit);
        let digits_end = end_of(rest, u8::is_ascii_digit);
        let letters_end = end_of(&rest[..hex_end], |byte| !byte.is_ascii_digit());
        let (folded, kept) = if hex_end >= HEX_RUN_MIN && letters_end < hex_end {
            (hex_end, 0)
        } else if digits_end > 0 {
            (digits_end, 0)
        } else if hex_end > 0 {
            (0, letters_end)
        } else {
            (0, end_of(rest, |byte| !byte.is_ascii_hexdigit()))
        };
        if folded > 0 {
            out.push('#');
        }
        out.push_str(&rest[..kept]);
        rest = &rest[folded + kept..];
    }
}

/// The length of the run of such bytes that the text begins with.
fn end_of(text: &str, is_one: impl Fn(&u8) -> bool) -> usize {
    text.bytes().position(|byte| !is_one(&byte)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same rule, applied letter by letter.
    fn folded_plainly(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let run = &rest[..rest.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(rest.len())];
            if run.len() >= 8 && run.bytes().any(|byte| byte.is_ascii_digit()) {
                out.push('#');
                rest = &rest[run.len()..];
            } else if first.is_ascii_digit() {
                out.push('#');
                rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
            } else {
                let letters = run.find(|letter: char| letter.is_ascii_digit()).unwrap_or(run.len());
                let kept = letters.max(first.len_utf8());
                out.push_str(&rest[..kept]);
                rest = &rest[kept..];
            }
        }
        out
    }

    proptest! {
        #[test]
        fn names_are_folded_as_the_rule_says(text in "[0-9a-hA-H_ä-]{0,24}") {
            let mut out = String::new();
            fold(&mut out, &text);
            prop_assert_eq!(out, folded_plainly(&text));
        }
    }

    #[test]
    fn patterns_fold_numbers_and_names_and_keep_words() {
        for (tail, pattern) in [
            ("/shop/item-17?sort=up&page=3", "a.org/shop/item-#?page&sort"),
            ("/s/0a1b2c3d4e/cafe", "a.org/s/#/cafe"),
            ("/facade/deadbeef", "a.org/facade/deadbeef"),
            ("/v2beta10/x", "a.org/v#beta#/x"),
            ("/%C3%A9/", "a.org/%C#%A#/"),
        ] {
            assert_eq!(key_of(&Url::parse(&format!("http://a.org{tail}")).unwrap()), pattern);
        }
    }
}
