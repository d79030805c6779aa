//! Who holds a place in a full collection, on a small web written by hand.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod small_web;

use small_web::{SmallWeb, page, url};
use vernal_crawler::Settings;
use vernal_model::{PageState, Span};

/// Links to many pages.
fn index(paths: &[&str]) -> String {
    paths.iter().map(|path| format!("<a href=\"{path}\">{path}</a> ")).collect()
}

fn full(settings: Settings) -> SmallWeb {
    let mut hand = SmallWeb::with(Settings { budget: "600%/day".parse().unwrap(), pages_max: 4, ..settings });
    hand.put("/", "text/html", page("", &index(&["/one", "/two", "/three", "/four"])));
    hand.put("/one", "text/html", page("", &index(&["/", "/two", "/three", "/four"])));
    hand.put("/two", "text/html", page("", &index(&["/", "/one"])));
    hand.put("/three", "text/html", page("", &index(&["/", "/one"])));
    hand.put("/four", "text/html", page("", "the last one"));
    hand.run_for(Span::from_days(20));
    hand
}

#[test]
fn a_page_that_fails_for_long_makes_room_for_one_that_can_be_read() {
    let mut hand = full(Settings::default());
    let reader = hand.crawler.reader();
    assert_eq!(reader.totals().held, 4);
    let state = |path: &str| reader.page_by_url(&url(path)).unwrap().map(|page| page.state);
    let outside = ["/one", "/two", "/three", "/four"].into_iter().find(|path| state(path) != Some(PageState::Held));
    let outside = outside.expect("five pages and four places");
    let broken = ["/two", "/three", "/four"].into_iter().find(|path| *path != outside).unwrap();
    hand.broken.insert(broken);
    hand.run_for(Span::from_days(60));
    assert_eq!(state(broken), Some(PageState::Left), "{:?}", hand.crawler.why(&url(broken), hand.now));
    assert_eq!(state(outside), Some(PageState::Held), "{:?}", hand.crawler.why(&url(outside), hand.now));
    let left = hand.now;
    hand.run_for(Span::from_days(5));
    assert_eq!(hand.asked_for(broken, left), 0, "who left is not tried again");
}

#[test]
fn a_web_that_is_too_large_for_a_pass_is_told() {
    let mut hand = full(Settings { pass_urls_max: 3, ..Settings::default() });
    assert!(hand.crawler.pulse().pass_refused_urls.is_some_and(|urls| urls >= 5), "{:?}", hand.crawler.pulse());
    let why = hand.crawler.why(&url("/"), hand.now).unwrap().unwrap();
    assert!(why.iter().any(|(name, words)| name == "no pass over links" && words.contains("the 3 that")), "{why:?}");
}
