//! Imported records become versions and history, and the schedule hears nothing of them.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::path::Path;

use vernal_crawler::{Crawler, DiskFreeMin, Imported, Settings};
use vernal_model::{EventKind, Moment, Outcome, PageState, PolicyState, Span, Url};
use vernal_repository::{Reader, Record, Repository, compare_tables, verify_journal};

const PAGE: &str = "http://a.example/x";
const NOW: Moment = Moment::from_secs(1_900_000_000);

fn opened(dir: &Path) -> Crawler {
    let settings = vernal_repository::Settings { id: Some(7), ..Default::default() };
    let (repository, _) = Repository::open(dir, settings, NOW).unwrap();
    let settings = Settings { disk_free_min: DiskFreeMin::NOTHING, policy: "vernal".into(), ..Settings::default() };
    Crawler::open(repository, settings, NOW).unwrap()
}

fn day(number: u64) -> Moment {
    Moment::from_secs(1_500_000_000) + Span::from_days(number)
}

fn record(url: &str, moment: Moment, words: &str) -> Record {
    let body = format!(
        "<html><head><title>T</title></head><body><h1>Garden</h1><p>{words}</p><a href=/next>n</a></body></html>"
    );
    Record::of_response(
        &Url::parse(url).unwrap(),
        moment,
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        body.as_bytes(),
    )
}

fn import(crawler: &mut Crawler, records: Vec<Record>) -> Imported {
    let mut imported = Imported::default();
    crawler.import(records, false, NOW, &mut imported).unwrap();
    imported
}

fn versions(reader: &Reader) -> Vec<(u32, Moment)> {
    let page = reader.page_by_url(&Url::parse(PAGE).unwrap()).unwrap().unwrap();
    reader.versions(page.key).unwrap().iter().map(|version| (version.number, version.moment)).collect()
}

const ROSES: &str = "Roses are planted in the spring of the year and watered daily by hand.";
const TULIPS: &str = "Tulips are planted in the autumn of the year and never watered by anyone.";
const PEAS: &str = "Peas climb along a fence of wire and are picked in the early summer.";

#[test]
fn records_in_the_order_of_their_dates_are_versions_with_the_change_between_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut crawler = opened(dir.path());
    let records = vec![record(PAGE, day(0), ROSES), record(PAGE, day(5), ROSES), record(PAGE, day(9), TULIPS)];
    let imported = import(&mut crawler, records.clone());
    assert_eq!((imported.pages, imported.versions, imported.same), (1, 2, 1));
    let reader = crawler.reader();
    assert_eq!(versions(&reader), [(1, day(0)), (2, day(9))]);
    let page = reader.page_by_url(&Url::parse(PAGE).unwrap()).unwrap().unwrap();
    let events = reader.page_events(page.key).unwrap();
    let told: Vec<_> = events.iter().map(|(_, _, event)| (event.kind, event.seen_same, event.seen_different)).collect();
    assert_eq!(told, [(EventKind::New, None, day(0)), (EventKind::Changed, Some(day(5)), day(9))]);
    let words: Vec<_> = events[1].2.change.paragraphs.iter().filter_map(|paragraph| paragraph.after.clone()).collect();
    assert!(words.iter().any(|words| words.contains("autumn")), "{words:?}");
    // The schedule hears nothing, no link is followed, and nothing counts as a visit of ours.
    assert_eq!((page.visits, page.compared, page.changes, page.policy), (0, 0, 0, PolicyState::default()));
    assert_eq!((page.state, reader.totals().found_pending, reader.totals().wire_bytes), (PageState::Held, 0, 0));
    assert!(reader.visits(page.key).unwrap().iter().all(|visit| visit.is_imported()));
    // The same once more adds nothing.
    let again = import(&mut crawler, records);
    assert_eq!((again.known, again.versions, again.same), (3, 0, 0));
    assert_eq!(versions(&reader).len(), 2);
    crawler.close(NOW).unwrap();
    assert!(verify_journal(dir.path(), &mut |_, _| {}).unwrap().is_sound());
}

#[test]
fn what_is_from_before_is_put_in_and_what_the_page_is_now_stays() {
    let dir = tempfile::tempdir().unwrap();
    let mut crawler = opened(dir.path());
    import(&mut crawler, vec![record(PAGE, day(100), PEAS)]);
    let reader = crawler.reader();
    let now = reader.page_by_url(&Url::parse(PAGE).unwrap()).unwrap().unwrap();
    let imported = import(
        &mut crawler,
        vec![record(PAGE, day(1), ROSES), record(PAGE, day(2), ROSES), record(PAGE, day(3), TULIPS)],
    );
    assert_eq!((imported.pages, imported.versions, imported.same), (0, 2, 1));
    // Oldest first by their moments; numbers say in which order they came here.
    assert_eq!(versions(&reader), [(2, day(1)), (3, day(3)), (1, day(100))]);
    let after = reader.page_by_url(&Url::parse(PAGE).unwrap()).unwrap().unwrap();
    assert_eq!(after, now, "the page's row stays");
    let events = reader.page_events(now.key).unwrap();
    let told: Vec<_> = events.iter().map(|(_, _, event)| (event.kind, event.version, event.previous)).collect();
    let expected = [
        (EventKind::New, Some(1), None),
        (EventKind::Imported, Some(2), None),
        (EventKind::Imported, Some(3), Some(2)),
    ];
    assert_eq!(told, expected);
    assert_eq!((events[2].2.seen_same, events[2].2.seen_different), (Some(day(2)), day(3)));
    // A later import finds its place between them, and a later version gets a number that is free.
    import(&mut crawler, vec![record(PAGE, day(50), ROSES)]);
    import(&mut crawler, vec![record(PAGE, day(200), TULIPS)]);
    let expected = [(2, day(1)), (3, day(3)), (4, day(50)), (1, day(100)), (5, day(200))];
    assert_eq!(versions(&reader), expected);
    // No paragraph of one version shares its number with another one of another version that it is not.
    let rows: Vec<_> = [2, 3, 4, 5].iter().filter_map(|n| reader.version_row(now.key, *n).unwrap()).collect();
    assert_eq!(rows.len(), 4, "what each version's paragraphs are is kept");
    drop(reader);
    crawler.close(NOW).unwrap();
    let (repository, _) = Repository::open(dir.path(), Default::default(), NOW).unwrap();
    assert!(compare_tables(&repository.reader(), &mut |_, _| {}).unwrap().faults.is_empty());
}

#[test]
fn answers_that_are_no_copy_of_a_page_make_none() {
    let dir = tempfile::tempdir().unwrap();
    let mut crawler = opened(dir.path());
    let answer = |path: &str, head: &str, body: &str| {
        let url = Url::parse(&format!("http://a.example/{path}")).unwrap();
        Record::of_response(&url, day(1), format!("{head}\r\n\r\n").as_bytes(), body.as_bytes())
    };
    let imported = import(
        &mut crawler,
        vec![
            answer("1", "HTTP/1.1 500 No", "broken"),
            answer("2", "HTTP/1.1 404 Not Found", "gone"),
            answer("3", "HTTP/1.1 301 Moved\r\nLocation: /4", ""),
            answer("5", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip", "this is no gzip"),
            answer("6", "", "no head"),
            record("http://a.example/7", NOW + Span::from_days(1), ROSES),
        ],
    );
    assert_eq!((imported.versions, imported.moved_or_gone), (0, 2));
    assert_eq!(imported.no_copy + imported.refused_total, 4);
    let reader = crawler.reader();
    let moved = reader.page_by_url(&Url::parse("http://a.example/3").unwrap()).unwrap().unwrap();
    assert!(matches!(moved.last_outcome, Outcome::Moved { .. }));
    assert_eq!(reader.totals().found_pending, 0, "a redirect of an import is not followed");
}

#[test]
fn with_learn_the_schedule_hears_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut crawler = opened(dir.path());
    let records = vec![record(PAGE, day(0), ROSES), record(PAGE, day(5), ROSES), record(PAGE, day(9), TULIPS)];
    let mut imported = Imported::default();
    crawler.import(records, true, NOW, &mut imported).unwrap();
    assert_eq!((imported.versions, imported.same), (2, 1));
    let page = crawler.reader().page_by_url(&Url::parse(PAGE).unwrap()).unwrap().unwrap();
    assert_eq!((page.visits, page.compared, page.changes), (0, 2, 1));
    assert_ne!(page.policy, PolicyState::default(), "the policy remembers it");
}
