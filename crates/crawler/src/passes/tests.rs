//! What all passes have in common, and passes over small webs.

use vernal_model::Span;

use super::topics::PAGES_MIN;
use super::{Pass, TURN_EVERY};
use crate::testing::{Bench, START, Web, after, held, html, unhindered, url};
use crate::{GroupLimits, ImportanceBy, Settings};

#[test]
fn passes_that_are_not_due_write_nothing() {
    let mut bench = Bench::seeded(unhindered(), &["http://a.example/"]);
    let web = Web::of_sites(&["a.example"], 3);
    bench.run_for(&web, Span::from_secs(60));
    bench.commit();
    bench.crawler.act(crate::Act::Pause(Some(url("http://a.example/").site())), bench.now).unwrap();
    for pass in bench.crawler.passes.all() {
        assert!(!pass.is_due(&bench.crawler.core, bench.now));
    }
    for second in 1..20 {
        let now = bench.now + Span::from_secs(second);
        assert_eq!(bench.crawler.step(now).unwrap(), []);
        assert!(!bench.crawler.has_uncommitted(), "after {second} seconds");
    }
}

#[test]
fn a_pass_that_is_due_says_that_it_goes_on_soon() {
    let settings = Settings { topics_every: Some(Span::from_days(1)), importance: ImportanceBy::Links, ..unhindered() };
    let mut bench = Bench::seeded(settings, &["http://a.example/"]);
    let web = Web::of_sites(&["a.example"], 90);
    let mut seen = [false; 5];
    for _ in 0..2_000 {
        bench.step(&web);
        for (place, pass) in bench.crawler.passes.all().into_iter().enumerate() {
            if pass.is_due(&bench.crawler.core, bench.now) {
                seen[place] = true;
                let next = pass.next(&bench.crawler.core, bench.now);
                assert!(next.is_none_or(|next| next <= bench.now + TURN_EVERY), "{place}");
            }
        }
        bench.now += Span::from_millis(200);
    }
    assert!(seen[1] && seen[2], "topics and scores: {seen:?}");
    assert!(bench.crawler.weighed().rows > 0 && bench.crawler.topic_work() != Default::default());
}

#[test]
fn topics_are_told_apart_only_where_there_are_enough_pages() {
    let mut bench = Bench::new(Settings { topics_every: Some(Span::from_days(1)), ..unhindered() });
    for number in 0..PAGES_MIN as u32 {
        assert!(!bench.crawler.passes.topics.is_due(&bench.crawler.core, START), "{number}");
        bench.hold(&held(&format!("http://a.example/{number}"), number));
    }
    assert!(bench.crawler.passes.topics.is_due(&bench.crawler.core, START));
    let nobody = Bench::new(unhindered());
    assert_eq!(nobody.crawler.passes.topics.next(&nobody.crawler.core, START), None, "where they are wanted at all");
}

/// Every visit is a group of its own: a pass over links sees what is committed when it begins.
fn by_links() -> Settings {
    Settings { importance: ImportanceBy::Links, group: GroupLimits { visits: 1, bytes: 1 }, ..unhindered() }
}

/// A site whose pages all lead to its front page, and one of them to another one alone.
fn linked() -> Web {
    let mut web = Web::of_sites(&["a.example"], 90);
    web.put("http://a.example/p7", &html("Page 7 leads to page 8 and nowhere else.", &["/p8"]));
    web
}

fn scored() -> Bench {
    let mut bench = Bench::seeded(by_links(), &["http://a.example/"]);
    bench.run_for(&linked(), Span::from_secs(120));
    bench.commit();
    bench
}

fn score(bench: &Bench, at: &str) -> f32 {
    let core = &bench.crawler.core;
    let key = core.work.key_of(&url(at)).unwrap().and_then(|known| known.key).unwrap();
    core.work.score(key).unwrap().expect("it was scored")
}

#[test]
fn a_page_that_all_others_lead_to_has_the_highest_score() {
    let bench = scored();
    let work = bench.crawler.weighed();
    assert!(work.pages > 0 && work.sweeps > 1 && work.rows > 0, "{work:?}");
    let (front, eight, other) = (
        score(&bench, "http://a.example/"),
        score(&bench, "http://a.example/p8"),
        score(&bench, "http://a.example/p3"),
    );
    assert!(front > 5.0 * eight && eight > other && other > 0.0, "{front} {eight} {other}");
    assert_eq!(
        bench.page("http://a.example/p8").map(|page| page.importance),
        Some(1.0),
        "its row changes with a visit"
    );
}

#[test]
fn a_pass_over_links_that_has_ended_is_not_due_before_more_was_read() {
    let bench = scored();
    let (core, pass) = (&bench.crawler.core, &bench.crawler.passes.link_scores);
    let mark = pass.mark();
    assert_eq!((mark.passes, mark.urls), (1, 91));
    assert!(!pass.is_due(core, bench.now) && !pass.is_due(core, bench.now + Span::from_days(9)));
    let (scores, passes) = (score(&bench, "http://a.example/"), mark.passes);
    let bench = bench.reopened();
    assert_eq!(bench.crawler.passes.link_scores.mark().passes, passes, "the next process knows of it");
    assert_eq!(score(&bench, "http://a.example/"), scores);
}

#[test]
fn a_pass_that_would_be_too_large_is_refused_and_everybody_is_told() {
    let settings = Settings { pass_urls_max: 10, ..by_links() };
    let mut bench = Bench::seeded(settings, &["http://a.example/"]);
    bench.run_for(&linked(), Span::from_secs(120));
    assert_eq!(bench.crawler.pulse().pass_refused_urls, Some(91));
    assert_eq!(bench.crawler.weighed().rows, 0);
    assert!(!bench.crawler.passes.link_scores.is_due(&bench.crawler.core, after(9_000)));
}

#[test]
fn a_pass_cut_short_goes_on_in_the_next_process_and_comes_to_the_same_scores() {
    let settings = Settings { pass_piece_pages: 8, ..by_links() };
    let mut bench = Bench::seeded(settings, &["http://a.example/"]);
    let (web, mut is_cut) = (linked(), false);
    let end = START + Span::from_secs(120);
    while bench.now < end {
        bench.step(&web);
        bench.now += Span::from_millis(10);
        if !is_cut && bench.crawler.weighed().sweeps > 0 {
            bench = bench.reopened();
            is_cut = true;
        }
    }
    assert!(is_cut);
    let whole = scored();
    for at in ["http://a.example/", "http://a.example/p8", "http://a.example/p3"] {
        let (one, other) = (score(&bench, at), score(&whole, at));
        assert!((one - other).abs() < 0.02 * other, "{at}: {one} and {other}");
    }
}
