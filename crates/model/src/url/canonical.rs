//! The canonicalisation rules, by which two spellings become one URL. They are idempotent.
//!
//! 1. WHATWG parsing: case of scheme and host, IDNA, dot segments, default ports, numeric addresses.
//! 2. Schemes http, https, ftp, gopher; user, password and fragment are dropped; a host's last dot is dropped.
//! 3. Percent-encoding: unreserved letters are decoded, hexadecimal digits are upper case.
//! 4. Query parameters that only track people or carry a session are dropped, as is a session in the path
//!    (`;jsessionid=`); the others keep their order. An empty query is dropped.

use super::{URL_BYTES_MAX, Url, UrlError};

/// Parameters that identify a campaign or a click and never a page. Lower case.
const TRACKING: [&str; 24] = [
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "dclid",
    "epik",
    "fbclid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "igshid",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "msclkid",
    "oly_anon_id",
    "oly_enc_id",
    "srsltid",
    "ttclid",
    "twclid",
    "vero_id",
    "wbraid",
    "yclid",
];

/// Parameters that carry a session whatever their value.
const SESSION: [&str; 8] =
    ["phpsessid", "jsessionid", "aspsessionid", "asp.net_sessionid", "cfid", "cftoken", "zenid", "oscsid"];

/// Parameters that carry a session when their value looks like a token.
const SESSION_BY_VALUE: [&str; 6] = ["sid", "s", "session", "sessionid", "session_id", "sessid"];

/// A token has at least so many hexadecimal digits.
const TOKEN_DIGITS_MIN: usize = 16;

pub(super) fn parse(text: &str, base: Option<&Url>) -> Result<Url, UrlError> {
    if text.len() > URL_BYTES_MAX {
        return Err(UrlError::TooLong(text.len()));
    }
    let malformed = |why: url::ParseError| UrlError::Malformed(text.chars().take(200).collect(), why.to_string());
    let parsed = match base {
        None => url::Url::parse(text.trim()),
        Some(base) => url::Url::parse(base.as_str()).and_then(|base| base.join(text)),
    }
    .map_err(malformed)?;
    let scheme = parsed.scheme();
    if !matches!(scheme, "http" | "https" | "ftp" | "gopher") {
        return Err(UrlError::Scheme(text.chars().take(200).collect()));
    }
    let host = parsed.host_str().map(|host| host.trim_end_matches('.')).filter(|host| !host.is_empty());
    let host = host.ok_or_else(|| UrlError::NoHost(text.to_owned()))?;
    // WHATWG keeps the case of hosts for schemes that are not special (gopher).
    let host = host.to_ascii_lowercase();

    let mut canonical = String::with_capacity(text.len() + 16);
    canonical.push_str(scheme);
    canonical.push_str("://");
    canonical.push_str(&host);
    if let Some(port) = parsed.port().filter(|&port| !(scheme == "gopher" && port == 70)) {
        canonical.push_str(&format!(":{port}"));
    }
    let path = without_path_session(parsed.path());
    if !path.starts_with('/') {
        canonical.push('/');
    }
    push_normalised(&mut canonical, path);
    if let Some(query) = parsed.query() {
        push_query(&mut canonical, query);
    }
    if canonical.len() > URL_BYTES_MAX {
        return Err(UrlError::TooLong(canonical.len()));
    }
    Url::from_canonical(canonical.into()).ok_or_else(|| UrlError::NoHost(text.to_owned()))
}

/// Whether rule 4 would drop something from this query.
pub(super) fn drops_from(query: &str) -> bool {
    query.is_empty() || query.split('&').any(|parameter| parameter.is_empty() || is_dropped(parameter))
}

fn push_query(canonical: &mut String, query: &str) {
    let mut mark = '?';
    for parameter in query.split('&') {
        // The rules are applied to the final spelling of the parameter, so that a second pass drops nothing more.
        let mut written = String::with_capacity(parameter.len());
        push_normalised(&mut written, parameter);
        if written.is_empty() || is_dropped(&written) {
            continue;
        }
        canonical.push(mark);
        canonical.push_str(&written);
        mark = '&';
    }
}

fn is_dropped(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    if name.len() > 24 {
        return false;
    }
    let name = name.to_ascii_lowercase();
    let name = name.as_str();
    name.starts_with("utm_")
        || TRACKING.contains(&name)
        || SESSION.contains(&name)
        || (SESSION_BY_VALUE.contains(&name) && is_token(value))
}

fn is_token(value: &str) -> bool {
    value.len() >= TOKEN_DIGITS_MIN && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Cuts `;jsessionid=…` out of the path.
fn without_path_session(path: &str) -> &str {
    match path.to_ascii_lowercase().find(";jsessionid=") {
        Some(start) if !path[start..].contains('/') => &path[..start],
        _ => path,
    }
}

fn push_normalised(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(percent) = rest.find('%') {
        out.push_str(&rest[..percent]);
        let decoded = rest.get(percent + 1..percent + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match decoded {
            // A dot stays encoded, because decoding could create a dot segment after dot segments were resolved.
            Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') => {
                out.push(char::from(byte));
                rest = &rest[percent + 3..];
            }
            Some(byte) => {
                out.push_str(&format!("%{byte:02X}"));
                rest = &rest[percent + 3..];
            }
            None => {
                out.push('%');
                rest = &rest[percent + 1..];
            }
        }
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn canonical(text: &str) -> String {
        parse(text, None).unwrap().to_string()
    }

    #[test]
    fn the_rules_by_example() {
        for (spelling, expected) in [
            ("http://Example.ORG", "http://example.org/"),
            ("http://example.org:80/./a/../b", "http://example.org/b"),
            ("https://example.org.:443/", "https://example.org/"),
            ("http://example.org../", "http://example.org/"),
            ("http://example.org/%7euser/%c3%a9", "http://example.org/~user/%C3%A9"),
            ("http://example.org/a b", "http://example.org/a%20b"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://example.org/?", "http://example.org/"),
            ("http://example.org/?utm_source=x&id=3&fbclid=Y", "http://example.org/?id=3"),
            ("http://example.org/?b=2&a=1", "http://example.org/?b=2&a=1"),
            ("http://example.org/?sid=0123456789abcdef", "http://example.org/"),
            ("http://example.org/?sid=7", "http://example.org/?sid=7"),
            ("http://example.org/p;jsessionid=AB12?x=1", "http://example.org/p?x=1"),
            ("gopher://Example.org:70/0/a", "gopher://example.org/0/a"),
            ("ftp://example.org:21/pub/", "ftp://example.org/pub/"),
            ("http://u:p@example.org/#top", "http://example.org/"),
        ] {
            assert_eq!(canonical(spelling), expected, "{spelling}");
        }
    }

    proptest! {
        #[test]
        fn canonical_is_idempotent(tail in "[ -~é%&=;?/.#]{0,60}") {
            if let Ok(once) = parse(&format!("http://example.org/{tail}"), None) {
                prop_assert_eq!(&canonical(once.as_str()), once.as_str());
            }
        }
    }
}
