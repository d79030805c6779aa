//! Traps by evidence: many URLs of one pattern with the same content, or too many URLs of one pattern.

use std::collections::VecDeque;

use foldhash::{HashMap, HashSet};
use vernal_model::{Moment, Site, Url};

use super::pattern::key_of;
use super::rules::{by_rule, ends_in_date};
use super::sessions::SessionBook;
use super::sitemaps::{IndexReach, SitemapBook};

/// So many pages of one pattern with the same content make it a trap.
const SAME_CONTENT_MAX: usize = 20;
/// After about so many visited pages, a pattern with parameters is closed.
const PARAMETER_PATTERN_PAGES_MAX: usize = 5_000;
/// They are counted by keeping one fingerprint in so many, so that a page which is visited again is not counted twice.
const COUNTED_ONE_IN: usize = 64;
/// After so many visited pages (twenty years of months), a pattern that ends in a date is closed. Articles have a name after
/// the date and are not counted.
const DATED_PATTERN_PAGES_MAX: usize = 240;
/// So many patterns are remembered, and the oldest is forgotten first. Each partition has a book of its own.
const PATTERNS_MAX: usize = 8_192;
/// So many contents are counted over whole sites. The oldest is forgotten first.
const COUNTED_CONTENTS_MAX: usize = 8_192;
/// So many contents are counted per pattern. The rarest is evicted.
const CONTENTS_PER_PATTERN_MAX: usize = 4;
/// The content digest of an empty text (xxh3, 128 bits). Empty pages are no evidence.
const EMPTY_CONTENT: u128 = 0x99aa_06d3_0147_98d8_6001_c324_468d_497f;

/// The words before the name of a learned session parameter.
const SESSION_WORDS: &str = "a session is dropped from URLs: the parameter ";

/// What visits showed about the URL patterns of all sites.
#[derive(Clone, Debug, Default)]
pub struct TrapBook {
    /// By site and pattern in one text. The map is never iterated.
    patterns: HashMap<Box<str>, Evidence>,
    /// The patterns in the order in which they were first seen.
    met: VecDeque<Box<str>>,
    /// How many URLs of a site had a content, whatever their pattern.
    copies: HashMap<u128, u16>,
    copies_met: VecDeque<u128>,
    sessions: SessionBook,
    sitemaps: SitemapBook,
    /// The marks of all patterns that were recognised as traps.
    closed: HashSet<PatternMark>,
}

/// Stands for the pattern of a URL on its site, so that a page can be asked later whether it lies in a trap.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct PatternMark(pub u32);

impl PatternMark {
    fn of(key: &str) -> Self {
        PatternMark(xxhash_rust::xxh3::xxh3_64(key.as_bytes()) as u32)
    }
}

#[derive(Clone, Debug, Default)]
struct Evidence {
    contents: Vec<Content>,
    /// One in `COUNTED_ONE_IN` of the URLs visited.
    counted: Vec<u64>,
    /// The visited URLs that end in a date.
    dated: Vec<u64>,
    trap: Option<Box<str>>,
}

/// One content and the URLs that had it. A URL that is visited again is no new evidence.
#[derive(Clone, Debug)]
struct Content {
    digest: u128,
    urls: Vec<u64>,
}

impl TrapBook {
    pub fn new() -> Self {
        TrapBook::default()
    }

    /// The reason why this URL is suspected to lie in a trap; `None` without a suspicion.
    pub fn suspects(&self, url: &Url, now: Moment) -> Option<String> {
        by_rule(url, now).or_else(|| {
            if self.patterns.is_empty() {
                return None;
            }
            self.patterns.get(key_of(url).as_str()).and_then(|evidence| evidence.trap.as_deref()).map(str::to_owned)
        })
    }

    /// The reason why a URL that was admitted before its trap was recognised need not be requested. This applies only to
    /// searches, calendars and sessions, where nothing is lost. Plain pages that were admitted are requested.
    pub fn closes(&self, url: &Url) -> Option<String> {
        if self.sessions.canonical(url).is_some() {
            return Some("it carries a session, and is asked for without it".to_owned());
        }
        if self.patterns.is_empty() || (url.query().is_none() && !ends_in_date(url)) {
            return None;
        }
        self.patterns.get(key_of(url).as_str()).and_then(|evidence| evidence.trap.as_deref()).map(str::to_owned)
    }

    /// The mark of the pattern of a URL.
    pub fn mark(url: &Url) -> PatternMark {
        PatternMark::of(&key_of(url))
    }

    /// Whether pages of this pattern lie in a recognised trap.
    pub fn has_closed(&self, mark: PatternMark) -> bool {
        self.closed.contains(&mark)
    }

    /// Records the digest of the text that a visit found. Returns the reason, in words, if this reveals a new trap.
    pub fn learn(&mut self, url: &Url, content: u128) -> Option<String> {
        let key = key_of(url);
        let pattern = &key[url.site_text().len()..];
        let evidence = self.evidence(&key);
        if evidence.trap.is_some() {
            return None;
        }
        let fingerprint = url.fingerprint().0;
        let words = if evidence.with_content(fingerprint, content) >= SAME_CONTENT_MAX {
            format!("{SAME_CONTENT_MAX} pages like `{pattern}` have the same content")
        } else if pattern.contains('?') && evidence.pages(fingerprint) >= PARAMETER_PATTERN_PAGES_MAX {
            format!("about {PARAMETER_PATTERN_PAGES_MAX} pages like `{pattern}` are enough")
        } else if ends_in_date(url) && evidence.dated(fingerprint) >= DATED_PATTERN_PAGES_MAX {
            format!("{DATED_PATTERN_PAGES_MAX} pages of dates like `{pattern}` are enough")
        } else {
            return None;
        };
        self.closed.insert(PatternMark::of(&key));
        let evidence = self.evidence(&key);
        evidence.trap = Some(words.as_str().into());
        evidence.contents = Vec::new();
        evidence.counted = Vec::new();
        evidence.dated = Vec::new();
        Some(words)
    }

    /// Records the same digest for the parameters of the URL. Returns the reason, in words, if one turns out to be a session.
    pub fn learn_session(&mut self, url: &Url, content: u128) -> Option<String> {
        if content == 0 || content == EMPTY_CONTENT {
            return None;
        }
        let name = self.sessions.learn(url, content)?;
        self.closed.insert(TrapBook::mark(url));
        Some(format!("{SESSION_WORDS}`{name}`"))
    }

    pub fn has_sessions(&self) -> bool {
        !self.sessions.is_empty()
    }

    /// The URL without the session parameters of its site; `None` if it has none.
    pub fn without_sessions(&self, url: &Url) -> Option<Url> {
        self.sessions.canonical(url)
    }

    /// Whether a page that is visited for the first time is one copy too many of a content of its site. Its links are not
    /// followed then. This ends traps in which each URL has its own pattern, such as relative links that go ever deeper.
    pub fn is_copy(&mut self, url: &Url, content: u128) -> bool {
        if content == 0 || content == EMPTY_CONTENT {
            return false;
        }
        let key = content ^ u128::from(xxhash_rust::xxh3::xxh3_64(url.site_text().as_bytes()));
        if !self.copies.contains_key(&key) {
            if self.copies_met.len() == COUNTED_CONTENTS_MAX
                && let Some(oldest) = self.copies_met.pop_front()
            {
                self.copies.remove(&oldest);
            }
            self.copies_met.push_back(key);
        }
        let count = self.copies.entry(key).or_default();
        *count = count.saturating_add(1);
        usize::from(*count) > SAME_CONTENT_MAX
    }

    /// How many of the files that an index of sitemaps newly names may be asked for. `depth` counts the indexes above it, and
    /// `read` is the number of lists that the site is known to have.
    pub fn follow_index(&mut self, site: &Site, depth: u16, named: usize, read: usize) -> IndexReach {
        self.sitemaps.follow_index(site, depth, named, read)
    }

    /// Records whether a list names pages of ours. Returns the reason, in words, if this closes the sitemaps of its site.
    pub fn learn_sitemap(&mut self, site: &Site, names_pages: bool) -> Option<String> {
        self.sitemaps.learn(site, names_pages)
    }

    /// The reason why files that the indexes of this site name are not asked for.
    pub fn sitemaps_closed(&self, site: &Site) -> Option<&str> {
        self.sitemaps.closed(site)
    }

    /// Restores the traps that `learn` returned in an earlier process.
    pub fn recall(&mut self, site: &Site, traps: &[String]) {
        for words in traps {
            if self.sitemaps.recall(site, words) {
                continue;
            }
            if let Some(name) = words.strip_prefix(SESSION_WORDS) {
                self.sessions.add(site, name.trim_matches('`'));
            }
            if let Some(pattern) = words.split('`').nth(1).filter(|pattern| pattern.starts_with('/')) {
                let key = format!("{site}{pattern}");
                self.closed.insert(PatternMark::of(&key));
                self.evidence(&key).trap = Some(words.as_str().into());
            }
        }
    }

    fn evidence(&mut self, key: &str) -> &mut Evidence {
        if !self.patterns.contains_key(key) {
            self.make_room();
            self.met.push_back(key.into());
        }
        self.patterns.entry(key.into()).or_default()
    }

    /// Forgets the oldest pattern. Traps are spared as far as possible.
    fn make_room(&mut self) {
        const TRAPS_SPARED: usize = 16;
        for spared in 0.. {
            if self.patterns.len() < PATTERNS_MAX {
                return;
            }
            let Some(oldest) = self.met.pop_front() else { return };
            let is_trap = self.patterns.get(&oldest).is_some_and(|evidence| evidence.trap.is_some());
            if is_trap && spared < TRAPS_SPARED {
                self.met.push_back(oldest);
            } else {
                self.patterns.remove(&oldest);
            }
        }
    }
}

impl Evidence {
    /// How many URLs had this content, including this one.
    fn with_content(&mut self, url: u64, digest: u128) -> usize {
        if digest == 0 || digest == EMPTY_CONTENT {
            return 0;
        }
        if let Some(content) = self.contents.iter_mut().find(|content| content.digest == digest) {
            if !content.urls.contains(&url) {
                content.urls.push(url);
            }
            return content.urls.len();
        }
        if self.contents.len() == CONTENTS_PER_PATTERN_MAX
            && let Some((rarest, _)) = self.contents.iter().enumerate().min_by_key(|(_, content)| content.urls.len())
        {
            self.contents.remove(rarest);
        }
        self.contents.push(Content { digest, urls: vec![url] });
        1
    }

    /// About how many URLs were visited, including this one.
    fn pages(&mut self, url: u64) -> usize {
        if url.is_multiple_of(COUNTED_ONE_IN as u64) && !self.counted.contains(&url) {
            self.counted.push(url);
        }
        self.counted.len() * COUNTED_ONE_IN
    }

    /// How many URLs that end in a date were visited, including this one.
    fn dated(&mut self, url: u64) -> usize {
        if !self.dated.contains(&url) {
            self.dated.push(url);
        }
        self.dated.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(tail: &str) -> Url {
        Url::parse(&format!("http://a.org{tail}")).unwrap()
    }

    fn now() -> Moment {
        Moment::parse("2026-11-15", Moment::EPOCH).unwrap()
    }

    #[test]
    fn twenty_pages_with_one_content_close_their_pattern_and_nothing_else() {
        let mut book = TrapBook::new();
        let mut told = Vec::new();
        for number in 0..40 {
            told.extend(book.learn(&url(&format!("/endless/{number}")), 7));
            book.learn(&url(&format!("/article/{number}")), 1_000 + number);
        }
        assert_eq!(told, ["20 pages like `/endless/#` have the same content"]);
        assert_eq!(book.suspects(&url("/endless/99"), now()).as_ref(), told.first());
        assert!(book.suspects(&url("/article/99"), now()).is_none());
        assert!(book.suspects(&Url::parse("http://b.org/endless/99").unwrap(), now()).is_none());

        let mut restarted = TrapBook::new();
        restarted.recall(&Site::new("a.org"), &told);
        assert_eq!(restarted.suspects(&url("/endless/99"), now()).as_ref(), told.first());
        for book in [&book, &restarted] {
            assert!(book.has_closed(TrapBook::mark(&url("/endless/3"))), "pages from before it was recognised too");
            assert!(!book.has_closed(TrapBook::mark(&url("/article/3"))));
        }
    }

    #[test]
    fn a_calendar_has_an_end_and_dated_articles_have_none() {
        let mut book = TrapBook::new();
        let mut told = Vec::new();
        for month in 0..600u128 {
            let date = format!("{}/{:02}", 1975 + month / 12, month % 12 + 1);
            told.extend(book.learn(&url(&format!("/calendar/{date}/")), 1_000 + month));
            assert_eq!(book.learn(&url(&format!("/news/{date}/a-story-{month}/")), 5_000 + month), None);
        }
        assert_eq!(told, ["240 pages of dates like `/calendar/#/#/` are enough"]);
        assert!(book.suspects(&url("/calendar/2024/01/"), now()).is_some());
    }

    #[test]
    fn links_of_the_twenty_first_copy_are_not_followed_and_other_sites_do_not_count() {
        let mut book = TrapBook::new();
        let deeper = |depth: usize| url(&format!("/deep/{}", "x/".repeat(depth)));
        let copies: Vec<bool> = (0..25).map(|depth| book.is_copy(&deeper(depth), 7)).collect();
        assert_eq!(copies.iter().position(|&copy| copy), Some(SAME_CONTENT_MAX));
        assert!(!book.is_copy(&Url::parse("http://b.org/").unwrap(), 7));
        assert!(!book.is_copy(&url("/other"), 8));
    }

    #[test]
    fn visiting_one_page_again_and_pages_without_text_prove_nothing() {
        let mut book = TrapBook::new();
        for number in 0..100 {
            assert_eq!(book.learn(&url("/news/1"), 7), None);
            assert_eq!(book.learn(&url(&format!("/picture/{number}")), 0), None);
            assert_eq!(book.learn(&url(&format!("/file/{number}")), EMPTY_CONTENT), None);
        }
    }

    #[test]
    fn a_frequent_content_among_many_others_is_still_found() {
        let mut book = TrapBook::new();
        let told =
            (0..200u128).find_map(|n| book.learn(&url(&format!("/p/{n}")), if n % 3 == 0 { 5 } else { 1_000 + n }));
        assert!(told.is_some());
    }

    #[test]
    fn a_pattern_of_parameters_has_an_end_and_plain_paths_have_none() {
        let mut book = TrapBook::new();
        let mut told = Vec::new();
        for n in 0..8_000u128 {
            assert_eq!(book.learn(&url(&format!("/p/{n}")), 1_000 + n), None);
            assert_eq!(book.learn(&url(&format!("/few?page={}", n % 100)), 1_000 + n), None);
            told.extend(book.learn(&url(&format!("/list?page={n}")), 1_000 + n).map(|words| (n, words)));
        }
        let [(when, words)] = told.as_slice() else { panic!("{told:?}") };
        assert!((3_500..6_500).contains(when), "{when}");
        assert_eq!(words, "about 5000 pages like `/list?page` are enough");
    }

    #[test]
    fn the_book_never_grows_beyond_its_limit() {
        let mut book = TrapBook::new();
        let mut name = String::new();
        for number in 0..PATTERNS_MAX + 500 {
            name.clear();
            let mut rest = number;
            for _ in 0..6 {
                name.push(char::from(b'g' + (rest % 16) as u8));
                rest /= 16;
            }
            book.learn(&url(&format!("/{name}")), 9);
        }
        assert_eq!((book.patterns.len(), book.met.len()), (PATTERNS_MAX, PATTERNS_MAX));
    }
}
