//! The URL at the end of a request's target: `/timegate/http://a.example/x?y=z`. It is taken as it came, because a router would
//! decode its escapes and take its query for one of our own.

use vernal_model::Url;

/// Escaped, a URL has three times its bytes.
const TARGET_BYTES_MAX: usize = 3 * 4_096;

/// Why the end of a target is no URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotATarget(String);

/// The URL that `rest` of a target names. Clients write it plainly or escape it whole, and proxies merge the slashes behind its
/// scheme. Without a scheme it is one of `http`.
pub fn url_at_end(rest: &str) -> Result<Url, NotATarget> {
    if rest.len() > TARGET_BYTES_MAX {
        return Err(NotATarget(format!("a URL of {} bytes is too long", rest.len())));
    }
    let decoded;
    let plain = match scheme_end(rest) {
        Some(_) => rest,
        None => {
            decoded = unescaped(rest).unwrap_or_else(|| rest.to_owned());
            if scheme_end(&decoded).is_some() { decoded.as_str() } else { rest }
        }
    };
    let whole = match scheme_end(plain) {
        Some(end) => format!("{}://{}", &plain[..end], plain[end + 1..].trim_start_matches('/')),
        None => format!("http://{}", plain.trim_start_matches('/')),
    };
    Url::parse(&whole).map_err(|error| NotATarget(error.to_string()))
}

/// Where the colon behind a scheme stands. A host with a port has a digit behind its colon, and no slash.
fn scheme_end(text: &str) -> Option<usize> {
    let colon = text.find(':')?;
    let scheme = &text[..colon];
    let is_name = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-'));
    (!scheme.is_empty() && is_name && text[colon + 1..].starts_with('/')).then_some(colon)
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (high, low) = (char::from(left.next()?).to_digit(16)?, char::from(left.next()?).to_digit(16)?);
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_known_however_a_client_writes_it() {
        let expected = "http://a.example/x?u=http://b.example/%20&v=1";
        for rest in [
            "http://a.example/x?u=http://b.example/%20&v=1",
            "http:/a.example/x?u=http://b.example/%20&v=1",
            "a.example/x?u=http://b.example/%20&v=1",
            "http%3A%2F%2Fa.example%2Fx%3Fu%3Dhttp%3A%2F%2Fb.example%2F%2520%26v%3D1",
            "HTTP://A.example:80/x?u=http://b.example/%20&v=1",
        ] {
            assert_eq!(url_at_end(rest).map(|url| url.to_string()), Ok(expected.to_owned()), "{rest}");
        }
        assert_eq!(url_at_end("a.example:8080/x").unwrap().as_str(), "http://a.example:8080/x");
        assert_eq!(url_at_end("https://a.example").unwrap().as_str(), "https://a.example/");
    }

    #[test]
    fn what_is_no_url_is_refused_whatever_it_is() {
        for rest in ["", "/", "javascript:/alert", "file:///etc/passwd", "http://", "http://%zz/", "data:/x", "%ff%fe"]
        {
            assert!(url_at_end(rest).is_err(), "{rest}");
        }
        assert!(url_at_end(&"a".repeat(100_000)).is_err());
    }
}
