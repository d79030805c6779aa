//! What sites say of their own changes, on the invented web: honest words help, lies cost next to nothing, and nothing of it
//! is forgotten or asked for rudely.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::BTreeMap;
use std::path::Path;

use vernal_crawler::{Act, Crawler, Settings};
use vernal_model::{HintSource, Moment, Page, Seed, Span, Url};
use vernal_repository::{Reader, Repository};
use vernal_simulator::drift::DriftSettings;
use vernal_simulator::trial::Trial;
use vernal_simulator::web::{SitemapManner, Web, WebSettings};

fn settings(hints: bool) -> Settings {
    Settings { hints, policy: "vernal".into(), budget: "10%/day".parse().unwrap(), ..Settings::default() }
}

fn opened(dir: &Path, settings: Settings, now: Moment) -> Crawler {
    let id = vernal_repository::Settings { id: Some(7), ..vernal_repository::Settings::default() };
    let (repository, _) = Repository::open(dir, id, now).unwrap();
    Crawler::open(repository, settings, now).unwrap()
}

fn seeded(web: &Web, dir: &Path, settings: Settings, now: Moment) -> Crawler {
    let mut crawler = opened(dir, settings, now);
    let root = |site| Seed::new(Url::parse(&format!("{}/", web.root(site))).unwrap(), now);
    crawler.act(Act::AddSeeds((0..web.sites()).map(root).collect()), now).unwrap();
    crawler
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

#[test]
fn figures() {
    for manner in [SitemapManner::Honest, SitemapManner::Partly, SitemapManner::Mixed, SitemapManner::Lying] {
        for chance in [1, 2] {
            let web = web(manner, chance);
            let (without, with) = (freshness(&web, false, 60), freshness(&web, true, 60));
            println!("{manner:?} {chance}: without {without:.4} with {with:.4}");
        }
    }
}

#[allow(dead_code)]
fn unused(_: HintSource) {}
