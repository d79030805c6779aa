//! A page that could not be had for a while is the same page afterwards.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod small_web;

use small_web::{SmallWeb, page, said, url};
use vernal_model::{PageState, Span};

/// Days of its own that the policy has seen of the page.
fn days_known(hand: &mut SmallWeb) -> f64 {
    let now = hand.now;
    let reasons = hand.crawler.why(&url("/a"), now).unwrap().expect("the page is known");
    let history = &reasons.iter().find(|(name, _)| name == "history").expect("a history is told").1;
    let days = history.split(" in ").nth(1).and_then(|rest| rest.split(' ').next());
    days.and_then(|days| days.parse().ok()).expect("it ends in days")
}

#[test]
fn a_page_that_comes_back_from_the_retries_keeps_what_its_policy_learned() {
    let mut hand = SmallWeb::new("24/day");
    hand.put("/", "text/html", page("", "<a href=/a>a</a>"));
    for round in 0..20 {
        hand.put("/a", "text/html", page("", &said(round)));
        hand.run_for(Span::from_days(2));
    }
    let before = days_known(&mut hand);
    assert!(before > 10.0, "{before} days are known");
    hand.broken.insert("/a");
    let broken = hand.now;
    while hand.asked_for("/a", broken) == 0 {
        hand.run_for(Span::from_hours(1));
    }
    let row = |hand: &SmallWeb| hand.crawler.reader().page_by_url(&url("/a")).unwrap().unwrap();
    assert!(row(&hand).failures > 0);
    hand.broken.clear();
    let mended = hand.now;
    while hand.asked_for("/a", mended) == 0 {
        hand.run_for(Span::from_hours(1));
    }
    let back = row(&hand);
    assert_eq!((back.state, back.failures), (PageState::Held, 0));
    let after = days_known(&mut hand);
    assert!(after > 0.8 * before, "{before} days were known, and {after} are");
}
