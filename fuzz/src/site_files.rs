//! Laws of the files that sites write for machines: robots.txt, sitemaps and feeds.

use std::collections::HashSet;

use vernal_document::robots::Robots;
use vernal_document::site_lists::LISTED_MAX;
use vernal_document::{Input, read};
use vernal_model::Url;

const ROBOTS_PATH: &str = "/robots.txt";
const ROBOTS_SITEMAPS_MAX: usize = 1_000;

/// Reads the bytes as a robots.txt. Reading ends, robots.txt itself is always allowed, and the same question gets the
/// same answer twice.
///
/// # Panics
///
/// If one of these laws does not hold.
pub fn robots(bytes: &[u8]) {
    let robots = Robots::parse(bytes);
    let line = bytes.split(|&byte| byte == b'\n').next_back().unwrap_or_default();
    let tail: String = line.iter().map(|&byte| char::from(byte)).take(200).collect();
    for agent in ["vernal", "", "*", &tail] {
        for path in ["robots.txt", "", "a/b.html?x=1", &tail] {
            let Ok(url) = Url::parse(&format!("http://example.org/{path}")) else { continue };
            let allowed = robots.allows(agent, &url);
            assert_eq!(allowed, Robots::parse(bytes).allows(agent, &url));
            assert!(allowed || url.path() != ROBOTS_PATH);
        }
        let _ = robots.crawl_delay(agent);
    }
    assert!(robots.sitemaps().len() <= ROBOTS_SITEMAPS_MAX);
}

/// Reads the bytes as a sitemap in each of its forms.
///
/// # Panics
///
/// If a limit is not kept, or the same bytes give another list.
pub fn sitemap(bytes: &[u8]) {
    list(bytes, "http://example.org/a/sitemap.xml", "application/xml");
    list(bytes, "http://example.org/sitemap.txt", "text/plain");
    list(bytes, "http://example.org/sitemap.xml.gz", "application/gzip");
}

/// Reads the bytes as a feed in each of its forms.
///
/// # Panics
///
/// If a limit is not kept, or the same bytes give another list.
pub fn feed(bytes: &[u8]) {
    list(bytes, "http://example.org/a/feed", "application/rss+xml");
    list(bytes, "http://example.org/feed.json", "application/feed+json");
}

fn list(bytes: &[u8], url: &str, content_type: &str) {
    let url = Url::parse(url).expect("a plain URL parses");
    let input = Input {
        url: &url,
        bytes,
        content_type: Some(content_type),
        content_language: None,
        robots_tags: &[],
        payload: Default::default(),
    };
    let document = read(&input).document;
    if let Some(listing) = &document.listing {
        assert!(listing.entries.len() <= LISTED_MAX);
        let met: HashSet<&Url> = listing.entries.iter().map(|entry| &entry.url).collect();
        assert_eq!(met.len(), listing.entries.len(), "each page is listed once");
        for stamp in listing.entries.iter().filter_map(|entry| entry.stamp) {
            assert!(stamp.from <= stamp.until);
        }
    }
    assert_eq!(read(&input).document.listing, document.listing);
}
