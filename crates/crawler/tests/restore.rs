//! A crawl whose journal, tables and known set are lost is restored from its archive alone.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use vernal_crawler::{Act, Crawler, Restored, Settings};
use vernal_model::{Moment, Page, PageState, Seed, SiteState, Span, Url};
use vernal_repository::{DamagedFiles, Reader, Repository, Retention, bodies, compare_tables, verify_journal};
use vernal_simulator::trial::{StopReason, Trial};
use vernal_simulator::web::{SitemapManner, Web, WebSettings};

const STEPS_MAX: usize = 2_000_000;

fn repository_settings() -> vernal_repository::Settings {
    // Small segments, so that there are several.
    vernal_repository::Settings { id: Some(7), segment_bytes_max: 300_000, ..Default::default() }
}

fn settings() -> Settings {
    Settings { once: true, concurrency: 32, ..Settings::default() }
}

fn opened(dir: &Path, settings: Settings, now: Moment) -> Crawler {
    let (repository, _) = Repository::open(dir, repository_settings(), now).unwrap();
    Crawler::open(repository, settings, now).unwrap()
}

fn seeds(web: &Web, now: Moment) -> Vec<Seed> {
    (0..web.sites()).map(|site| Seed::new(Url::parse(&format!("{}/", web.root(site))).unwrap(), now)).collect()
}

fn seeded(web: &Web, dir: &Path, settings: Settings, now: Moment) -> Crawler {
    let mut crawler = opened(dir, settings, now);
    crawler.act(Act::AddSeeds(seeds(web, now)), now).unwrap();
    crawler
}

fn repaired(dir: &Path, settings: Settings, now: Moment) -> (Crawler, Restored, DamagedFiles) {
    let (repository, aside) = Repository::begin_repair(dir, repository_settings(), now).unwrap();
    let mut crawler = Crawler::open(repository, settings.clone(), now).unwrap();
    let mut told = (0, 0);
    let restored = crawler.restore(&mut |done, total| told = (done, total)).unwrap();
    assert_eq!(told.0, told.1);
    crawler.end_repair(now).unwrap();
    assert!(!aside.folder.exists(), "nothing is moved aside before the new state stands");
    crawler.close(now).unwrap();
    (opened(dir, settings, now), restored, aside)
}

fn lose(dir: &Path) {
    for part in ["journal", "tables", "known"] {
        fs::remove_dir_all(dir.join(part)).unwrap();
    }
}

/// Everything that records tell of a page: versions, links, and the outcome of each visit that has a record.
fn told_by_records(reader: &Reader) -> BTreeMap<String, String> {
    let mut told = BTreeMap::new();
    for page in reader.pages(None, usize::MAX).unwrap() {
        let recorded: Vec<_> =
            reader.visits(page.key).unwrap().into_iter().filter(|visit| visit.record.is_some()).collect();
        if recorded.is_empty() {
            continue;
        }
        let mut lines = String::new();
        for visit in &recorded {
            let version = visit.version.map(|version| {
                let moment = version.moment.secs();
                (version.number, moment, version.status, version.payload, version.body_bytes, version.location)
            });
            let (second, by) = (visit.started.secs(), visit.decided_by);
            lines +=
                &format!("{second} {:?} {:?} {version:?} {by:?} {:?}\n", visit.outcome, visit.record, visit.address);
        }
        let document = reader.document(page.key).unwrap();
        let document = document.map(|row| (row.links, row.title, row.signature.content, row.media));
        let validators = page.version.map(|_| page.validators.clone());
        lines += &format!("{document:?} {validators:?} {:?}\n", page.version.map(|version| version.number));
        lines += &format!("{} compared, {} changed", page.compared, page.changes);
        told.insert(page.url.to_string(), lines);
    }
    told
}

fn with_state(reader: &Reader, state: PageState) -> BTreeSet<String> {
    let pages = reader.pages(None, usize::MAX).unwrap();
    let has_record = |page: &Page| reader.visits(page.key).unwrap().iter().any(|visit| visit.record.is_some());
    pages.into_iter().filter(|page| page.state == state && has_record(page)).map(|page| page.url.to_string()).collect()
}

fn robots(reader: &Reader) -> BTreeMap<String, String> {
    let answers = reader.sites().into_iter().filter_map(|row| {
        let origin = vernal_model::Origin::new(&format!("http://{}", row.site));
        let robots = reader.robots(&origin).unwrap()?;
        Some((origin.to_string(), format!("{:?} {}", robots.answer, robots.fetched.secs())))
    });
    answers.collect()
}

fn assert_same(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>, what: &str) {
    for (url, told) in one {
        assert_eq!(Some(told), other.get(url), "{what}: {url}");
    }
    assert_eq!(one.len(), other.len(), "{what}");
}

#[test]
fn versions_history_links_and_robots_come_back_from_the_archive_alone() {
    for chance in [1, 2] {
        let web = Web::new(WebSettings { chance, ..WebSettings::realistic(4, 25) }).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        let start = web.settings().origin + Span::from_days(1);
        let coming_back = Settings { budget: "1200/day".parse().unwrap(), ..Settings::default() };
        let mut trial = Trial::new(&web, seeded(&web, dir, coming_back.clone(), start), start, chance);
        trial.run_until(start + Span::from_days(3)).unwrap();
        let (now, reader) = (trial.now(), trial.crawler().reader());
        trial.crawler().commit(now).unwrap();
        let (before, totals, robots_before) = (told_by_records(&reader), reader.totals(), robots(&reader));
        let states: Vec<_> = PageState::ALL.iter().map(|&state| with_state(&reader, state)).collect();
        assert!(totals.changes > 20 && before.values().any(|told| told.contains("NotModified")));
        drop(reader);
        trial.close().unwrap();
        let archive = archive_of(dir);
        assert!(archive.len() > 2, "several segments");
        lose(dir);

        let (mut crawler, restored, _) = repaired(dir, coming_back, now);
        let reader = crawler.reader();
        assert_eq!(restored.lost, Vec::<String>::new());
        assert_same(&before, &told_by_records(&reader), "pages");
        assert_same(&robots_before, &robots(&reader), "robots");
        for (state, expected) in PageState::ALL.iter().zip(&states) {
            assert_eq!(with_state(&reader, *state), *expected, "{state:?}");
        }
        assert!(restored.links_found > 0, "what is linked is found again");
        assert_eq!(archive_of(dir), archive, "the segments are untouched");
        crawler.commit(now).unwrap();
        assert!(verify_journal(dir, &mut |_, _| {}).unwrap().is_sound());
        assert!(bodies::verify(dir, &mut |_, _| {}).unwrap().is_sound());
        assert_eq!(compare_tables(&reader, &mut |_, _| {}).unwrap().faults, Vec::<String>::new());
    }
}

fn archive_of(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = bodies::segments(dir).unwrap().into_iter();
    files.map(|file| (file.path.display().to_string(), fs::read(&file.path).unwrap())).collect()
}

#[test]
fn a_crawl_restored_half_way_ends_like_one_that_lost_nothing() {
    let web = Web::new(WebSettings::plain(4, 50).still()).unwrap();
    let whole = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let mut trial = Trial::new(&web, seeded(&web, whole.path(), settings(), start), start, 1);
    assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
    let expected = with_state(&trial.crawler().reader(), PageState::Held);

    let half = tempfile::tempdir().unwrap();
    let mut trial = Trial::new(&web, seeded(&web, half.path(), settings(), start), start, 1);
    trial.run_until_idle(60).unwrap();
    let now = trial.now();
    trial.close().unwrap();
    lose(half.path());
    let (mut crawler, restored, _) = repaired(half.path(), settings(), now);
    let here = with_state(&crawler.reader(), PageState::Held).len();
    assert!(here > 0 && here < expected.len(), "{here} of {}", expected.len());
    let roots: BTreeSet<String> = seeds(&web, now).iter().map(|seed| seed.url.to_string()).collect();
    assert!(restored.likely_seeds.iter().all(|url| roots.contains(url.as_str())), "{:?}", restored.likely_seeds);
    // The seeds are given again, as the repair asks for.
    crawler.act(Act::AddSeeds(seeds(&web, now)), now).unwrap();
    let mut trial = Trial::new(&web, crawler, now + Span::from_secs(60), 2);
    assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
    assert_eq!(with_state(&trial.crawler().reader(), PageState::Held), expected);
}

#[test]
fn a_damaged_journal_is_moved_aside_and_what_it_still_tells_of_people_is_saved() {
    let web = Web::new(WebSettings::plain(2, 20).still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let start = web.settings().origin;
    let mut trial = Trial::new(&web, seeded(&web, dir, settings(), start), start, 1);
    trial.run_until_idle(STEPS_MAX).unwrap();
    let now = trial.now();
    let blocked = Url::parse(&format!("{}/", web.root(1))).unwrap().site();
    trial.crawler().act(Act::Block(blocked.clone()), now).unwrap();
    trial.close().unwrap();
    let journal = dir.join("journal/00000001.log");
    let mut bytes = fs::read(&journal).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&journal, &bytes).unwrap();
    for part in ["tables", "known"] {
        fs::remove_dir_all(dir.join(part)).unwrap();
    }
    let refused = Repository::open(dir, repository_settings(), now).err().unwrap();
    assert!(refused.is_damage(), "{refused}");
    assert!(!verify_journal(dir, &mut |_, _| {}).unwrap().is_sound());

    // A repair that is cut short leaves a folder that nobody takes for whole.
    drop(Repository::begin_repair(dir, repository_settings(), now).unwrap());
    let refused = Repository::open(dir, repository_settings(), now).err().unwrap();
    assert!(refused.is_damage(), "{refused}");

    let (crawler, restored, aside) = repaired(dir, settings(), now);
    assert_eq!(restored.lost_total, 0);
    assert_eq!(aside.saved.seeds, seeds(&web, start));
    assert_eq!(aside.saved.standings, [(blocked, SiteState::Blocked)]);
    assert_eq!(with_state(&crawler.reader(), PageState::Held).len(), 40);
    drop(crawler);
    Repository::open(dir, repository_settings(), now).unwrap();
    assert_eq!(fs::read(aside.folder.join("journal/00000001.log")).unwrap(), bytes, "nothing is deleted");
}

#[test]
fn a_compacted_archive_is_restored_in_the_order_of_its_visits() {
    let web = Web::new(WebSettings::plain(2, 25)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let start = web.settings().origin;
    let coming_back = Settings { budget: "500/day".parse().unwrap(), ..Settings::default() };
    let mut trial = Trial::new(&web, seeded(&web, dir, coming_back.clone(), start), start, 3);
    trial.run_until(start + Span::from_days(6)).unwrap();
    let now = trial.now();
    trial.close().unwrap();
    let (mut repository, _) = Repository::open(dir, repository_settings(), now).unwrap();
    let rules = Retention { keep_versions: Some(2), keep_for: None };
    let done = repository.compact(rules, now).unwrap();
    assert!(done.versions_dropped > 0 && done.records_moved > 0, "{done:?}");
    let newest = |reader: &Reader| -> BTreeMap<String, String> {
        let pages = reader.pages(None, usize::MAX).unwrap().into_iter();
        pages
            .map(|page| {
                let links = reader.document(page.key).unwrap().map(|row| row.links);
                let version = page.version.map(|version| (version.payload, version.moment.secs(), version.location));
                (page.url.to_string(), format!("{:?} {version:?} {links:?} {}", page.state, page.last_visit.secs()))
            })
            .collect()
    };
    let before = newest(&repository.reader());
    repository.close().unwrap();
    lose(dir);
    let (crawler, restored, _) = repaired(dir, coming_back, now);
    assert_eq!(restored.lost, Vec::<String>::new());
    assert_same(&before, &newest(&crawler.reader()), "newest versions");
}

/// What the lists of all sites say: each file, and each page that a list speaks of.
fn lists(reader: &Reader) -> BTreeMap<String, String> {
    let mut told = BTreeMap::new();
    for (site, hints) in reader.all_site_hints().unwrap() {
        for (key, file) in &hints.files {
            let listed: BTreeMap<_, _> = reader.listed(*key).unwrap().into_iter().collect();
            told.insert(file.url.to_string(), format!("{:?} {} {} {listed:?}", file.kind, file.entries, file.dated));
        }
        let heard = hints.sources.iter().map(|(source, row)| (source.name(), row.heard));
        told.insert(site.to_string(), format!("{:?}", heard.collect::<Vec<_>>()));
    }
    for row in reader.all_page_hints() {
        let (key, hints) = row.unwrap();
        let url = reader.page(key).unwrap().unwrap().url.to_string();
        let sources = hints.pending.iter().map(|hint| hint.source.name());
        told.insert(url, format!("{:b} {:?}", hints.spoken_of, sources.collect::<Vec<_>>()));
    }
    told
}

#[test]
fn lists_and_what_they_said_come_back_from_the_archive_alone() {
    let settings = WebSettings { sitemaps: SitemapManner::Honest, ..WebSettings::plain(3, 30) };
    let web = Web::new(settings).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (dir, start) = (folder.path(), web.settings().origin + Span::from_days(1));
    let hearing = Settings { hints: true, budget: "600/day".parse().unwrap(), ..Settings::default() };
    let mut trial = Trial::new(&web, seeded(&web, dir, hearing.clone(), start), start, 1);
    trial.run_until(start + Span::from_days(4)).unwrap();
    let (now, reader) = (trial.now(), trial.crawler().reader());
    trial.crawler().commit(now).unwrap();
    let before = lists(&reader);
    assert!(before.len() > 90 && before.values().any(|told| told.contains("\"sitemap\", ")), "{before:?}");
    drop(reader);
    trial.close().unwrap();
    lose(dir);
    let (crawler, restored, _) = repaired(dir, hearing, now);
    assert_eq!(restored.lost, Vec::<String>::new());
    assert_same(&before, &lists(&crawler.reader()), "lists");
}
