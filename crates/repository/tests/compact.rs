//! The laws of compaction: what a rule keeps is read back byte for byte, what goes says so, and a crash loses nothing.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod web;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;
use vernal_model::{
    Admitted, Chance, Deed, ErasedCounts, ErasedPage, Found, Location, Moment, Outcome, Page, PageKey, PageState,
    Partition, PolicyState, RobotsAnswer, RobotsRow, Sequence, Span, Url, Validators, Version, Via, Visit, Visited,
    WaitingPlace,
};
use vernal_repository::{
    Keep, KeepKind, Reader, Repository, Retention, Settings, bodies, compare_tables, verify_journal,
};
use web::{digest, moment, page as exchange, url};

const PAGES: u32 = 12;
const DAYS: i64 = 20;
const DAY_SECS: i64 = 86_400;

fn open(dir: &Path) -> Repository {
    let settings = Settings { id: Some(5), segment_bytes_max: 40_000, ..Settings::default() };
    Repository::open(dir, settings, moment(0)).unwrap().0
}

fn address(number: u32) -> Url {
    url(&format!("http://example.org/{number}"))
}

fn body(number: u32, version: u32) -> Vec<u8> {
    // Noise does not compress, so that segments fill up.
    let mut chance = Chance::new(u64::from(number)).numbered(u64::from(version));
    (0..900).map(|_| chance.bits() as u8).collect()
}

/// Twenty days of a site: each day each page changes, stays, confirms itself or is gone for the day.
struct Story {
    pages: BTreeMap<u32, Page>,
    chance: Chance,
}

fn told(dir: &Path) -> Repository {
    let mut repository = open(dir);
    let mut story = Story { pages: BTreeMap::new(), chance: Chance::new(9) };
    let partition = address(0).partition();
    let urls =
        (0..PAGES).map(|number| Found { url: address(number), via: Via::Seed, depth: 0, found_on: None, forward: 0 });
    repository.commit(&[(partition, Deed::Found { urls: urls.collect(), again: Vec::new() })], moment(0)).unwrap();
    let admitted = (0..PAGES).map(|number| Admitted {
        number,
        url: address(number),
        via: Via::Seed,
        depth: 0,
        found_on: None,
        moment: moment(0),
        rank: 0,
        place: WaitingPlace { site: address(number).site(), band: 0, arrival: u64::from(number) },
    });
    let sieved = Deed::Sieved { through: Sequence(1), admitted: admitted.collect(), barred: Vec::new() };
    repository.commit(&[(partition, sieved)], moment(0)).unwrap();
    for day in 0..DAYS {
        let mut deeds = vec![(partition, robots(&mut repository, moment(day * DAY_SECS)))];
        for number in 0..PAGES {
            let now = moment(day * DAY_SECS + 10 + i64::from(number));
            deeds.push((partition, story.visit(&mut repository, partition, number, now)));
        }
        repository.commit(&deeds, moment((day + 1) * DAY_SECS)).unwrap();
    }
    repository
}

fn robots(repository: &mut Repository, now: Moment) -> Deed {
    let target = url("http://example.org/robots.txt");
    let answer = exchange(b"HTTP/1.1 404 No\r\n\r\n", b"none");
    let origin = target.origin();
    let what = KeepKind::Robots { origin: &origin };
    let keep = Keep { url: &target, moment: now, exchange: &answer, payload: digest(b"none"), what };
    let record = Some(repository.keep(&keep).unwrap());
    let answer = RobotsAnswer::AllowAll;
    let row = RobotsRow { origin, fetched: now, expires: now, answer, last_read: None, copy: None };
    let visit = Visit { robots: Some(target.clone()), ..visit(Outcome::Gone { status: 404 }, now, record) };
    Deed::RobotsRead { site: target.site(), row, visit }
}

fn visit(outcome: Outcome, now: Moment, record: Option<vernal_model::Location>) -> Visit {
    Visit {
        started: now,
        finished: now,
        outcome,
        address: None,
        wire_bytes: 100,
        version: None,
        record,
        decided_by: None,
        changed: None,
        second_look: false,
        robots: None,
    }
}

impl Story {
    fn visit(&mut self, repository: &mut Repository, partition: Partition, number: u32, now: Moment) -> Deed {
        let before = self.pages.get(&number).cloned();
        let old = before.as_ref().and_then(|page| page.version);
        let target = address(number);
        let (first, choice) = (old.is_none(), self.chance.below(10));
        let (outcome, answer, what) = match (old, choice) {
            (Some(old), 5..=7) => {
                let confirmed = choice != 5;
                let head: &[u8] = if confirmed { b"HTTP/1.1 304 Same\r\n\r\n" } else { b"HTTP/1.1 200 OK\r\n\r\n" };
                let what = KeepKind::Revisit { target: &target, date: old.moment, server_not_modified: confirmed };
                let outcome = if confirmed { Outcome::NotModified } else { Outcome::Read { status: 200 } };
                (outcome, exchange(head, b""), what)
            }
            (Some(_), 8) => {
                let answer = exchange(b"HTTP/1.1 404 Gone\r\n\r\n", b"not here");
                (Outcome::Gone { status: 404 }, answer, KeepKind::Response)
            }
            _ => {
                let version = old.map_or(1, |old| old.number + 1);
                let answer = exchange(b"HTTP/1.1 200 OK\r\n\r\n", &body(number, version));
                (Outcome::Read { status: 200 }, answer, KeepKind::Response)
            }
        };
        let is_new = matches!(outcome, Outcome::Read { .. }) && matches!(what, KeepKind::Response);
        let payload = match &what {
            KeepKind::Revisit { .. } => old.unwrap().payload,
            _ => digest(&answer.body),
        };
        let keep = Keep { url: &target, moment: now, exchange: &answer, payload, what };
        let record = repository.keep(&keep).unwrap();
        let version = is_new.then(|| Version {
            number: old.map_or(1, |old| old.number + 1),
            moment: now,
            status: 200,
            payload,
            body_bytes: answer.body.len() as u32,
            location: Some(record),
        });
        let key = PageKey::new(partition, number);
        let page = Page {
            key,
            url: target.clone(),
            state: PageState::Held,
            depth: 0,
            found_on: None,
            admitted: moment(0),
            first_visit: now,
            last_visit: now,
            last_confirmed: None,
            last_outcome: outcome.clone(),
            visits: 1,
            compared: 0,
            changes: 0,
            misses: 0,
            missing_since: None,
            failures: 0,
            not_before: now,
            version: version.or(old),
            validators: Validators::default(),
            importance: 1.0,
            noisy: false,
            policy: PolicyState::default(),
        };
        self.pages.insert(number, page.clone());
        let left = first.then(|| WaitingPlace { site: target.site(), band: 0, arrival: u64::from(number) });
        let visit = Visit { version, ..visit(outcome, now, Some(record)) };
        let was = before.map(|page| page.state);
        Deed::Visited(Box::new(Visited { page, was, left, visit, document: None, event: None }))
    }
}

/// Everything that can be read: of each version its number and its body, if it has one.
fn versions(reader: &Reader) -> BTreeMap<(u32, u32), Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    for page in reader.pages(None, usize::MAX).unwrap() {
        let versions = reader.versions(page.key).unwrap();
        assert_eq!(versions.last().map(|version| version.location), page.version.map(|version| version.location));
        for version in versions {
            let body = version.location.map(|location| reader.body(&location).unwrap().payload().unwrap().to_vec());
            all.insert((page.key.number, version.number), body);
        }
    }
    all
}

fn assert_sound(dir: &Path, reader: &Reader) {
    let segments = bodies::verify(dir, &mut |_, _| {}).unwrap();
    assert!(segments.is_sound(), "{:?}", segments.faults);
    assert_eq!(verify_journal(dir, &mut |_, _| {}).unwrap().faults, Vec::<String>::new());
    assert_eq!(compare_tables(reader, &mut |_, _| {}).unwrap().faults, Vec::<String>::new());
    for row in reader.visit_book() {
        let (_, visit) = row.unwrap();
        if let Some(record) = visit.record {
            let record = reader.body(&record).unwrap();
            assert_eq!(record.date().unwrap().secs(), visit.started.secs(), "the record is that of the visit");
        }
    }
}

/// The version kept by each rule is what its place and age say.
fn assert_kept(before: &Versions, after: &Versions, keeps: impl Fn(usize, (u32, u32)) -> bool) {
    assert!(before.keys().eq(after.keys()), "every version keeps its row");
    for (&(page, version), body) in after {
        assert_eq!(body.is_some(), keeps(newer(before, page, version), (page, version)), "{page} v{version}");
        if let Some(bytes) = body {
            assert!(*bytes == self::body(page, version), "byte for byte");
        }
    }
}

type Versions = BTreeMap<(u32, u32), Option<Vec<u8>>>;

fn newer(versions: &Versions, page: u32, version: u32) -> usize {
    versions.keys().filter(|(other, number)| *other == page && *number > version).count()
}

#[test]
fn the_newest_versions_stay_byte_for_byte_and_the_others_say_that_they_went() {
    for kept in [1, 2, 4] {
        let dir = TempDir::new().unwrap();
        let mut repository = told(dir.path());
        let reader = repository.reader();
        let before = versions(&reader);
        let rules = Retention { keep_versions: Some(kept), keep_for: None };
        let done = repository.compact(rules, moment(DAYS * DAY_SECS)).unwrap();
        assert_kept(&before, &versions(&reader), |place, _| place < kept as usize);
        assert_sound(dir.path(), &reader);
        let dropped = before.len() - versions(&reader).values().flatten().count();
        assert_eq!(done.versions_dropped, dropped as u64);
        assert!(done.segments_rewritten > 1 && done.segment_bytes_after < done.segment_bytes_before);
        drop(reader);
        repository.close().unwrap();
        let reopened = open(dir.path());
        assert_kept(&before, &versions(&reopened.reader()), |place, _| place < kept as usize);
        assert_sound(dir.path(), &reopened.reader());
    }
}

#[test]
fn young_versions_stay_and_the_newest_stays_however_old() {
    let dir = TempDir::new().unwrap();
    let mut repository = told(dir.path());
    let reader = repository.reader();
    let before = versions(&reader);
    let moments: BTreeMap<(u32, u32), Moment> = reader
        .pages(None, usize::MAX)
        .unwrap()
        .iter()
        .flat_map(|page| reader.versions(page.key).unwrap().into_iter().map(|version| (page.key.number, version)))
        .map(|(page, version)| ((page, version.number), version.moment))
        .collect();
    let now = moment((DAYS + 100) * DAY_SECS);
    let rules = Retention { keep_versions: None, keep_for: Some(Span::from_days(105)) };
    let done = repository.compact(rules, now).unwrap();
    assert!(done.versions_dropped > 0);
    // A body may stay longer, where its segment is not worth rewriting.
    for (key, body) in &versions(&reader) {
        let must_stay = newer(&before, key.0, key.1) == 0 || now.since(moments[key]) <= Span::from_days(105);
        assert!(body.is_some() || !must_stay, "{key:?}");
    }
    assert_sound(dir.path(), &reader);
    // One rule that keeps is enough.
    let both = Retention { keep_versions: Some(3), keep_for: Some(Span::from_days(1)) };
    let kept_before = versions(&reader);
    let done = repository.compact(both, now).unwrap();
    for (&(page, version), body) in &versions(&reader) {
        let must_stay = newer(&before, page, version) < 3 && kept_before[&(page, version)].is_some();
        assert!(body.is_some() || !must_stay, "{page} v{version}");
    }
    assert!(done.versions_dropped > 0);
    assert_sound(dir.path(), &reader);
}

#[test]
fn without_a_rule_nothing_goes() {
    let dir = TempDir::new().unwrap();
    let mut repository = told(dir.path());
    let reader = repository.reader();
    let before = versions(&reader);
    let done = repository.compact(Retention::default(), moment(DAYS * DAY_SECS)).unwrap();
    assert_eq!((done.versions_dropped, done.segments_rewritten), (0, 0));
    assert_eq!(versions(&reader), before);
    assert_sound(dir.path(), &reader);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().unwrap().is_dir() {
            true => copy(&source, &target),
            false => drop(fs::copy(&source, &target).unwrap()),
        }
    }
}

#[test]
fn a_crash_between_copy_and_commit_loses_nothing() {
    let dir = TempDir::new().unwrap();
    told(dir.path()).close().unwrap();
    let crashed = TempDir::new().unwrap();
    copy(dir.path(), crashed.path());
    let mut repository = open(dir.path());
    let before = versions(&repository.reader());
    let rules = Retention { keep_versions: Some(1), keep_for: None };
    repository.compact(rules, moment(DAYS * DAY_SECS)).unwrap();
    drop(repository);
    // The copies are on disk as files that still grow, and neither journal nor tables know of them.
    let old: Vec<u32> = bodies::segments(crashed.path()).unwrap().iter().map(|file| file.serial).collect();
    for file in bodies::segments(dir.path()).unwrap().into_iter().filter(|file| !old.contains(&file.serial)) {
        let name = file.path.file_name().unwrap().to_str().unwrap();
        let open_name = format!("{}.open", name.trim_end_matches(".open"));
        fs::copy(&file.path, crashed.path().join("bodies").join(open_name)).unwrap();
    }
    let reopened = open(crashed.path());
    assert_eq!(versions(&reopened.reader()), before);
    assert_sound(crashed.path(), &reopened.reader());
}

#[test]
fn a_crash_between_commit_and_the_end_of_the_old_segment_is_healed_by_the_next_compaction() {
    let dir = TempDir::new().unwrap();
    told(dir.path()).close().unwrap();
    let before_bodies = TempDir::new().unwrap();
    copy(&dir.path().join("bodies"), before_bodies.path());
    let rules = Retention { keep_versions: Some(2), keep_for: None };
    let mut repository = open(dir.path());
    repository.compact(rules, moment(DAYS * DAY_SECS)).unwrap();
    let after = versions(&repository.reader());
    let bytes: u64 = bodies::segments(dir.path()).unwrap().iter().map(|file| file.bytes).sum();
    repository.close().unwrap();
    for entry in fs::read_dir(before_bodies.path()).unwrap() {
        let name = entry.unwrap().file_name();
        let sealed = name.to_str().unwrap().trim_end_matches(".open");
        let target = dir.path().join("bodies").join(sealed);
        if !target.exists() {
            fs::copy(before_bodies.path().join(&name), &target).unwrap();
        }
    }
    let mut repository = open(dir.path());
    assert_eq!(versions(&repository.reader()), after);
    repository.compact(Retention::default(), moment(DAYS * DAY_SECS)).unwrap();
    let healed: u64 = bodies::segments(dir.path()).unwrap().iter().map(|file| file.bytes).sum();
    assert!(healed <= bytes + 2_000, "{healed} after {bytes}");
    assert_eq!(versions(&repository.reader()), after);
    assert_sound(dir.path(), &repository.reader());
}

#[test]
fn tables_from_before_a_compaction_are_healed_by_replay() {
    let dir = TempDir::new().unwrap();
    told(dir.path()).close().unwrap();
    let old_tables = TempDir::new().unwrap();
    for part in ["tables", "known"] {
        copy(&dir.path().join(part), &old_tables.path().join(part));
    }
    let mut repository = open(dir.path());
    for kept in [3, 1] {
        let rules = Retention { keep_versions: Some(kept), keep_for: None };
        repository.compact(rules, moment(DAYS * DAY_SECS)).unwrap();
    }
    let after = versions(&repository.reader());
    repository.close().unwrap();
    for part in ["tables", "known"] {
        fs::remove_dir_all(dir.path().join(part)).unwrap();
        copy(&old_tables.path().join(part), &dir.path().join(part));
    }
    let healed = open(dir.path());
    assert_eq!(versions(&healed.reader()), after);
    assert_sound(dir.path(), &healed.reader());
}

const FORGOTTEN: u32 = 3;

/// Forgets one page of the story. Gives the places of its records.
fn forget(repository: &mut Repository) -> Vec<Location> {
    let (reader, url) = (repository.reader(), address(FORGOTTEN));
    let page = reader.page_by_url(&url).unwrap().unwrap();
    let records = reader.records_of_page(page.key).unwrap();
    let erased = ErasedPage {
        page: page.key,
        site: url.site(),
        fingerprint: url.fingerprint(),
        was: Some(page.state),
        left: None,
        counts: ErasedCounts::default(),
        records: records.clone(),
        event: None,
        retold: Vec::new(),
    };
    repository.commit(&[(page.key.partition, Deed::Erased(Box::new(erased)))], moment(DAYS * DAY_SECS)).unwrap();
    records
}

/// No record and no row tells of the page, and all others are as they were.
fn assert_forgotten(dir: &Path, reader: &Reader, before: &Versions) {
    let url = address(FORGOTTEN);
    for file in bodies::segments(dir).unwrap() {
        for item in bodies::scan(&file.path).unwrap() {
            let record = item.unwrap().record;
            assert_ne!(record.target(), Some(url.as_str()));
            assert!(!String::from_utf8_lossy(&record.block).contains("GET /3 "), "nor a request");
        }
    }
    assert_eq!((reader.page_by_url(&url).unwrap(), reader.key_of(&url).unwrap()), (None, None));
    let rest: Versions =
        before.iter().filter(|((page, _), _)| *page != FORGOTTEN).map(|(key, body)| (*key, body.clone())).collect();
    assert_eq!(versions(reader), rest);
    assert_sound(dir, reader);
    assert!(reader.to_rewrite().unwrap().is_done());
}

#[test]
fn a_forgotten_page_leaves_all_others_byte_for_byte_where_they_were() {
    let dir = TempDir::new().unwrap();
    let mut repository = told(dir.path());
    let reader = repository.reader();
    let before = versions(&reader);
    let places = |reader: &Reader| -> Vec<_> {
        let rows = reader.visit_book().map(|row| row.unwrap());
        rows.filter(|(page, _)| page.is_none_or(|page| page.number != FORGOTTEN))
            .map(|(_, visit)| visit.record)
            .collect()
    };
    let records_before = places(&reader);
    assert!(forget(&mut repository).len() > 10);
    assert!(!reader.to_rewrite().unwrap().is_done());
    repository.rewrite_erased(moment(DAYS * DAY_SECS)).unwrap();
    assert_forgotten(dir.path(), &reader, &before);
    assert_eq!(places(&reader), records_before, "no record moved");
    drop(reader);
    repository.close().unwrap();
    let mut reopened = open(dir.path());
    assert_forgotten(dir.path(), &reopened.reader(), &before);
    let rules = Retention { keep_versions: Some(2), keep_for: None };
    reopened.compact(rules, moment(DAYS * DAY_SECS)).unwrap();
    assert_sound(dir.path(), &reopened.reader());
}

#[test]
fn an_overwriting_that_is_cut_short_anywhere_is_done_again() {
    let dir = TempDir::new().unwrap();
    let mut repository = told(dir.path());
    let before = versions(&repository.reader());
    let records = forget(&mut repository);
    repository.close().unwrap();
    for cut in [0, 1, 9, 40, 200, usize::MAX] {
        let crashed = TempDir::new().unwrap();
        copy(dir.path(), crashed.path());
        // Each place was reached by the new bytes up to here, or half of the places were.
        for record in records.iter().step_by(if cut == 200 { 2 } else { 1 }) {
            let files = bodies::segments(crashed.path()).unwrap();
            let file = files.iter().find(|file| file.serial == record.segment).unwrap();
            let mut bytes = fs::read(&file.path).unwrap();
            let (start, length) = (record.offset as usize, record.length as usize);
            bytes[start..start + length.min(cut)].fill(b'x');
            fs::write(&file.path, bytes).unwrap();
        }
        let mut reopened = open(crashed.path());
        // A crawl does it in turns.
        while reopened.rewrite_turn(moment(DAYS * DAY_SECS)).unwrap() {
            std::thread::yield_now();
        }
        assert_forgotten(crashed.path(), &reopened.reader(), &before);
    }
}
