//! Sitemaps, feeds and tables as a worker meets them: whole bodies in, lists out. The cases follow those that the test
//! files of crawler-commons and feedparser are known for; the files are our own.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::io::Write as _;

use vernal_document::site_lists::LISTED_MAX;
use vernal_document::{Input, read};
use vernal_model::{Digest, SiteList, SiteListKind, Url};

fn listed(url: &str, content_type: &str, bytes: &[u8]) -> Option<Box<SiteList>> {
    let url = Url::parse(url).unwrap();
    let input = Input {
        url: &url,
        bytes,
        content_type: (!content_type.is_empty()).then_some(content_type),
        content_language: None,
        robots_tags: &[],
        payload: Digest([0; 20]),
    };
    read(&input).document.listing
}

fn urls(listing: &SiteList) -> Vec<&str> {
    listing.entries.iter().map(|entry| entry.url.as_str()).collect()
}

fn urlset(entries: &str) -> String {
    format!("<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>")
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_sitemap_is_known_by_its_root_whatever_its_type_says() {
    let text = urlset("<url><loc>http://a.org/1</loc></url>");
    for content_type in ["application/xml", "text/xml; charset=utf-8", "application/atom+xml", ""] {
        let listing = listed("http://a.org/anything", content_type, text.as_bytes()).unwrap();
        assert_eq!((listing.kind, urls(&listing)), (SiteListKind::Sitemap, vec!["http://a.org/1"]), "{content_type}");
    }
    assert_eq!(listed("http://a.org/page", "text/html", text.as_bytes()), None, "a page is a page");
    assert_eq!(listed("http://a.org/x.xml", "application/xml", b"<svg/>"), None);
}

#[test]
fn an_index_lists_sitemaps() {
    let text =
        "<sitemapindex><sitemap><loc>http://a.org/1.xml</loc><lastmod>2026-01-01</lastmod></sitemap></sitemapindex>";
    let listing = listed("http://a.org/sitemap.xml", "application/xml", text.as_bytes()).unwrap();
    assert_eq!((listing.kind, listing.entries.len()), (SiteListKind::SitemapIndex, 1));
}

#[test]
fn a_packed_file_is_unpacked_within_limits() {
    let text = urlset("<url><loc>http://a.org/1</loc></url>");
    for content_type in ["application/gzip", "application/x-gzip", "application/octet-stream", ""] {
        let listing = listed("http://a.org/sitemap.xml.gz", content_type, &packed(&text)).unwrap();
        assert_eq!(urls(&listing), ["http://a.org/1"], "{content_type}");
    }
    let bomb = packed(&(urlset("<url><loc>http://a.org/1</loc></url>") + &" ".repeat(64 << 20)));
    let listing = listed("http://a.org/sitemap.xml.gz", "application/gzip", &bomb).unwrap();
    assert!(listing.note.is_some(), "the fault is told");
    assert_eq!(urls(&listing), ["http://a.org/1"], "and what came before it is kept");
    let cut = &packed(&text)[..packed(&text).len() - 12];
    assert!(
        listed("http://a.org/sitemap.xml.gz", "application/gzip", cut).is_none_or(|listing| listing.note.is_some())
    );
}

#[test]
fn other_character_sets_are_read() {
    let (text, _, _) = (
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><urlset><url><loc>http://a.org/f\u{fc}r</loc></url></urlset>",
        (),
        (),
    );
    let bytes: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
    let listing = listed("http://a.org/sitemap.xml", "application/xml", &bytes).unwrap();
    assert_eq!(urls(&listing), ["http://a.org/f%C3%BCr"]);
    let utf16: Vec<u8> = std::iter::once(0xfeff)
        .chain(urlset("<url><loc>http://a.org/16</loc></url>").encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let listing = listed("http://a.org/sitemap.xml", "application/xml", &utf16).unwrap();
    assert_eq!(urls(&listing), ["http://a.org/16"]);
}

#[test]
fn entries_beyond_the_limit_are_counted() {
    let entries: String =
        (0..LISTED_MAX + 5).map(|number| format!("<url><loc>http://a.org/{number}</loc></url>")).collect();
    let listing = listed("http://a.org/sitemap.xml", "application/xml", urlset(&entries).as_bytes()).unwrap();
    assert_eq!((listing.entries.len(), listing.dropped), (LISTED_MAX, 5));
}

#[test]
fn what_is_no_url_of_ours_is_counted_and_costs_no_other_entry() {
    let text = urlset(
        "<url><loc>mailto:x@a.org</loc></url><url><loc>http://a.org/2</loc></url><url><loc>http://[bad</loc></url>",
    );
    let listing = listed("http://a.org/sitemap.xml", "application/xml", text.as_bytes()).unwrap();
    assert_eq!((urls(&listing), listing.dropped), (vec!["http://a.org/2"], 2));
}

#[test]
fn a_page_that_a_feed_names_twice_has_its_youngest_date() {
    let text = "<rss><channel><item><link>http://a.org/1</link><pubDate>2 Nov 2026 00:00 GMT</pubDate></item>\
        <item><link>http://a.org/1</link><pubDate>3 Nov 2026 00:00 GMT</pubDate></item></channel></rss>";
    let listing = listed("http://a.org/feed", "application/rss+xml", text.as_bytes()).unwrap();
    assert_eq!(listing.entries.len(), 1);
    assert_eq!(listing.entries[0].stamp.unwrap().from.warc_date(), "2026-11-03T00:00:00Z");
}

#[test]
fn relative_entries_of_a_feed_are_joined_to_its_base() {
    let text = "<feed xml:base='/blog/'><link rel='hub' href='//hub.org/'/><entry><link href='one'/></entry></feed>";
    let listing = listed("http://a.org/feeds/atom.xml", "application/atom+xml", text.as_bytes()).unwrap();
    assert_eq!(urls(&listing), ["http://a.org/blog/one"]);
    assert_eq!(listing.hub.unwrap().as_str(), "http://hub.org/");
}

#[test]
fn json_feeds_are_told_from_other_json() {
    let feed = br#"{"version":"https://jsonfeed.org/version/1","items":[{"url":"http://a.org/1"}]}"#;
    for content_type in ["application/feed+json", "application/json"] {
        assert_eq!(urls(&listed("http://a.org/f", content_type, feed).unwrap()), ["http://a.org/1"]);
    }
    assert_eq!(listed("http://a.org/f", "application/json", br#"{"items":[{"url":"http://a.org/1"}]}"#), None);
}

#[test]
fn lines_of_urls_are_a_sitemap_only_under_such_a_name() {
    let lines = b"http://a.org/1\nhttp://a.org/2\n";
    assert_eq!(urls(&listed("http://a.org/sitemap.txt", "text/plain", lines).unwrap()).len(), 2);
    assert_eq!(listed("http://a.org/notes.txt", "text/plain", lines), None);
}

#[test]
fn a_table_of_volatile_information_names_its_pages() {
    let table = b"volatile-information 1\npage /prices.html\npart a 2026-11-02 1\n";
    let listing = listed("http://a.org/prices.tvi", "text/plain", table).unwrap();
    assert_eq!((listing.kind, urls(&listing)), (SiteListKind::VolatileTable, vec!["http://a.org/prices.html"]));
}
