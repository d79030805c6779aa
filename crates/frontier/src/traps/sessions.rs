//! Session ids by evidence: a parameter whose token-like values differ between links and never change the content of the
//! page. From then on it is dropped from the URLs of its site, so that one page has one URL.
//!
//! The rule is careful, because dropping a parameter may hide pages: values must look like tokens (`page=7` does not), the
//! rest of the URL must be the same, and one value that changes the content clears the parameter for good.

use std::collections::VecDeque;

use foldhash::HashMap;
use vernal_model::{Site, Url};
use xxhash_rust::xxh3::xxh3_64;

use super::rules::parameters;

/// So many values on otherwise equal URLs, all with the same content, prove a session.
const VALUES_MIN: usize = 4;
/// Parameters remembered in all, the oldest forgotten first.
const PARAMETERS_MAX: usize = 1_024;
/// So many URLs without the parameter are remembered per parameter, and so many values of each.
const PAGES_MAX: usize = 16;
/// Session parameters of one site.
const LEARNED_PER_SITE_MAX: usize = 8;
const TOKEN_BYTES_MIN: usize = 8;

#[derive(Clone, Debug, Default)]
pub(super) struct SessionBook {
    /// By site and name in one text. The map is never iterated.
    evidence: HashMap<Box<str>, Evidence>,
    met: VecDeque<Box<str>>,
    learned: HashMap<Site, Vec<Box<str>>>,
}

#[derive(Clone, Debug, Default)]
struct Evidence {
    pages: Vec<Page>,
    acquitted: bool,
}

/// The visits to URLs that differ in the parameter alone.
#[derive(Clone, Debug)]
struct Page {
    rest: u64,
    content: u128,
    values: Vec<u64>,
}

impl SessionBook {
    pub fn is_empty(&self) -> bool {
        self.learned.is_empty()
    }

    /// Records the content that a visit found. Returns the parameter that is proved to carry a session by it.
    pub fn learn(&mut self, url: &Url, content: u128) -> Option<String> {
        let tokens: Vec<(&str, &str)> = parameters(url).filter(|(_, value)| is_token(value)).collect();
        tokens.into_iter().find_map(|(name, value)| {
            let rest = xxh3_64(without(url, &[name]).as_bytes());
            let proves = self.evidence_of(url, name).met(rest, content, xxh3_64(value.as_bytes()));
            (proves && self.add(&url.site(), name)).then(|| name.to_owned())
        })
    }

    /// Adds a parameter that an earlier process learned. False if it is known already or there are too many.
    pub fn add(&mut self, site: &Site, name: &str) -> bool {
        let learned = self.learned.entry(site.clone()).or_default();
        let is_new = learned.len() < LEARNED_PER_SITE_MAX && !learned.iter().any(|known| **known == *name);
        if is_new {
            learned.push(name.into());
        }
        is_new
    }

    /// The URL without the session parameters of its site. `None` if it has none.
    pub fn canonical(&self, url: &Url) -> Option<Url> {
        let learned = self.learned.get(url.site_text())?;
        let carried = |(name, value): (&str, &str)| is_token(value) && learned.iter().any(|known| **known == *name);
        if !parameters(url).any(carried) {
            return None;
        }
        let names: Vec<&str> = learned.iter().map(|name| &**name).collect();
        Url::parse(&without(url, &names)).ok()
    }

    fn evidence_of(&mut self, url: &Url, name: &str) -> &mut Evidence {
        let key: Box<str> = format!("{}?{name}", url.site_text()).into();
        if !self.evidence.contains_key(&key) {
            if self.met.len() == PARAMETERS_MAX
                && let Some(oldest) = self.met.pop_front()
            {
                self.evidence.remove(&oldest);
            }
            self.met.push_back(key.clone());
        }
        self.evidence.entry(key).or_default()
    }
}

impl Evidence {
    /// Whether this visit completes the proof.
    fn met(&mut self, rest: u64, content: u128, value: u64) -> bool {
        if self.acquitted {
            return false;
        }
        let Some(page) = self.pages.iter_mut().find(|page| page.rest == rest) else {
            if self.pages.len() == PAGES_MAX {
                self.pages.remove(0);
            }
            self.pages.push(Page { rest, content, values: vec![value] });
            return false;
        };
        if page.values.contains(&value) {
            // The same URL again: other content means that the page has changed.
            page.content = if page.values.len() == 1 { content } else { page.content };
            return false;
        }
        if page.content != content {
            self.acquitted = true;
            self.pages = Vec::new();
            return false;
        }
        page.values.push(value);
        page.values.len() >= VALUES_MIN
    }
}

/// Whether letters and digits are mixed as in generated tokens, which are neither numbers nor words nor dates.
fn is_token(value: &str) -> bool {
    let is_plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    value.len() >= TOKEN_BYTES_MIN && is_plain && digits >= 2 && letters >= 1
}

/// The text of a URL without the token-like values of these parameters.
fn without(url: &Url, names: &[&str]) -> String {
    let text = url.as_str();
    let bare = text.split_once('?').map_or(text, |(bare, _)| bare);
    let mut out = bare.to_owned();
    let mut mark = '?';
    for parameter in url.query().unwrap_or("").split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if names.contains(&name) && is_token(value) {
            continue;
        }
        out.push(mark);
        out.push_str(parameter);
        mark = '&';
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(tail: &str) -> Url {
        Url::parse(&format!("http://a.org{tail}")).unwrap()
    }

    /// A token that is different for each number.
    fn token(number: u64) -> String {
        format!("{:016x}", (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 0x10)
    }

    #[test]
    fn a_parameter_whose_tokens_make_no_difference_is_dropped_on_its_site_alone() {
        let mut book = SessionBook::default();
        let learned: Vec<(u64, String)> = (0..10)
            .filter_map(|n| Some((n, book.learn(&url(&format!("/shop?visit={}&page=2", token(n))), 7)?)))
            .collect();
        assert_eq!(learned, [(3, "visit".to_owned())]);
        let found = url(&format!("/basket?a=1&visit={}&b=2", token(99)));
        assert_eq!(book.canonical(&found), Some(url("/basket?a=1&b=2")));
        assert_eq!(book.canonical(&url("/basket?a=1&b=2")), None, "once canonical, always canonical");
        assert_eq!(book.canonical(&url("/basket?visit=morning")), None, "a word is no session");
        assert_eq!(book.canonical(&Url::parse(&format!("http://b.org/?visit={}", token(1))).unwrap()), None);
    }

    #[test]
    fn numbers_words_and_dates_are_never_sessions() {
        let mut book = SessionBook::default();
        for n in 0..50u64 {
            for tail in [format!("/l?page={n}"), format!("/l?from=2026-01-{n:02}"), format!("/l?q=word{n}")] {
                assert_eq!(book.learn(&url(&tail), 7), None, "{tail}");
            }
        }
        assert!(book.is_empty());
    }

    #[test]
    fn one_value_that_makes_a_difference_acquits_the_parameter_for_good() {
        let mut book = SessionBook::default();
        for n in 0..3 {
            assert_eq!(book.learn(&url(&format!("/item?id={}", token(n))), 7), None);
        }
        assert_eq!(book.learn(&url(&format!("/item?id={}", token(3))), 8), None);
        for n in 4..40 {
            assert_eq!(book.learn(&url(&format!("/item?id={}", token(n))), 7), None);
        }
    }

    #[test]
    fn other_pages_and_the_same_page_again_prove_nothing() {
        let mut book = SessionBook::default();
        for n in 0..40u64 {
            assert_eq!(book.learn(&url(&format!("/{n}?visit={}", token(n))), 7), None);
            assert_eq!(book.learn(&url(&format!("/same?visit={}", token(1))), n.into()), None);
        }
    }

    #[test]
    fn the_book_never_grows_beyond_its_limits() {
        let mut book = SessionBook::default();
        for n in 0..PARAMETERS_MAX as u64 + 100 {
            book.learn(&url(&format!("/?p{n}={}", token(n))), 7);
        }
        assert_eq!((book.evidence.len(), book.met.len()), (PARAMETERS_MAX, PARAMETERS_MAX));
        let site = Site::new("a.org");
        assert_eq!((0..20).filter(|n| book.add(&site, &format!("x{n}"))).count(), LEARNED_PER_SITE_MAX);
    }
}
