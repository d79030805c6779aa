//! Character references (`&amp;`, `&#8217;`) in text and in attributes. The most frequent ones are decoded
//! here. All others are decoded by a library with the whole table and the special rules of the standard.

use memchr::memchr;

/// The context of a reference: without a semicolon it has another meaning in an attribute.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Within {
    Text,
    Attribute,
}

/// The text with every character reference decoded.
pub fn decoded(text: &str, within: Within) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(ampersand) = memchr(b'&', rest.as_bytes()) {
        out.push_str(&rest[..ampersand]);
        rest = &rest[ampersand..];
        let name = rest[1..].bytes().take_while(|&byte| byte.is_ascii_alphanumeric() || byte == b'#').count();
        if rest.as_bytes().get(1 + name) == Some(&b';') {
            let (reference, after) = rest.split_at(name + 2);
            match common(&reference[1..=name]) {
                Some(letter) => out.push(letter),
                None => push_rare(&mut out, reference, within),
            }
            rest = after;
        } else {
            // The text up to the next reference decides.
            let end = memchr(b'&', &rest.as_bytes()[1..]).map_or(rest.len(), |ahead| 1 + ahead);
            push_rare(&mut out, &rest[..end], within);
            rest = &rest[end..];
        }
    }
    out.push_str(rest);
    out
}

fn common(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "quot" => '"',
        "lt" => '<',
        "gt" => '>',
        "nbsp" => '\u{a0}',
        _ => return numbered(name.strip_prefix('#')?),
    })
}

/// A numeric reference of up to five digits for a character that the standard neither forbids nor replaces.
fn numbered(digits: &str) -> Option<char> {
    if digits.len() > 5 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u32 = digits.parse().ok()?;
    matches!(number, 0x20..0x7f | 0xa0..0xd800).then(|| char::from_u32(number)).flatten()
}

fn push_rare(out: &mut String, piece: &str, within: Within) {
    match within {
        Within::Text => out.push_str(&htmlize::unescape(piece)),
        Within::Attribute => out.push_str(&htmlize::unescape_attribute(piece)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_reference_means_what_the_standard_says(
            text in "(&(amp|quot|lt|gt|nbsp|apos|copy|not|notit|notin|rsquo|hellip|eacute|b|#39|#x27|#8217|#128|#0|#55296|#99999999|)(;|=|a|1| |é|<||)|[a-z =;#&é]{0,3}){0,8}"
        ) {
            prop_assert_eq!(decoded(&text, Within::Text), htmlize::unescape(text.as_str()).into_owned());
            prop_assert_eq!(decoded(&text, Within::Attribute), htmlize::unescape_attribute(text.as_str()).into_owned());
        }
    }
}
