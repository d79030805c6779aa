//! A URL, parsed once and canonical from then on. It knows its site, its origin and its partition.
//!
//! - `canonical`: the canonicalisation rules.
//! - `quick`: the same result for ordinary links at a sixth of the cost.
//! - `spelling`: which addresses are spellings of one another.

mod canonical;
mod quick;
mod spelling;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_64;

use crate::{Fingerprint, Origin, Partition, Site};

/// Longer URLs are refused: no site needs them, and traps make them.
pub const URL_BYTES_MAX: usize = 4_096;

/// A canonical URL. `text` is `scheme://authority/path?query`, without user, fragment or default port.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Url {
    text: Box<str>,
    /// The range of the authority.
    authority_start: u8,
    authority_end: u16,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum UrlError {
    #[error("`{0}` is not a URL: {1}")]
    Malformed(String, String),
    #[error("`{0}` has a scheme that Vernal does not support; it supports http, https, ftp and gopher")]
    Scheme(String),
    #[error("`{0}` names no host")]
    NoHost(String),
    #[error("a URL of {0} bytes is longer than {URL_BYTES_MAX}")]
    TooLong(usize),
}

impl Url {
    /// Parses an absolute URL and makes it canonical.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if let Some(url) = quick::absolute(text) {
            return Ok(url);
        }
        canonical::parse(text, None)
    }

    /// Resolves a reference on this page.
    pub fn join(&self, reference: &str) -> Result<Self, UrlError> {
        if let Some(url) = quick::join(self, reference) {
            return Ok(url);
        }
        canonical::parse(reference, Some(self))
    }

    /// Accepts a text that is canonical already, as our files contain it.
    fn from_canonical(text: Box<str>) -> Option<Self> {
        // Both are near the beginning, so a loop over bytes is faster than preparing a search.
        let scheme_end = text.bytes().position(|byte| byte == b':')?;
        let rest = text[scheme_end..].strip_prefix("://")?;
        let authority_start = scheme_end + 3;
        let authority_end = authority_start + rest.bytes().position(|byte| byte == b'/')?;
        if authority_end == authority_start || text.len() > URL_BYTES_MAX {
            return None;
        }
        Some(Url {
            authority_start: u8::try_from(authority_start).ok()?,
            authority_end: u16::try_from(authority_end).ok()?,
            text,
        })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn scheme(&self) -> &str {
        &self.text[..usize::from(self.authority_start) - 3]
    }

    /// The host as written: a name, an IPv4 address, or an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        let site = self.site_text();
        match site.rfind(':') {
            Some(colon) if !site.ends_with(']') => &site[..colon],
            _ => site,
        }
    }

    pub fn port(&self) -> u16 {
        let after_host = &self.site_text()[self.host().len()..];
        after_host.strip_prefix(':').and_then(|port| port.parse().ok()).unwrap_or_else(|| self.default_port())
    }

    fn default_port(&self) -> u16 {
        match self.scheme() {
            "https" => 443,
            "ftp" => 21,
            "gopher" => 70,
            _ => 80,
        }
    }

    /// The path, which always begins with a slash, without the query.
    pub fn path(&self) -> &str {
        let tail = self.path_and_query();
        &tail[..tail.find('?').unwrap_or(tail.len())]
    }

    /// The first folder of the path: `docs` for `/docs/a/b.html`, `None` for `/about.html`.
    pub fn first_folder(&self) -> &str {
        self.path()[1..].split_once('/').map_or("", |(first, _)| first)
    }

    pub fn query(&self) -> Option<&str> {
        let tail = self.path_and_query();
        tail.find('?').map(|mark| &tail[mark + 1..])
    }

    /// The target of a request line.
    pub fn path_and_query(&self) -> &str {
        &self.text[usize::from(self.authority_end)..]
    }

    /// Host and, where it is not the scheme's own, port.
    pub fn site_text(&self) -> &str {
        &self.text[usize::from(self.authority_start)..usize::from(self.authority_end)]
    }

    pub fn site(&self) -> Site {
        Site::new(self.site_text())
    }

    /// Scheme, host and port, without a slash at the end.
    pub fn origin_text(&self) -> &str {
        &self.text[..usize::from(self.authority_end)]
    }

    pub fn origin(&self) -> Origin {
        Origin::new(self.origin_text())
    }

    /// The registrable domain by the public-suffix list. For an address, or a name without one, it is the host itself.
    pub fn registrable_domain(&self) -> &str {
        registrable_domain(self.host())
    }

    /// The partition by the public-suffix list of this build. Known sites keep the partition of their row.
    pub fn partition(&self) -> Partition {
        let hash = xxh3_64(self.registrable_domain().as_bytes());
        Partition((hash % u64::from(Partition::COUNT)) as u8)
    }

    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint(xxh3_64(self.text.as_bytes()))
    }
}

fn registrable_domain(host: &str) -> &str {
    let is_address = host.starts_with('[') || host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_address {
        return host;
    }
    psl::domain_str(host).unwrap_or(host)
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Url {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Url {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<str>::deserialize(deserializer)?;
        Url::from_canonical(text).ok_or_else(|| serde::de::Error::custom("not a canonical URL"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_files_are_read_as_they_were_written_and_nothing_else() {
        for text in ["http://a.org/", "https://[2001:db8::1]:81/a:b//c?d=://e", "gopher://g.org/1/x"] {
            let url = Url::parse(text).unwrap();
            assert_eq!(Url::from_canonical(text.into()), Some(url));
        }
        for text in ["", "a.org/", "http:/a.org/", "http://a.org", "http:///a", "mailto:a@b.org", "a:b://c.org/"] {
            assert_eq!(Url::from_canonical(text.into()), None, "{text}");
        }
    }

    #[test]
    fn a_url_knows_its_parts() {
        let url = Url::parse("HTTPS://User:pw@Www.Example.CO.UK:8443/a/b?x=1#frag").unwrap();
        assert_eq!(url.as_str(), "https://www.example.co.uk:8443/a/b?x=1");
        assert_eq!((url.scheme(), url.host(), url.port()), ("https", "www.example.co.uk", 8443));
        assert_eq!((url.path(), url.query()), ("/a/b", Some("x=1")));
        assert_eq!(url.site_text(), "www.example.co.uk:8443");
        assert_eq!(url.origin_text(), "https://www.example.co.uk:8443");
        assert_eq!(url.registrable_domain(), "example.co.uk");
        let six = Url::parse("http://[2001:DB8::1]:81/").unwrap();
        assert_eq!((six.host(), six.port(), six.registrable_domain()), ("[2001:db8::1]", 81, "[2001:db8::1]"));
        assert_eq!(Url::parse("gopher://g.org/").unwrap().port(), 70);
        assert_eq!(Url::parse("http://10.1.2.3/").unwrap().registrable_domain(), "10.1.2.3");
    }

    #[test]
    fn schemes_of_one_host_are_one_site_and_two_origins() {
        let plain = Url::parse("http://example.org/").unwrap();
        let safe = Url::parse("https://example.org:443/").unwrap();
        assert_eq!(plain.site(), safe.site());
        assert_ne!(plain.origin(), safe.origin());
        assert_eq!(plain.partition(), Url::parse("http://sub.example.org/").unwrap().partition());
    }

    #[test]
    fn what_our_files_hold_is_read_back_equal() {
        let url = Url::parse("http://example.org:81/a?b").unwrap();
        assert_eq!(Url::from_canonical(url.as_str().into()), Some(url));
        assert_eq!(Url::from_canonical("nonsense".into()), None);
        assert_eq!(Url::from_canonical("http:///".into()), None);
    }

    #[test]
    fn what_is_no_url_of_ours_is_refused_by_name() {
        assert!(matches!(Url::parse("javascript:alert(1)"), Err(UrlError::Scheme(_))));
        assert!(matches!(Url::parse("mailto:a@b.c"), Err(UrlError::Scheme(_))));
        assert!(matches!(Url::parse("file:///etc/passwd"), Err(UrlError::Scheme(_))));
        assert!(matches!(Url::parse("no url"), Err(UrlError::Malformed(..))));
        assert!(matches!(Url::parse(&format!("http://a.b/{}", "x".repeat(5_000))), Err(UrlError::TooLong(_))));
    }
}
