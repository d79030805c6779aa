//! The canonical form of ordinary links without the full parser: a page of fifty links costs microseconds here.
//! Anything unusual is left to `canonical`; a property test holds both to the same answer.

use super::{URL_BYTES_MAX, Url, canonical};

/// An absolute http(s) URL with a plain lower-case host and a plain path.
pub(super) fn absolute(text: &str) -> Option<Url> {
    let text = without_fragment(text)?;
    let authority_start = match text {
        _ if text.starts_with("http://") => 7,
        _ if text.starts_with("https://") => 8,
        _ => return None,
    };
    let rest = &text[authority_start..];
    let slash = rest.bytes().position(|byte| byte == b'/')?;
    if !is_plain_host(&rest[..slash]) || !is_plain_tail(&rest[slash..]) {
        return None;
    }
    Some(Url {
        text: text.into(),
        authority_start: authority_start as u8,
        authority_end: u16::try_from(authority_start + slash).ok()?,
    })
}

/// A reference that is absolute, begins at the root, or is a plain name beside the base.
pub(super) fn join(base: &Url, reference: &str) -> Option<Url> {
    if !base.scheme().starts_with("http") {
        return None;
    }
    let reference = without_fragment(reference)?;
    match reference.as_bytes().first()? {
        b'/' if reference.as_bytes().get(1) == Some(&b'/') => None,
        b'/' => extended(base, base.origin_text(), reference),
        first if first.is_ascii_alphanumeric() => {
            let mark = reference.bytes().find(|byte| matches!(byte, b'/' | b'?' | b':'));
            if mark == Some(b':') {
                return absolute(reference);
            }
            extended(base, folder(base)?, reference)
        }
        b'.' => {
            let mut start = folder(base)?;
            let mut rest = reference;
            loop {
                if let Some(inner) = rest.strip_prefix("../") {
                    start = above(base, start);
                    rest = inner;
                } else if let Some(inner) = rest.strip_prefix("./") {
                    rest = inner;
                } else {
                    return extended(base, start, rest);
                }
            }
        }
        _ => None,
    }
}

/// The base up to the last slash of its path.
fn folder(base: &Url) -> Option<&str> {
    let folder_end = usize::from(base.authority_end) + base.path().bytes().rposition(|byte| byte == b'/')? + 1;
    Some(&base.text[..folder_end])
}

/// The folder around a folder; nothing is above the root.
fn above<'a>(base: &Url, folder: &'a str) -> &'a str {
    let inside = folder.len() - 1;
    match folder.as_bytes()[usize::from(base.authority_end)..inside].iter().rposition(|&byte| byte == b'/') {
        Some(slash) => &folder[..usize::from(base.authority_end) + slash + 1],
        None => folder,
    }
}

fn extended(base: &Url, start: &str, tail: &str) -> Option<Url> {
    if !is_plain_tail(tail) || start.len() + tail.len() > URL_BYTES_MAX {
        return None;
    }
    let mut text = String::with_capacity(start.len() + tail.len());
    text.push_str(start);
    text.push_str(tail);
    Some(Url { text: text.into(), authority_start: base.authority_start, authority_end: base.authority_end })
}

fn without_fragment(text: &str) -> Option<&str> {
    if text.len() > URL_BYTES_MAX {
        return None;
    }
    Some(&text[..text.bytes().position(|byte| byte == b'#').unwrap_or(text.len())])
}

/// A lower-case name that no rule changes: no port, no punycode, no number at the end (it could be an address).
fn is_plain_host(host: &str) -> bool {
    let mut last = b'.';
    let mut label_begins_with = 0;
    for byte in host.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' => {}
            // Empty labels, hyphens at their ends and two hyphens in a row (punycode) are for the full parser.
            b'.' | b'-' if !matches!(last, b'.' | b'-') => {}
            _ => return false,
        }
        if last == b'.' {
            label_begins_with = byte;
        }
        last = byte;
    }
    label_begins_with.is_ascii_lowercase() && !matches!(last, b'.' | b'-')
}

/// Path and query that no rule changes.
fn is_plain_tail(tail: &str) -> bool {
    let (path, query) = match tail.bytes().position(|byte| byte == b'?') {
        Some(mark) => (&tail[..mark], Some(&tail[mark + 1..])),
        None => (tail, None),
    };
    let mut last = b'/';
    for &byte in path.as_bytes() {
        // A dot after a slash may begin a dot segment.
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'~' | b',' | b'+' | b'.'))
            || (byte == b'.' && last == b'/')
        {
            return false;
        }
        last = byte;
    }
    query.is_none_or(|query| {
        query.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'=' | b'&' | b'-' | b'_' | b'.' | b'+' | b'/' | b',' | b'~')
        }) && !canonical::drops_from(query)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn base() -> Url {
        canonical::parse("https://www.example.org:8080/a/b/c.html?q=1", None).unwrap()
    }

    #[test]
    fn ordinary_links_take_the_quick_way() {
        for reference in [
            "/x/y.html",
            "page2.html",
            "sub/page?id=3&x=a.b",
            "https://other.example.com/z#top",
            "/",
            "../up.html",
            "./../../../here/",
        ] {
            assert!(join(&base(), reference).is_some(), "{reference}");
        }
    }

    proptest! {
        #[test]
        fn the_quick_way_never_differs_from_the_rules(
            reference in "(https?://)?[a-z0-9.-]{0,12}[/?#.a-zA-Z0-9_&=;:%~+ -]{0,40}"
        ) {
            if let Some(quick) = join(&base(), &reference) {
                prop_assert_eq!(Ok(quick), canonical::parse(&reference, Some(&base())));
            }
            if let Some(quick) = absolute(&reference) {
                prop_assert_eq!(Ok(quick), canonical::parse(&reference, None));
            }
        }

        #[test]
        fn folders_above_are_those_of_the_rules(
            reference in "([.]{1,2}/){0,4}[a-z./?]{0,6}(/?[.]{1,2}/?)?",
            folders in "(/[a-z]{0,2}){0,4}"
        ) {
            let base = canonical::parse(&format!("https://www.example.org{folders}/page?q=1"), None).unwrap();
            if let Some(quick) = join(&base, &reference) {
                prop_assert_eq!(Ok(quick), canonical::parse(&reference, Some(&base)));
            }
        }

        #[test]
        fn session_and_tracking_never_pass_the_quick_way(name in "utm_[a-z]{1,5}|fbclid|PHPSESSID|s|sid", value in "[0-9a-f]{0,20}") {
            let reference = format!("/p?{name}={value}&k=1");
            if let Some(quick) = join(&base(), &reference) {
                prop_assert_eq!(Ok(quick), canonical::parse(&reference, Some(&base())));
            }
        }
    }
}
