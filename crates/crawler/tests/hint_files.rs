//! Lists, feeds, tables and tags on a small web written by hand: where they are looked for, and what becomes of their words.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod small_web;

use small_web::{ROOT, START, SmallWeb, page, said, url};
use vernal_model::{HintSource, Moment, SiteListKind, Span};

#[test]
fn where_robots_names_no_sitemap_the_usual_place_is_tried_once() {
    let mut hand = SmallWeb::new("100%/day");
    hand.put("/", "text/html", page("", "one"));
    hand.run_for(Span::from_days(20));
    assert_eq!(hand.asked_for("/sitemap.xml", START), 1);
    assert!(hand.asked_for("/robots.txt", START) > 10);
}

#[test]
fn an_index_is_followed_and_its_lists_find_pages_that_nothing_links_to() {
    let mut hand = SmallWeb::new("100%/day");
    hand.put("/robots.txt", "text/plain", "User-agent: *\nDisallow: /no\nSitemap: /maps/index.xml\n");
    let index = format!("<sitemapindex><sitemap><loc>{ROOT}maps/1.xml</loc></sitemap></sitemapindex>");
    hand.put("/maps/index.xml", "application/xml", index);
    let list = format!("<urlset><url><loc>{ROOT}lonely</loc></url><url><loc>{ROOT}no</loc></url></urlset>");
    hand.put("/maps/1.xml", "application/xml", list);
    hand.put("/", "text/html", page("", "one"));
    hand.put("/lonely", "text/html", page("", "two"));
    hand.put("/no", "text/html", page("", "three"));
    hand.run_for(Span::from_days(1));
    assert!(hand.asked_for("/lonely", START) >= 1);
    assert_eq!(hand.asked_for("/no", START), 0, "robots.txt holds for them too");
    assert_eq!(hand.asked_for("/sitemap.xml", START), 0, "robots.txt named one");
    let hints = hand.crawler.reader().site_hints(&url("/").site()).unwrap();
    let kinds: Vec<SiteListKind> = hints.files.iter().map(|(_, file)| file.kind).collect();
    assert!(kinds.contains(&SiteListKind::SitemapIndex) && kinds.contains(&SiteListKind::Sitemap), "{kinds:?}");
}

#[test]
fn a_feed_that_a_page_names_is_read_and_its_news_are_hints() {
    let mut hand = SmallWeb::new("300%/day");
    let feed = |date: &str| format!("<feed><entry><link href=\"/news\"/><updated>{date}</updated></entry></feed>");
    let link = "<link rel=\"alternate\" type=\"application/atom+xml\" href=\"/feed\">";
    hand.put("/", "text/html", page(link, "<a href=\"/news\">news</a>"));
    hand.put("/news", "text/html", page("", "one"));
    hand.put("/feed", "application/atom+xml", feed("2020-01-01T00:00:00Z"));
    hand.run_for(Span::from_days(1));
    assert_eq!(hand.asked_for("/feed", START), 1);
    let key = hand.crawler.reader().page_by_url(&url("/news")).unwrap().unwrap().key;
    for _ in 0..60 {
        hand.put("/feed", "application/atom+xml", feed(&hand.now.warc_date()));
        hand.run_for(Span::from_days(1));
        if hand.crawler.reader().page_hints(key).unwrap().pending.iter().any(|hint| hint.source == HintSource::Feed) {
            return;
        }
    }
    let hints = hand.crawler.reader().site_hints(&url("/").site()).unwrap();
    let heard = hints.sources.iter().find(|(source, _)| *source == HintSource::Feed).map_or(0, |(_, row)| row.heard);
    assert!(heard > 0, "{hints:?}");
}

#[test]
fn a_page_whose_table_proved_good_is_visited_only_when_the_table_moves() {
    let mut hand = SmallWeb::new("400%/day");
    let link = "<link rel=\"volatile-information\" href=\"/prices.tvi\">";
    let table = |at: Moment| format!("volatile-information 1\npage /prices\npart price {} 1\n", at.warc_date());
    hand.put("/", "text/html", page("", "<a href=\"/prices\">prices</a>"));
    hand.put("/prices", "text/html", page(link, "nothing yet"));
    hand.put("/prices.tvi", "text/plain", table(START));
    hand.run_for(Span::from_days(2));
    for round in 0..40 {
        hand.put("/prices", "text/html", page(link, &said(round)));
        hand.put("/prices.tvi", "text/plain", table(hand.now));
        hand.run_for(Span::from_days(2));
    }
    let site = url("/").site();
    let hints = hand.crawler.reader().site_hints(&site).unwrap();
    let (_, row) = hints.sources.iter().find(|(source, _)| *source == HintSource::Companion).unwrap();
    assert!(row.right > 5.0 && row.wrong < row.right / 2.0, "{row:?}");
    let quiet = hand.now;
    hand.run_for(Span::from_days(20));
    let (pages, tables) = (hand.asked_for("/prices", quiet), hand.asked_for("/prices.tvi", quiet));
    assert!(pages <= 3 && tables > 3 * pages.max(1), "the page was asked for {pages} times, its table {tables} times");
    hand.put("/prices", "text/html", page(link, "the price is another one"));
    hand.put("/prices.tvi", "text/plain", table(hand.now));
    let moved = hand.now;
    hand.run_for(Span::from_days(6));
    assert!(hand.asked_for("/prices", moved) >= 1, "the table moved");
}

#[test]
fn the_table_is_asked_before_its_page_from_the_beginning() {
    let mut hand = SmallWeb::new("2000%/day");
    let link = "<link rel=\"volatile-information\" href=\"/prices.tvi\">";
    let table = |at: Moment| format!("volatile-information 1\npage /prices\npart price {} 1\n", at.warc_date());
    hand.put("/", "text/html", page("", "<a href=\"/prices\">prices</a>"));
    hand.put("/prices", "text/html", page(link, "nothing yet"));
    hand.put("/prices.tvi", "text/plain", table(START));
    hand.run_for(Span::from_days(1));
    let quiet = hand.now;
    hand.run_for(Span::from_days(5));
    let (pages, tables) = (hand.asked_for("/prices", quiet), hand.asked_for("/prices.tvi", quiet));
    // Samples drawn by chance go on; the only page that has rested is drawn often.
    assert!(8 * pages <= tables, "the page waits: it was asked for {pages} times, its table {tables} times");
    assert!(hand.asked_for("/", quiet) >= 20, "its neighbour without a table does not wait");
    hand.put("/prices", "text/html", page(link, "the price is another one"));
    hand.put("/prices.tvi", "text/plain", table(hand.now));
    let moved = hand.now;
    hand.run_for(Span::from_days(1));
    let first = |path: &str| hand.asked.iter().find(|(at, asked)| asked == path && *at >= moved).map(|(at, _)| *at);
    assert!(first("/prices.tvi") <= first("/prices"), "{:?} {:?}", first("/prices.tvi"), first("/prices"));
    assert!(first("/prices").is_some_and(|at| at.since(moved) < Span::from_hours(12)), "the table moved");
}

/// Paper 004, II B: `Vol#` tags in the page, and a file of the same name with the extension `.TVI`, which has no dates and does not
/// name the page.
#[test]
fn a_page_with_vol_tags_is_visited_when_the_table_beside_it_differs() {
    let mut hand = SmallWeb::new("400%/day");
    let body = |words: &str| page("", &format!("prices: <Vol#1></Vol#1> and {words}"));
    let table = |round: usize| format!("<Vol#1>{}</Vol#1>\n", said(round));
    hand.put("/", "text/html", page("", "<a href=\"/prices.html\">prices</a>"));
    hand.put("/prices.html", "text/html", body("nothing yet"));
    hand.put("/prices.TVI", "text/plain", table(0));
    hand.run_for(Span::from_days(2));
    assert!(hand.asked_for("/prices.TVI", START) >= 1, "nobody links to it");
    for round in 1..40 {
        hand.put("/prices.html", "text/html", body(&said(round)));
        hand.put("/prices.TVI", "text/plain", table(round));
        hand.run_for(Span::from_days(2));
    }
    let hints = hand.crawler.reader().site_hints(&url("/").site()).unwrap();
    let (_, row) = hints.sources.iter().find(|(source, _)| *source == HintSource::Companion).unwrap();
    assert!(row.right > 5.0 && row.wrong < row.right / 2.0, "{row:?}");
    let quiet = hand.now;
    hand.run_for(Span::from_days(20));
    let (pages, tables) = (hand.asked_for("/prices.html", quiet), hand.asked_for("/prices.TVI", quiet));
    assert!(pages <= 3 && tables > 3 * pages.max(1), "the page was asked for {pages} times, its table {tables} times");
    hand.put("/prices.html", "text/html", body("the price is another one"));
    hand.put("/prices.TVI", "text/plain", table(99));
    let moved = hand.now;
    hand.run_for(Span::from_days(6));
    assert!(hand.asked_for("/prices.html", moved) >= 1, "the table moved");
}

#[test]
fn a_table_that_never_moves_does_not_keep_its_page_from_being_seen() {
    let mut hand = SmallWeb::new("2000%/day");
    let link = "<link rel=\"volatile-information\" href=\"/prices.tvi\">";
    hand.put("/", "text/html", page("", "<a href=\"/prices\">prices</a>"));
    hand.put("/prices", "text/html", page(link, "nothing yet"));
    let table = format!("volatile-information 1\npage /prices\npart price {} 1\n", START.warc_date());
    hand.put("/prices.tvi", "text/plain", table);
    for round in 0..60 {
        hand.put("/prices", "text/html", page(link, &said(round)));
        hand.run_for(Span::from_days(2));
    }
    let late = hand.now;
    for round in 0..10 {
        hand.put("/prices", "text/html", page(link, &said(round)));
        hand.run_for(Span::from_days(2));
    }
    let visits = hand.asked_for("/prices", late);
    assert!(visits >= 20, "a table that tells no change is not waited for: {visits}");
}

#[test]
fn a_site_whose_static_pages_stay_as_they_are_is_believed_until_they_do_not() {
    let mut hand = SmallWeb::new("400%/day");
    let tag = "<meta name=\"meta-updates\" content=\"PERIODIC=10\">";
    hand.put("/", "text/html", page(tag, "one"));
    hand.run_for(Span::from_days(80));
    let trust = |hand: &SmallWeb| {
        let hints = hand.crawler.reader().site_hints(&url("/").site()).unwrap();
        hints.sources.into_iter().find(|(source, _)| *source == HintSource::MetaUpdates).unwrap().1
    };
    let row = trust(&hand);
    assert!(row.right > 4.0 && row.wrong == 0.0, "{row:?}");
    let (before, length) = (hand.now, Span::from_days(40));
    hand.run_for(length);
    let visits = hand.asked_for("/", before);
    assert!((2..=8).contains(&visits), "ten days between visits, samples apart: {visits}");
    for round in 0..20 {
        hand.put("/", "text/html", page(tag, &said(round)));
        hand.run_for(Span::from_days(9));
    }
    assert!(trust(&hand).wrong > 1.0, "{:?}", trust(&hand));
}
