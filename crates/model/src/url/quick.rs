//! The canonical form of ordinary links without the full parser. Anything unusual is left to `canonical`; a property test checks
//! that both give the same result.

use super::{URL_BYTES_MAX, Url, canonical};

/// An absolute http(s) URL with a plain lower-case host and a plain path.
pub(super) fn absolute(text: &str) -> Option<Url> {
    let authority_start = match text {
        _ if text.len() > URL_BYTES_MAX => return None,
        _ if text.starts_with("http://") => 7,
        _ if text.starts_with("https://") => 8,
        _ => return None,
    };
    with_host(&text[..authority_start], &text[authority_start..])
}

/// A reference that is absolute, begins at the root, or is a plain relative path.
pub(super) fn join(base: &Url, reference: &str) -> Option<Url> {
    if !base.scheme().starts_with("http") || reference.len() > URL_BYTES_MAX {
        return None;
    }
    // Many sites use absolute links to themselves.
    if let Some(tail) = reference.strip_prefix(base.origin_text()).filter(|tail| tail.starts_with('/')) {
        return extended(base, base.origin_text(), tail);
    }
    match reference.as_bytes().first()? {
        // `//host/path`, with the scheme of the base.
        b'/' if reference.as_bytes().get(1) == Some(&b'/') => {
            with_host(&base.text[..usize::from(base.authority_start)], &reference[2..])
        }
        b'/' => extended(base, base.origin_text(), reference),
        first if first.is_ascii_alphanumeric() => {
            let mark = reference.bytes().find(|byte| matches!(byte, b'/' | b'?' | b':' | b'#'));
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

/// A scheme with its slashes, followed by a plain host and a plain path and query.
fn with_host(scheme: &str, rest: &str) -> Option<Url> {
    let host_end = rest.bytes().position(|byte| matches!(byte, b'/' | b'#')).unwrap_or(rest.len());
    let (host, tail) = rest.split_at(host_end);
    if !is_plain_host(host) {
        return None;
    }
    let tail = plain_tail(tail)?;
    let text = [scheme, host, if tail.is_empty() { "/" } else { tail }].concat();
    let authority_end = u16::try_from(scheme.len() + host.len()).ok()?;
    let is_short = text.len() <= URL_BYTES_MAX;
    is_short.then(|| Url { text: text.into(), authority_start: scheme.len() as u8, authority_end })
}

/// The base up to the last slash of its path.
fn folder(base: &Url) -> Option<&str> {
    let folder_end = usize::from(base.authority_end) + base.path().bytes().rposition(|byte| byte == b'/')? + 1;
    Some(&base.text[..folder_end])
}

/// The parent folder; `None` for the root.
fn above<'a>(base: &Url, folder: &'a str) -> &'a str {
    let inside = folder.len() - 1;
    match folder.as_bytes()[usize::from(base.authority_end)..inside].iter().rposition(|&byte| byte == b'/') {
        Some(slash) => &folder[..usize::from(base.authority_end) + slash + 1],
        None => folder,
    }
}

fn extended(base: &Url, start: &str, tail: &str) -> Option<Url> {
    let tail = plain_tail(tail)?;
    if start.len() + tail.len() > URL_BYTES_MAX {
        return None;
    }
    let mut text = String::with_capacity(start.len() + tail.len());
    text.push_str(start);
    text.push_str(tail);
    Some(Url { text: text.into(), authority_start: base.authority_start, authority_end: base.authority_end })
}

/// A lower-case name that no rule changes: without port, punycode or a number at the end (it could be an address).
fn is_plain_host(host: &str) -> bool {
    let bytes = host.as_bytes();
    let (mut place, mut label) = (0, 0);
    loop {
        let start = place;
        while bytes.get(place).is_some_and(|&byte| PLAIN[usize::from(byte)] & IN_LABEL != 0) {
            place += 1;
        }
        // Empty labels, hyphens at their ends and two hyphens in a row (punycode) are left to the full parser.
        if place == start {
            return false;
        }
        match bytes.get(place) {
            None => return bytes[label].is_ascii_lowercase(),
            Some(b'.') => label = place + 1,
            Some(b'-') => {}
            Some(_) => return false,
        }
        place += 1;
    }
}

/// Path and query without the fragment, if no rule changes them.
fn plain_tail(tail: &str) -> Option<&str> {
    let bytes = tail.as_bytes();
    // The part before it is a folder.
    if bytes.first() == Some(&b'.') && is_dots(bytes) {
        return None;
    }
    let mut place = 0;
    while let Some(&byte) = bytes.get(place) {
        if PLAIN[usize::from(byte)] & IN_PATH == 0 {
            return match byte {
                b'#' => Some(&tail[..place]),
                b'?' => plain_query(&tail[place + 1..]).map(|query| &tail[..place + 1 + query.len()]),
                _ => None,
            };
        }
        place += 1;
        if byte == b'/' && bytes.get(place) == Some(&b'.') && is_dots(&bytes[place..]) {
            return None;
        }
    }
    Some(tail)
}

/// Whether a segment that begins with a dot consists of dots only, so that it may mean a folder. Hidden files are ordinary names.
fn is_dots(rest: &[u8]) -> bool {
    rest.iter().find(|&&byte| byte != b'.').is_none_or(|&byte| matches!(byte, b'/' | b'?' | b'#'))
}

fn plain_query(rest: &str) -> Option<&str> {
    let end = rest.bytes().position(|byte| PLAIN[usize::from(byte)] & IN_QUERY == 0).unwrap_or(rest.len());
    let is_whole = matches!(rest.as_bytes().get(end), None | Some(b'#'));
    let query = &rest[..end];
    (is_whole && !canonical::drops_from(query)).then_some(query)
}

const IN_PATH: u8 = 1;
const IN_QUERY: u8 = 2;
/// Whether a byte is plain in a label of a host.
const IN_LABEL: u8 = 4;

/// The characters that stay as they are. The semicolon is not among them, because it may begin a session.
const PLAIN: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = match byte as u8 {
            b'0'..=b'9' | b'a'..=b'z' => IN_PATH | IN_QUERY | IN_LABEL,
            b'A'..=b'Z' => IN_PATH | IN_QUERY,
            b'/' | b'-' | b'_' | b'~' | b',' | b'+' | b'.' | b'=' | b'&' => IN_PATH | IN_QUERY,
            b':' | b'@' | b'$' | b'*' | b'(' | b')' | b'!' => IN_PATH | IN_QUERY,
            _ => 0,
        };
        byte += 1;
    }
    table
};

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
            "https://other.example.com",
            "//other.example.com/a:b",
            "//other.example.com",
            "/.well-known/x",
            "/share?u=https://a.example/b",
            "https://www.example.org:8080/other",
        ] {
            assert!(join(&base(), reference).is_some(), "{reference}");
        }
    }

    proptest! {
        #[test]
        fn the_quick_way_never_differs_from_the_rules(
            reference in "((https?:)?//|https://www.example.org:8080)?[a-z0-9.-]{0,12}[/?#.a-zA-Z0-9_&=;:%~+ @$*()!-]{0,40}"
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
            reference in "([.]{1,2}/){0,4}[a-z./?]{0,6}(/?[.]{1,3}[/a]?)?",
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
