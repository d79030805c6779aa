//! What sites say of their own changes, on the invented web: honest words help, lies cost next to nothing, and nothing of it
//! is forgotten or asked for rudely.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod invented;

use std::collections::BTreeMap;

use invented::{opened, seeded};
use vernal_crawler::{Act, Acted, Settings};
use vernal_frontier::audit;
use vernal_model::{HintSource, Moment, Page, Site, Span, Url, Via};
use vernal_repository::Reader;
use vernal_simulator::drift::DriftSettings;
use vernal_simulator::trial::{StopReason, Trial};
use vernal_simulator::web::{SitemapManner, Web, WebSettings};

/// The length of a trial; the first twenty days do not count.
const DAYS: u64 = 50;

fn settings(hints: bool) -> Settings {
    Settings { hints, policy: "vernal".into(), budget: "10%/day".parse().unwrap(), ..Settings::default() }
}

fn pages(reader: &Reader) -> Vec<Page> {
    reader.pages(None, usize::MAX).unwrap()
}

/// The share of the web's pages that are held as they are now.
fn fresh(web: &Web, reader: &Reader, now: Moment) -> f64 {
    let visited: BTreeMap<String, Moment> =
        pages(reader).into_iter().map(|page| (page.url.to_string(), page.last_visit)).collect();
    let truth = web.truth();
    let is_fresh = |page, url: &str| {
        let visited = visited.get(url)?;
        Some(web.drift().last(page, now).is_none_or(|changed| changed <= *visited))
    };
    let fresh = truth.iter().filter(|truth| is_fresh(truth.page, &truth.url) == Some(true)).count();
    fresh as f64 / truth.len() as f64
}

/// Freshness over time, from the twentieth day on.
fn freshness(web: &Web, hints: bool, days: u64) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let crawler = seeded(web, folder.path(), settings(hints), start);
    let mut trial = Trial::new(web, crawler, start, 3).committing_every(Span::from_hours(2));
    let mut sum = 0.0;
    for half_day in 1..=2 * days {
        trial.run_until(start + Span::from_hours(12 * half_day)).unwrap();
        if half_day > 40 {
            sum += fresh(web, &trial.crawler().reader(), trial.now());
        }
    }
    sum / (2 * days - 40) as f64
}

fn web(sitemaps: SitemapManner, chance: u64) -> Web {
    let drift =
        DriftSettings { publishing_sites: 0.0, bursty: 0.0, daily: 0.0, spread: 1.0, ..DriftSettings::default() };
    Web::new(WebSettings { chance, sitemaps, drift, ..WebSettings::plain(6, 60) }).unwrap()
}

/// Freshness without and with hints, each the mean over some webs.
fn compared(manner: SitemapManner, chances: &[u64]) -> (f64, f64) {
    let both = chances.iter().map(|&chance| {
        let web = web(manner, chance);
        (freshness(&web, false, DAYS), freshness(&web, true, DAYS))
    });
    let sums = both.fold((0.0, 0.0), |sums, both| (sums.0 + both.0, sums.1 + both.1));
    (sums.0 / chances.len() as f64, sums.1 / chances.len() as f64)
}

#[test]
fn hints_that_are_partly_honest_make_a_copy_fresher() {
    let (without, with) = compared(SitemapManner::Partly, &[2]);
    assert!(with > without + 0.02, "without {without:.4}, with {with:.4}");
}

#[test]
fn hints_that_lie_cost_at_most_one_per_cent_of_freshness() {
    let (without, with) = compared(SitemapManner::Lying, &[2, 3]);
    assert!(with > without - 0.01, "without {without:.4}, with {with:.4}");
}

#[test]
fn a_crawl_with_hints_comes_to_an_end_and_asks_for_every_page_and_list_once() {
    let web = Web::new(WebSettings { sitemaps: SitemapManner::Honest, ..WebSettings::plain(3, 40).still() }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let once = Settings { once: true, ..settings(true) };
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), once.clone(), start), start, 1);
    assert_eq!(trial.run_until_idle(1_000_000).unwrap(), StopReason::Idle);
    let mut urls: Vec<&str> = trial.asked().iter().map(|asked| asked.url.as_str()).collect();
    urls.sort_unstable();
    let all = urls.len();
    urls.dedup();
    assert_eq!((urls.len(), all), (3 * 42, 3 * 42), "forty pages, a robots.txt and a sitemap for each site");
    let visits = trial.asked().iter().map(|asked| (Site::new(&asked.site), asked.started, asked.finished));
    assert!(audit(visits, once.delay, once.per_site).is_empty());
    let reader = trial.crawler().reader();
    let vias = pages(&reader).into_iter().map(|page| reader.url(page.key).unwrap().unwrap().via);
    assert!(vias.filter(|via| *via == Via::Sitemap).count() > 3 * 20, "lists are read first, and find most pages");
    let hints = reader.all_site_hints().unwrap();
    assert!(hints.len() == 3 && hints.iter().all(|(_, hints)| hints.files[0].1.entries == 40), "{hints:?}");
}

#[test]
fn the_same_chance_number_gives_the_same_repository_with_hints_too() {
    let web = web(SitemapManner::Partly, 1);
    let dumps: Vec<Vec<u8>> = (0..2)
        .map(|_| {
            let folder = tempfile::tempdir().unwrap();
            let start = web.settings().origin;
            let crawler = seeded(&web, folder.path(), settings(true), start);
            let mut trial = Trial::new(&web, crawler, start, 3).committing_every(Span::from_hours(2));
            trial.run_until(start + Span::from_days(12)).unwrap();
            let mut dump = Vec::new();
            trial.crawler().reader().dump(&mut dump).unwrap();
            dump
        })
        .collect();
    assert!(dumps[0] == dumps[1]);
    assert!(dumps[0].windows(11).any(|window| window == b"page_hints\t"), "there were hints");
}

#[test]
fn a_hint_outlives_a_stop_and_is_judged_by_the_next_visit() {
    let web = Web::new(WebSettings::plain(1, 30).still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings(true), start), start, 1);
    trial.run_until(start + Span::from_hours(2)).unwrap();
    let now = trial.now();
    let page = Url::parse(&format!("{}/", web.root(0))).unwrap();
    let stranger = Url::parse("http://elsewhere.example/").unwrap();
    let push = Act::Hint { source: HintSource::IndexNow, urls: vec![page.clone(), stranger] };
    let acted = trial.crawler().act(push, now).unwrap();
    assert_eq!(acted, Acted::Hinted { hinted: 1, found: 0, ignored: 1 });
    let told = trial.crawler().why(&page, now).unwrap().unwrap();
    trial.close().unwrap();
    let mut crawler = opened(folder.path(), settings(true), now);
    // What the last choice taught of the price of a visit is not remembered, and that is said.
    let remembered = |why: &[(String, String)]| {
        let lasting = why.iter().filter(|(name, _)| !["price", "due"].contains(&name.as_str()));
        lasting.cloned().collect::<Vec<_>>()
    };
    let again = crawler.why(&page, now).unwrap().unwrap();
    assert_eq!(remembered(&again), remembered(&told));
    assert!(again.contains(&("price".into(), "not known before the first choice".into())), "{again:?}");
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"hint by indexnow") && names.contains(&"hints"), "{names:?}");
    let mut trial = Trial::new(&web, crawler, now, 2);
    trial.run_until(now + Span::from_days(3)).unwrap();
    let reader = trial.crawler().reader();
    let key = reader.page_by_url(&page).unwrap().unwrap().key;
    assert!(reader.page_hints(key).unwrap().pending.is_empty(), "its visit came");
    let hints = reader.site_hints(&page.site()).unwrap();
    let (_, row) = hints.sources.iter().find(|(source, _)| *source == HintSource::IndexNow).unwrap();
    assert!(row.wrong > 0.9 && row.right == 0.0, "nothing had changed: {row:?}");
}

#[test]
fn a_source_that_lies_is_muted_in_words() {
    let web = web(SitemapManner::Lying, 2);
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings(true), start), start, 1);
    trial.run_until(start + Span::from_days(2)).unwrap();
    let hints = trial.crawler().reader().all_site_hints().unwrap();
    let muted = hints.iter().flat_map(|(_, hints)| &hints.sources).filter_map(|(_, row)| row.muted.as_ref());
    let reasons: Vec<&str> = muted.map(|muted| muted.why.as_ref()).collect();
    assert!(reasons.iter().any(|why| why.contains("60 of 60 pages")), "{reasons:?}");
}
