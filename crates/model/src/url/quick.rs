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
    let slash = rest.find('/')?;
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
            let name_end = reference.find(['/', '?']).unwrap_or(reference.len());
            if reference[..name_end].contains(':') {
                return absolute(reference);
            }
            let path = base.path();
            let folder_end = usize::from(base.authority_end) + path.rfind('/')? + 1;
            extended(base, &base.text[..folder_end], reference)
        }
        _ => None,
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
    Some(&text[..text.find('#').unwrap_or(text.len())])
}

/// A lower-case name that no rule changes: no port, no punycode, no number at the end (it could be an address).
fn is_plain_host(host: &str) -> bool {
    let last_label = host.rsplit('.').next().unwrap_or("");
    !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'.' || byte == b'-')
        && last_label.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase())
        && !host.contains("xn--")
        && !host.contains("..")
        && !host.starts_with('.')
        && !has_odd_hyphens(host)
}

/// Labels that begin or end with a hyphen, or have two of them in places three and four, are for the full parser.
fn has_odd_hyphens(host: &str) -> bool {
    host.split('.').any(|label| {
        let bytes = label.as_bytes();
        label.starts_with('-') || label.ends_with('-') || bytes.get(2..4) == Some(b"--")
    })
}

/// Path and query that no rule changes.
fn is_plain_tail(tail: &str) -> bool {
    let (path, query) = match tail.find('?') {
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
        for reference in ["/x/y.html", "page2.html", "sub/page?id=3&x=a.b", "https://other.example.com/z#top", "/"] {
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
        fn session_and_tracking_never_pass_the_quick_way(name in "utm_[a-z]{1,5}|fbclid|PHPSESSID|s|sid", value in "[0-9a-f]{0,20}") {
            let reference = format!("/p?{name}={value}&k=1");
            if let Some(quick) = join(&base(), &reference) {
                prop_assert_eq!(Ok(quick), canonical::parse(&reference, Some(&base())));
            }
        }
    }
}
