//! What links say, on whole crawls of the invented web, with the web's own links as the judge: scores, who links to whom,
//! and a collection that gets better.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod invented;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use invented::{opened, seeded};
use vernal_crawler::{ImportanceBy, Settings, Weighed, Weights};
use vernal_frontier::VisitOrder;
use vernal_model::{AddressLimits, Chance, CountedIn, Fingerprint, Moment, PageKey, PageState, Span};
use vernal_policy::importance::Scores;
use vernal_repository::Reader;
use vernal_simulator::trial::{StopReason, Trial};
use vernal_simulator::web::{PageNumber, Web, WebSettings};

const STEPS_MAX: usize = 2_000_000;

/// PageRank of the whole web as it is, by URL, with a mean of 1.
fn true_importance(web: &Web) -> BTreeMap<String, f64> {
    let pages: Vec<PageNumber> = (0..web.sites()).flat_map(|site| web.pages_of(site)).collect();
    let place = |number: PageNumber| pages.iter().position(|page| *page == number);
    let targets = |page: &PageNumber| -> BTreeSet<usize> {
        web.links(*page).into_iter().filter(|target| target != page).filter_map(place).collect()
    };
    let targets: Vec<BTreeSet<usize>> = pages.iter().map(targets).collect();
    let mut sources = vec![Vec::new(); pages.len()];
    for (source, targets) in targets.iter().enumerate() {
        targets.iter().for_each(|&target| sources[target].push(source as u32));
    }
    let mut scores = Scores::new(targets.iter().map(|targets| targets.len() as u32).collect(), |_| None);
    loop {
        (0..pages.len()).for_each(|node| scores.sweep(node as u32, &sources[node]));
        if scores.end_sweep(1e-12) {
            break;
        }
    }
    let mean = scores.mean(|_| true);
    pages.iter().enumerate().map(|(node, &page)| (web.url(page), scores.score(node) / mean)).collect()
}

fn held(reader: &Reader) -> BTreeSet<String> {
    reader.held_pages().map(|page| page.unwrap().url.to_string()).collect()
}

/// Every answer about links is what all rows together say, and every count is that of the rows that count.
fn assert_links_are_exact(reader: &Reader) {
    let mut parents: BTreeMap<Fingerprint, BTreeSet<PageKey>> = BTreeMap::new();
    let mut counted: BTreeMap<Fingerprint, BTreeSet<PageKey>> = BTreeMap::new();
    let pages = reader.pages(None, usize::MAX).unwrap();
    for page in pages.iter().filter(|page| matches!(page.state, PageState::Held | PageState::Left)) {
        for link in reader.document(page.key).unwrap().into_iter().flat_map(|document| document.links) {
            parents.entry(link.target).or_default().insert(page.key);
            if link.counted != CountedIn::NOWHERE {
                counted.entry(link.target).or_default().insert(page.key);
            }
        }
    }
    for page in &pages {
        let target = page.url.fingerprint();
        let told = reader.back_links(&page.url).unwrap().map(|link| link.unwrap().page.key);
        assert_eq!(told.collect::<BTreeSet<_>>(), parents.get(&target).cloned().unwrap_or_default(), "{}", page.url);
        let known = reader.key_of(&page.url).unwrap().unwrap();
        assert_eq!(known.back_links as usize, counted.get(&target).map_or(0, BTreeSet::len), "{}", page.url);
    }
}

#[test]
fn scores_of_a_whole_crawl_are_those_of_the_web_itself() {
    let web = Web::new(WebSettings::plain(4, 60).still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let settings = Settings { importance: ImportanceBy::Links, concurrency: 32, ..Settings::default() };
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings, start), start, 1);
    trial.run_until(start + Span::from_days(3)).unwrap();
    let reader = trial.crawler().reader();
    let truth = true_importance(&web);
    assert_eq!(held(&reader).len(), truth.len());
    let mark = reader.graph_mark().unwrap().unwrap();
    assert_eq!(mark.urls as usize, truth.len());
    for page in reader.held_pages().map(Result::unwrap) {
        let (score, truth) = (f64::from(reader.score(page.key).unwrap().unwrap()), truth[page.url.as_str()]);
        assert!((score / truth - 1.0).abs() < 0.02, "{}: {score} is not {truth}", page.url);
        let linked_from = reader.linked_from(page.key, usize::MAX).unwrap();
        let exact = reader.back_links(&page.url).unwrap().map(|link| link.unwrap().page.key);
        assert_eq!(linked_from, exact.collect::<Vec<_>>(), "nothing changed since the pass");
    }
    assert_links_are_exact(&reader);
}

#[test]
fn links_stay_exact_however_pages_change_go_and_crawls_are_killed() {
    for chance in [1, 2] {
        let web = Web::new(WebSettings { chance, ..WebSettings::realistic(3, 40) }).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let start = web.settings().origin + Span::from_days(1);
        let settings = || Settings {
            importance: ImportanceBy::Links,
            budget: "100%/day".parse().unwrap(),
            concurrency: 16,
            pages_max: 90,
            ..Settings::default()
        };
        drop(seeded(&web, folder.path(), settings(), start));
        let mut chance = Chance::new(chance).stream("kills");
        let mut now = start;
        for _ in 0..6 {
            let mut trial = Trial::new(&web, opened(folder.path(), settings(), now), now, chance.bits());
            trial.run_until(now + Span::from_secs(3_600 * (6 + chance.below(60)))).unwrap();
            now = trial.now();
            // The last group is lost with the process.
        }
        let crawler = opened(folder.path(), Settings { pages_max: 0, ..settings() }, now);
        let mut trial = Trial::new(&web, crawler, now, 1);
        trial.run_until(now + Span::from_secs(60)).unwrap();
        trial.crawler().commit(now + Span::from_secs(60)).unwrap();
        let reader = trial.crawler().reader();
        assert_eq!(reader.totals().found_pending, 0, "the sieve has met everything");
        assert!(reader.graph_mark().unwrap().is_some_and(|mark| mark.passes > 1));
        assert_links_are_exact(&reader);
    }
}

/// The share of the importance that the best set of this size would hold, day by day.
fn quality(order: VisitOrder, chance: u64, days: u64) -> (Vec<f64>, Vec<(PageKey, Moment)>, Moment) {
    let web = Web::new(WebSettings { chance, ..WebSettings::plain(6, 150) }).unwrap();
    let truth = true_importance(&web);
    let pages_max = truth.len() as u64 * 3 / 10;
    let mut best: Vec<f64> = truth.values().copied().collect();
    best.sort_by(|a, b| b.total_cmp(a));
    let best: f64 = best.iter().take(pages_max as usize).sum();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let settings = Settings { pages_max, visit_order: order, concurrency: 32, ..Settings::default() };
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings, start), start, chance);
    let (mut shares, mut leavings) = (Vec::new(), BTreeSet::new());
    for day in 1..=days {
        assert_eq!(trial.run_until(start + Span::from_days(day)).unwrap(), StopReason::Moment);
        let reader = trial.crawler().reader();
        let held = held(&reader);
        assert!(held.len() as u64 <= pages_max, "{} pages are held", held.len());
        shares.push(held.iter().filter_map(|url| truth.get(url)).sum::<f64>() / best);
        for page in reader.pages(None, usize::MAX).unwrap() {
            leavings.extend(reader.left(page.key).unwrap().map(|left| (page.key, left.moment)));
        }
    }
    assert_links_are_exact(&trial.crawler().reader());
    (shares, leavings.into_iter().collect(), trial.now())
}

#[test]
fn after_ten_cycles_a_third_of_the_web_holds_nearly_all_the_importance_it_could() {
    for order in [VisitOrder::Paper, VisitOrder::Importance] {
        for chance in [1, 2] {
            let (shares, _, _) = quality(order, chance, 12);
            assert!(shares[9] >= 0.95, "{order} {chance}: {shares:.3?}");
            assert!(shares[11] >= shares[9] - 0.02, "it does not fall back: {shares:.3?}");
        }
    }
}

#[test]
fn whoever_left_stays_away_for_a_week_and_few_leave_when_the_collection_is_good() {
    let (_, leavings, end) = quality(VisitOrder::Paper, 3, 20);
    let mut last: BTreeMap<PageKey, Moment> = BTreeMap::new();
    for (page, moment) in &leavings {
        if let Some(before) = last.insert(*page, *moment) {
            assert!(moment.since(before) >= Span::from_days(7), "{page} left twice");
        }
    }
    let late = leavings.iter().filter(|(_, moment)| end.since(*moment) < Span::from_days(10)).count();
    assert!(late * 5 < leavings.len(), "{late} of {} left in the second half", leavings.len());
}

#[test]
fn what_people_say_decides_who_stays() {
    let web = Web::new(WebSettings::plain(2, 100).still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let loved = web.root(1).to_owned();
    let weights = Weights {
        patterns: vec![(vernal_frontier::pattern(&format!("^{loved}/")).unwrap(), 50.0)],
        ..Weights::default()
    };
    let settings = Settings { pages_max: 80, weights, concurrency: 32, ..Settings::default() };
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings, start), start, 1);
    trial.run_until(start + Span::from_days(20)).unwrap();
    let reader = trial.crawler().reader();
    let held = held(&reader);
    let of_loved = held.iter().filter(|url| url.starts_with(&loved)).count();
    assert!(of_loved >= 75, "{of_loved} of {} are of the site that a person prefers", held.len());
    let seed = format!("{}/", web.root(0));
    assert!(held.contains(&seed), "a seed never leaves");
    let left = reader.pages(None, usize::MAX).unwrap().into_iter().find(|page| page.state == PageState::Left).unwrap();
    let why = trial.crawler().why(&left.url, start + Span::from_days(20)).unwrap().unwrap();
    let said = |name: &str| why.iter().any(|(known, _)| known == name);
    assert!(said("left") && said("may return from") && said("history kept until"), "{why:?}");
}

#[test]
fn a_limit_that_is_lowered_makes_the_least_important_leave() {
    let web = Web::new(WebSettings::plain(3, 60).still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let settings = |pages_max| Settings { pages_max, concurrency: 32, ..Settings::default() };
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings(1_000), start), start, 1);
    trial.run_until(start + Span::from_days(2)).unwrap();
    let now = trial.now();
    trial.close().unwrap();
    let mut trial = Trial::new(&web, opened(folder.path(), settings(100), now), now, 2);
    trial.run_until(now + Span::from_days(30)).unwrap();
    let held = held(&trial.crawler().reader());
    assert_eq!(held.len(), 100);
    let truth = true_importance(&web);
    let mut best: Vec<f64> = truth.values().copied().collect();
    best.sort_by(|a, b| b.total_cmp(a));
    let share = held.iter().map(|url| truth[url]).sum::<f64>() / best.iter().take(100).sum::<f64>();
    assert!(share > 0.95, "{share}");
}

#[test]
fn a_crawl_that_nothing_is_left_for_ends_also_when_its_collection_is_full() {
    let web = Web::new(WebSettings::plain(3, 80).still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let settings = Settings { pages_max: 100, once: true, concurrency: 32, ..Settings::default() };
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings, start), start, 1);
    assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
    assert!(held(&trial.crawler().reader()).len() <= 100);
}

/// A process that makes so many turns of a pass and dies, perhaps before its last group was synced; what it did, and whether
/// the pass ended.
fn life(dir: &Path, settings: &Settings, now: Moment, turns: usize, syncs: bool) -> (Weighed, bool) {
    // No order leaves: a step is a turn of the pass alone.
    let mut crawler = opened(dir, Settings { visits_max: Some(0), ..settings.clone() }, now);
    let later = now + Span::from_days(2);
    let has_ended = (0..turns).any(|_| {
        crawler.step(later).unwrap();
        crawler.reader().graph_mark().unwrap().is_some_and(|mark| mark.passes > 0)
    });
    if syncs {
        crawler.commit(later).unwrap();
    }
    (crawler.weighed(), has_ended)
}

fn dump(dir: &Path, settings: &Settings, now: Moment) -> String {
    let mut bytes = Vec::new();
    opened(dir, settings.clone(), now).reader().dump(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Every opening is a deed of its own, so that the counts of deeds differ; nothing else does.
fn assert_same(ours: &str, expected: &str, tables: impl Fn(&str) -> bool) {
    let rows = |dump: &str| dump.lines().filter(|line| tables(line)).map(str::to_owned).collect::<Vec<_>>();
    let (ours, expected) = (rows(ours), rows(expected));
    assert!(!expected.is_empty() && ours.len() == expected.len(), "{} and {} rows", ours.len(), expected.len());
    for (ours, expected) in ours.iter().zip(&expected) {
        assert_eq!(ours, expected);
    }
}

#[test]
fn a_pass_that_is_cut_at_every_turn_tells_what_one_tells_that_is_not_and_does_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, cut, torn] = ["whole", "cut", "torn"].map(|name| folder.path().join(name));
    let web = Web::new(WebSettings::plain(6, 200).still()).unwrap();
    let now = Moment::from_secs(1_800_000_000);
    for dir in [&whole, &cut, &torn] {
        let settings = Settings { once: true, ..Settings::default() };
        let mut trial = Trial::new(&web, seeded(&web, dir, settings, now), now, 1);
        trial.run_until_idle(STEPS_MAX).unwrap();
        trial.close().unwrap();
    }
    let weighing = Settings { importance: ImportanceBy::Links, once: true, pass_piece_pages: 1, ..Settings::default() };
    let (at_once, has_ended) = life(&whole, &weighing, now, usize::MAX, true);
    assert!(has_ended && at_once.pages > 500 && at_once.sweeps > 10 && at_once.rows > 0, "{at_once:?}");
    let expected = dump(&whole, &weighing, now);

    // The first turn of a life takes up the pass, two more go on with it; no process ever lives longer, which is just enough
    // to merge the links.
    let (mut all, mut lives) = (Weighed::default(), 0);
    loop {
        let (weighed, has_ended) = life(&cut, &weighing, now, 3, true);
        lives += 1;
        all.pages += weighed.pages;
        all.sweeps += weighed.sweeps;
        all.rows += weighed.rows;
        if has_ended {
            break;
        }
    }
    assert!(lives > 3, "it was cut {lives} times");
    assert_eq!(all, at_once, "what was done was not done again");
    assert_same(&dump(&cut, &weighing, now), &expected, |line| !line.starts_with("state\t"));

    // Whatever is left of a pass may be torn, and the last group lost: it goes on from what there is, and ends the same.
    let mut lives = 0;
    while !life(&torn, &weighing, now, 2 + lives, false).1 {
        lives += 1;
        let kept = ["graph/links.pieces", "graph/links.index", "passes/links"].map(|name| torn.join(name));
        let path = &kept[lives % kept.len()];
        if let Ok(bytes) = std::fs::read(path) {
            std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
        }
    }
    assert!(lives > 2, "it was torn {lives} times");
    assert_same(&dump(&torn, &weighing, now), &expected, |line| line.starts_with("weights\t"));
}

#[test]
fn a_few_pages_are_never_weighed_for_nobody_however_often_they_are_visited() {
    let web = Web::new(WebSettings::plain(2, 40).still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let settings = Settings {
        budget: "1000/s".parse().unwrap(),
        refresh_min: Span::from_secs(1),
        delay: Span::ZERO,
        per_site: 64,
        address: AddressLimits { at_once: 64, per_second: 1_000.0 },
        ..Settings::default()
    };
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings, start), start, 1);
    trial.run_until(start + Span::from_secs(300)).unwrap();
    let crawler = trial.crawler();
    assert!(crawler.reader().totals().visits > 10_000, "{} visits", crawler.reader().totals().visits);
    assert_eq!(crawler.weighed(), Weighed::default());
}

#[test]
fn many_pages_are_weighed_for_nobody_only_where_their_links_are_to_be_at_hand() {
    let web = Web::new(WebSettings::plain(8, 1_400).still()).unwrap();
    let start = web.settings().origin;
    for links_at_hand in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            budget: "1000/s".parse().unwrap(),
            delay: Span::ZERO,
            per_site: 64,
            address: AddressLimits { at_once: 64, per_second: 1_000.0 },
            links_at_hand,
            ..Settings::default()
        };
        let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings, start), start, 1);
        trial.run_until(start + Span::from_secs(300)).unwrap();
        let crawler = trial.crawler();
        assert!(crawler.reader().totals().held > 11_000, "{} held", crawler.reader().totals().held);
        assert_eq!(crawler.weighed().pages > 0, links_at_hand);
    }
}

/// Freshness over time, each page counted by the web's own importance, and each counted the same.
fn freshness(web: &Web, by: ImportanceBy) -> (f64, f64) {
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let settings =
        Settings { importance: by, policy: "vernal".into(), budget: "8%/day".parse().unwrap(), ..Settings::default() };
    let mut trial = Trial::new(web, seeded(web, folder.path(), settings, start), start, 3);
    let (weights, truth) = (true_importance(web), web.truth());
    let (mut weighted, mut plain, mut looks) = (0.0, 0.0, 0);
    for day in 1..=FRESHNESS_DAYS {
        trial.run_until(start + Span::from_days(day)).unwrap();
        if day <= FRESHNESS_DAYS / 3 {
            continue;
        }
        let pages = trial.crawler().reader().pages(None, usize::MAX).unwrap();
        let visited: BTreeMap<String, Moment> =
            pages.into_iter().map(|page| (page.url.to_string(), page.last_visit)).collect();
        let now = trial.now();
        for page in &truth {
            let last = web.drift().last(page.page, now);
            let is_fresh = visited.get(&page.url).is_some_and(|&visited| last.is_none_or(|last| last <= visited));
            weighted += if is_fresh { weights[&page.url] / truth.len() as f64 } else { 0.0 };
            plain += f64::from(u8::from(is_fresh)) / truth.len() as f64;
        }
        looks += 1;
    }
    (weighted / f64::from(looks), plain / f64::from(looks))
}

const FRESHNESS_DAYS: u64 = 45;

#[test]
fn pages_that_many_link_to_are_fresher_when_links_say_what_counts() {
    let (mut by_links, mut by_nobody) = ((0.0, 0.0), (0.0, 0.0));
    for chance in [2, 3] {
        let web = Web::new(WebSettings { chance, ..WebSettings::plain(6, 60) }).unwrap();
        let add = |sum: &mut (f64, f64), (weighted, plain)| *sum = (sum.0 + weighted / 2.0, sum.1 + plain / 2.0);
        add(&mut by_links, freshness(&web, ImportanceBy::Links));
        add(&mut by_nobody, freshness(&web, ImportanceBy::None));
    }
    println!("weighted and plain freshness: by links {by_links:.4?}, by nobody {by_nobody:.4?}");
    assert!(by_links.0 > by_nobody.0 + 0.005, "by links {by_links:.4?}, by nobody {by_nobody:.4?}");
}
