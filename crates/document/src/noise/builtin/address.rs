//! Noise in addresses: cache busters, sessions, signatures, build ids.

use memchr::{memchr, memchr2};

use super::token::drawn;
use super::{Cleaned, Cutter};
use crate::parse::swar::next_digit;

/// Parameters that carry a session, campaign, time or signature, whatever their value.
const NOISE_NAMES: [&str; 43] = [
    "_",
    "__cf_chl_tk",
    "_ga",
    "_gl",
    "authuser",
    "cachebuster",
    "cb",
    "csrf",
    "csrf_token",
    "dclid",
    "expires",
    "fbclid",
    "gclid",
    "gclsrc",
    "jsessionid",
    "key-pair-id",
    "mc_cid",
    "mc_eid",
    "msclkid",
    "nonce",
    "phpsessid",
    "policy",
    "rand",
    "random",
    "ref_src",
    "rnd",
    "session",
    "session_id",
    "sessionid",
    "sid",
    "sig",
    "signature",
    "timestamp",
    "token",
    "trk",
    "ts",
    "utm_campaign",
    "utm_content",
    "utm_medium",
    "utm_source",
    "utm_term",
    "yclid",
    "zanpid",
];

/// Parameters of an asset address that only name its build.
const BUSTER_NAMES: [&str; 14] =
    ["b", "build", "bust", "gtm", "h", "hash", "m", "r", "rev", "t", "update", "v", "ver", "version"];

/// An address without its noise. `is_asset` means that it is the address of a script, a style sheet, an image or the like, whose
/// path may contain the hash of a build. In the path of a link only a session is removed.
pub fn address(text: &str, is_asset: bool) -> Cleaned<'_> {
    let bytes = text.as_bytes();
    let has_noise = match is_asset {
        true => next_digit(bytes, 0).is_some() || memchr(b'?', bytes).is_some(),
        // A link: only its query and a session in its path.
        false => {
            memchr2(b'?', b';', bytes).is_some() && (memchr(b'?', bytes).is_some() || next_digit(bytes, 0).is_some())
        }
    };
    // Inline data is content, not an address.
    if !has_noise || text.starts_with("data:") {
        return Cleaned::plain(text);
    }
    let mut cutter = Cutter::new(text);
    let path_end = memchr2(b'?', b'#', bytes).unwrap_or(text.len());
    path(text, path_end, is_asset, &mut cutter);
    let query_end = memchr(b'#', &bytes[path_end..]).map_or(text.len(), |ahead| path_end + ahead);
    if path_end < query_end {
        query(text, path_end + 1, query_end, is_asset, &mut cutter);
    }
    cutter.finish()
}

fn path(text: &str, path_end: usize, is_asset: bool, cutter: &mut Cutter<'_>) {
    // `;jsessionid=…`
    let sessions = memchr(b';', &text.as_bytes()[..path_end]).filter(|&semicolon| {
        text[semicolon + 1..path_end].split('=').next().is_some_and(|name| is_known(name, &NOISE_NAMES))
    });
    let end = sessions.unwrap_or(path_end);
    if is_asset {
        let bytes = text.as_bytes();
        let slashes = bytes.windows(2).position(|pair| pair == b"//");
        let host_end = slashes.and_then(|slashes| memchr(b'/', &bytes[slashes + 2..]).map(|ahead| slashes + 2 + ahead));
        let mut start = host_end.unwrap_or(0).min(end);
        let parts = |byte: &u8| matches!(byte, b'/' | b'.' | b'~' | b'@' | b'%' | b'=' | b',');
        for piece in bytes[start..end].split(parts) {
            if let Some(detector) = drawn(piece) {
                cutter.cut(start, start + piece.len(), detector);
            }
            start += piece.len() + 1;
        }
    }
    if sessions.is_some() {
        cutter.cut(end, path_end, "session id");
    }
}

fn query(text: &str, start: usize, end: usize, is_asset: bool, cutter: &mut Cutter<'_>) {
    let mut place = start;
    for pair in text[start..end].split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value_start = place + name.len() + usize::from(pair.len() > name.len());
        let value_end = place + pair.len();
        let name = name.strip_prefix("amp;").unwrap_or(name);
        let is_signed = name.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("x-amz-"));
        if value.is_empty() {
            // `style.css?1700000000`, `style.css?v1.1.85`
            if is_asset && name.bytes().any(|byte| byte.is_ascii_digit()) {
                cutter.cut(place, value_end, "cache buster");
            }
        } else if is_known(name, &NOISE_NAMES) || is_signed {
            cutter.cut(value_start, value_end, "session id");
        } else if is_asset && is_known(name, &BUSTER_NAMES) && value.bytes().any(|byte| byte.is_ascii_digit()) {
            cutter.cut(value_start, value_end, "cache buster");
        } else if is_asset && let Some(detector) = drawn(value.as_bytes()) {
            cutter.cut(value_start, value_end, detector);
        }
        place = value_end + 1;
    }
}

fn is_known(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_and_sessions_go_and_targets_stay() {
        for (before, after) in [
            ("/static/main.3f2a9c1b.js", "/static/main.99aa88bb.js"),
            ("/a.css?v=1.2.3", "/a.css?v=1.2.4"),
            ("https://x.org/a.css?1700000000", "https://x.org/a.css?1700000999"),
            ("/i.png?X-Amz-Signature=ab12", "/i.png?X-Amz-Signature=cd34"),
        ] {
            assert_eq!(address(before, true).text, address(after, true).text, "{before}");
        }
        for (before, after) in [
            ("/cart;jsessionid=12AB", "/cart;jsessionid=99CD"),
            ("/p?id=4&sid=1a2b", "/p?id=4&sid=9z8y"),
            ("/p?utm_source=x1", "/p?utm_source=y2"),
        ] {
            assert_eq!(address(before, false).text, address(after, false).text, "{before}");
        }
        for (before, after) in [
            ("/p?id=4", "/p?id=5"),
            ("/terms-2024.pdf", "/terms-2025.pdf"),
            ("/commit/3f2a9c1b", "/commit/99aa88bb"),
            ("/p?v=1", "/p?v=2"),
        ] {
            assert_ne!(address(before, false).text, address(after, false).text, "{before}");
        }
        assert_ne!(address("/photo-1.png", true).text, address("/photo-2.png", true).text);
    }
}
