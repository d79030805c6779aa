//! robots.txt by RFC 9309. The crawler decides what other answers than the file mean (4xx allows, 5xx forbids).
//!
//! Where the RFC is silent, we follow the open parser of Google, with which most files are tested: a missing colon, common
//! misspellings, a partial byte order mark, and unknown lines, which never end a group. We differ from it on purpose in these
//! points:
//!
//! 1. `index.html` at the end of an allow rule does not mean its folder. That is a rule of Google and not of the RFC.
//! 2. Percent-encoded unreserved letters are decoded on both sides (`%62%61%7A` is `baz`), as RFC 9309 2.2.2 wants, and
//!    so are `: / ? @ [ ]` within a query (its first example); `%2A` and `%24` are a literal `*` and `$` (2.2.3).
//! 3. A key is the whole word before the colon: `allowed:` is not `allow:`.
//! 4. The agent may be given as a whole User-Agent value: its product token counts, so that `Foo Bar` is `Foo`.
//! 5. Crawl-delay is read (Google ignores it).
//! 6. The last line of a file that is cut at its limit is dropped, because the shortened rule might forbid more than intended.

use std::borrow::Cow;
use std::collections::BTreeMap;

use memchr::memmem;
use vernal_model::{Span, Url};

/// RFC 9309 2.5 requires parsing at least so much. We ignore the rest.
const FILE_BYTES_MAX: usize = 500 << 10;
/// Longer lines are cut, as in the parser of Google: eight times the longest usual URL.
const LINE_BYTES_MAX: usize = 2_083 * 8 - 1;
const SITEMAPS_MAX: usize = 1_000;
/// robots.txt itself may always be requested (RFC 9309 2.2.2).
const ALWAYS_ALLOWED: &str = "/robots.txt";

/// The rules of one robots.txt.
#[derive(Clone, Debug, Default)]
pub struct Robots {
    groups: Vec<Group>,
    /// The groups of each product token in lower case, and of `*`.
    by_agent: BTreeMap<Box<str>, Agent>,
    sitemaps: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct Agent {
    /// Every group that names it counts (RFC 9309 2.2.1: they are merged).
    groups: Vec<usize>,
    crawl_delay: Option<Span>,
}

/// Rules by falling precedence: the first that matches decides.
#[derive(Clone, Debug, Default)]
struct Group {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    /// The normalised pattern, with `*` as wildcard and without the final `$`.
    pattern: Vec<u8>,
    /// The position of the first `*`, or the end.
    first_star: usize,
    /// It ended with `$`.
    to_the_end: bool,
    allow: bool,
}

impl Robots {
    /// Parses any bytes. Lines that are no rule are ignored.
    pub fn parse(bytes: &[u8]) -> Robots {
        let mut reader = Reader::default();
        for line in lines(bytes) {
            if let Some((key, value)) = key_and_value(line) {
                reader.take(key, value);
            }
        }
        let mut robots = reader.robots;
        for group in &mut robots.groups {
            group.rules.sort_by_key(|rule| std::cmp::Reverse(rule.precedence()));
        }
        robots
    }

    /// Whether this is the URL of a robots.txt, which may always be requested.
    pub fn is_at(url: &Url) -> bool {
        url.path_and_query().starts_with(ALWAYS_ALLOWED) && url.path() == ALWAYS_ALLOWED
    }

    /// Whether the agent (a product token or a whole User-Agent value) may request this URL.
    pub fn allows(&self, agent: &str, url: &Url) -> bool {
        let Some(agent) = self.agent(agent) else { return true };
        if Robots::is_at(url) {
            return true;
        }
        let target = normalised(url.path_and_query().as_bytes(), Side::Url);
        let deciding =
            agent.groups.iter().filter_map(|&group| self.groups[group].rules.iter().find(|rule| rule.matches(&target)));
        deciding.max_by_key(|rule| rule.precedence()).is_none_or(|rule| rule.allow)
    }

    /// The crawl-delay for the agent, as written. The caller limits it.
    pub fn crawl_delay(&self, agent: &str) -> Option<Span> {
        self.agent(agent)?.crawl_delay
    }

    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// The rules for a product token, or else for everybody.
    fn agent(&self, agent: &str) -> Option<&Agent> {
        let token = product_token(agent.as_bytes());
        self.by_agent.get(&*token).filter(|_| !token.is_empty()).or_else(|| self.by_agent.get("*"))
    }
}

/// The parser state: the agents of the next rule.
#[derive(Default)]
struct Reader {
    robots: Robots,
    /// The current group, once an agent was named.
    group: Option<usize>,
    /// Set after a rule: the next agent begins a new group.
    ruled: bool,
    /// The agents of a crawl-delay. It is no rule of the RFC and does not end a group, but of two agents with a delay each, each has
    /// its own.
    delayed: Vec<Box<str>>,
    delay_given: bool,
}

impl Reader {
    fn take(&mut self, key: Key, value: &[u8]) {
        match key {
            Key::UserAgent => self.take_agent(value),
            Key::Allow => self.take_rule(value, true),
            Key::Disallow => self.take_rule(value, false),
            Key::CrawlDelay => self.take_delay(value),
            Key::Sitemap => {
                if self.robots.sitemaps.len() < SITEMAPS_MAX && !value.is_empty() {
                    self.robots.sitemaps.push(String::from_utf8_lossy(value).into_owned());
                }
            }
        }
    }

    fn take_agent(&mut self, value: &[u8]) {
        let group = match self.group {
            Some(group) if !self.ruled => group,
            _ => {
                self.robots.groups.push(Group::default());
                self.robots.groups.len() - 1
            }
        };
        if self.ruled || self.delay_given {
            self.delayed.clear();
        }
        (self.group, self.ruled, self.delay_given) = (Some(group), false, false);
        let everybody = value.first() == Some(&b'*') && value.get(1).is_none_or(u8::is_ascii_whitespace);
        let name: Box<str> = if everybody { "*".into() } else { product_token(value).into() };
        if name.is_empty() {
            return;
        }
        let groups = &mut self.robots.by_agent.entry(name.clone()).or_default().groups;
        if groups.last() != Some(&group) {
            groups.push(group);
        }
        self.delayed.push(name);
    }

    fn take_rule(&mut self, value: &[u8], allow: bool) {
        let Some(group) = self.group else { return };
        self.ruled = true;
        // An empty path matches nothing: "Disallow:" allows all.
        if !value.is_empty() {
            self.robots.groups[group].rules.push(Rule::new(value, allow));
        }
    }

    fn take_delay(&mut self, value: &[u8]) {
        self.delay_given = true;
        let secs = std::str::from_utf8(value).ok().and_then(|text| text.parse::<f64>().ok());
        let Some(secs) = secs.filter(|secs| secs.is_finite() && *secs >= 0.0) else { return };
        let delay = Span::from_secs_f64(secs);
        for name in &self.delayed {
            if let Some(agent) = self.robots.by_agent.get_mut(name) {
                // With two delays, the longer one is used.
                agent.crawl_delay = agent.crawl_delay.max(Some(delay));
            }
        }
    }
}

impl Rule {
    fn new(value: &[u8], allow: bool) -> Self {
        let (value, to_the_end) = match value.strip_suffix(b"$") {
            Some(value) => (value, true),
            None => (value, false),
        };
        let pattern = normalised(value, Side::Rule).into_owned();
        let first_star = pattern.iter().position(|&byte| byte == b'*').unwrap_or(pattern.len());
        Rule { pattern, first_star, to_the_end, allow }
    }

    /// The longest rule wins. With equal lengths, allow wins (RFC 9309 2.2.2).
    fn precedence(&self) -> (usize, bool) {
        (self.pattern.len() + usize::from(self.to_the_end), self.allow)
    }

    /// Each piece between stars is matched at its earliest position, so the cost grows with the sum of the lengths and not
    /// with their product, whatever a site writes.
    fn matches(&self, target: &[u8]) -> bool {
        let (first, starred) = self.pattern.split_at(self.first_star);
        let Some(mut rest) = target.strip_prefix(first) else { return false };
        let Some(pieces) = starred.strip_prefix(b"*") else { return !self.to_the_end || rest.is_empty() };
        let mut pieces = pieces.split(|&byte| byte == b'*').peekable();
        while let Some(piece) = pieces.next() {
            if self.to_the_end && pieces.peek().is_none() {
                return rest.ends_with(piece);
            }
            match memmem::find(rest, piece) {
                Some(start) => rest = &rest[start + piece.len()..],
                None => return false,
            }
        }
        true
    }
}

/// The lines of a file, whatever ends them, without a byte order mark or a part of one.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let mut file = &bytes[..bytes.len().min(FILE_BYTES_MAX)];
    if file.len() < bytes.len() && !is_end(&bytes[file.len()]) {
        let last_end = file.iter().rposition(is_end);
        file = &file[..last_end.unwrap_or(0)];
    }
    let mark = file.iter().zip(BYTE_ORDER_MARK).take_while(|(byte, expected)| byte == expected).count();
    file[mark..].split(move |byte| is_end(byte)).map(|line| &line[..line.len().min(LINE_BYTES_MAX)])
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Key {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

/// The key and the value of a line, without its comment. Without a colon, white space separates them if there are exactly two
/// words.
fn key_and_value(line: &[u8]) -> Option<(Key, &[u8])> {
    let line = line.split(|&byte| byte == b'#').next().unwrap_or_default().trim_ascii();
    let (key, value) = match line.iter().position(|&byte| byte == b':') {
        Some(colon) => (&line[..colon], &line[colon + 1..]),
        None => {
            let space = line.iter().position(|&byte| matches!(byte, b' ' | b'\t'))?;
            let value = line[space..].trim_ascii();
            if value.iter().any(|&byte| matches!(byte, b' ' | b'\t')) {
                return None;
            }
            (&line[..space], value)
        }
    };
    let key = match key.trim_ascii().to_ascii_lowercase().as_slice() {
        b"user-agent" | b"useragent" | b"user agent" => Key::UserAgent,
        b"allow" => Key::Allow,
        b"disallow" | b"dissallow" | b"dissalow" | b"disalow" | b"diasllow" | b"disallaw" => Key::Disallow,
        b"crawl-delay" | b"crawldelay" | b"crawl delay" => Key::CrawlDelay,
        b"sitemap" | b"site-map" => Key::Sitemap,
        _ => return None,
    };
    Some((key, value.trim_ascii()))
}

/// The letters, hyphens and underscores at the beginning, in lower case (RFC 9309 2.2.1).
fn product_token(agent: &[u8]) -> Cow<'_, str> {
    let is_part = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    let token = &agent[..agent.iter().position(|byte| !is_part(byte)).unwrap_or(agent.len())];
    let token = std::str::from_utf8(token).unwrap_or_default();
    if token.bytes().any(|byte| byte.is_ascii_uppercase()) { token.to_ascii_lowercase().into() } else { token.into() }
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Side {
    Url,
    /// A star means anything.
    Rule,
}

/// One spelling for all octets that mean the same (RFC 9309 2.2.2): unreserved letters stand for themselves, octets
/// that no URL may have are percent-encoded, encodings are in upper case.
fn normalised(text: &[u8], side: Side) -> Cow<'_, [u8]> {
    // Most paths need no change.
    if text.iter().all(|&byte| STANDS_FOR_ITSELF[usize::from(byte)]) {
        return text.into();
    }
    let mut out = Vec::with_capacity(text.len() + 8);
    let mut in_query = false;
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let encoded = (byte == b'%').then(|| octet(after)).flatten();
        if encoded.is_some() {
            rest = &after[2..];
        }
        in_query |= byte == b'?';
        match encoded {
            Some(octet)
                if is_plain(octet) || (in_query && matches!(octet, b':' | b'/' | b'?' | b'@' | b'[' | b']')) =>
            {
                out.push(octet);
            }
            Some(octet) => push_encoded(&mut out, octet),
            None if byte == b'*' && side == Side::Rule => out.push(b'*'),
            None if is_plain(byte) || is_delimiter(byte) || byte == b'%' => out.push(byte),
            None => push_encoded(&mut out, byte),
        }
    }
    out.into()
}

/// The octets that are neither encoded nor decoded and have no meaning in a rule.
const STANDS_FOR_ITSELF: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = is_plain(byte as u8) || is_delimiter(byte as u8);
        byte += 1;
    }
    table
};

fn octet(digits: &[u8]) -> Option<u8> {
    let digit = |place: usize| digits.get(place).and_then(|&byte| char::from(byte).to_digit(16));
    Some((digit(0)? << 4 | digit(1)?) as u8)
}

/// Unreserved (RFC 3986 2.3).
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Reserved (RFC 3986 2.2), without the signs that mean something in a rule.
const fn is_delimiter(byte: u8) -> bool {
    matches!(
        byte,
        b':' | b'/' | b'?' | b'[' | b']' | b'@' | b'!' | b'&' | b'\'' | b'(' | b')' | b'+' | b',' | b';' | b'='
    )
}

fn push_encoded(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}
