//! Change detection in the whole ring: crawls of the invented web in virtual time, judged by what really changed there.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use vernal_crawler::{Act, Crawler, Settings};
use vernal_model::{Event, EventKind, Kind, Moment, PageKey, Seed, Span, Url};
use vernal_repository::{Cursor, Reader, Repository};
use vernal_simulator::drift::DriftSettings;
use vernal_simulator::trial::Trial;
use vernal_simulator::web::{PageNumber, Shares, Web, WebSettings, Writing};

/// Events read at once.
const BATCH: usize = 10_000;

fn seeded(web: &Web, dir: &Path, now: Moment) -> Crawler {
    let settings =
        Settings { budget: "200%/day".parse().unwrap(), delay: Span::from_millis(100), ..Settings::default() };
    let repository = vernal_repository::Settings { id: Some(7), ..vernal_repository::Settings::default() };
    let (repository, _) = Repository::open(dir, repository, now).unwrap();
    let mut crawler = Crawler::open(repository, settings, now).unwrap();
    let root = |site| Seed::new(Url::parse(&format!("{}/", web.root(site))).unwrap(), now);
    crawler.act(Act::AddSeeds((0..web.sites()).map(root).collect()), now).unwrap();
    crawler
}

fn crawled(web: &Web, dir: &Path, days: u64) -> Reader {
    let start = web.settings().origin;
    let mut trial = Trial::new(web, seeded(web, dir, start), start, 5).committing_every(Span::from_hours(1));
    trial.run_until(start + Span::from_days(days)).unwrap();
    let now = trial.now();
    trial.crawler().commit(now).unwrap();
    trial.crawler().reader()
}

fn events(reader: &Reader) -> Vec<Event> {
    let (mut all, mut after) = (Vec::new(), Cursor::START);
    loop {
        let batch = reader.events(after, BATCH).unwrap();
        let Some((cursor, ..)) = batch.last() else { return all };
        after = *cursor;
        all.extend(batch.into_iter().map(|(_, _, event)| event));
    }
}

fn numbers(web: &Web) -> BTreeMap<String, PageNumber> {
    web.truth().into_iter().map(|truth| (truth.url, truth.page)).collect()
}

#[test]
fn noise_alone_raises_no_content_event_after_three_visits() {
    let web = Web::new(WebSettings { noise: true, ..WebSettings::plain(3, 30).still() }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let reader = crawled(&web, folder.path(), 8);
    let pages: BTreeMap<PageKey, Vec<Moment>> = reader
        .pages(None, usize::MAX)
        .unwrap()
        .into_iter()
        .map(|page| {
            let visits = reader.visits(page.key).unwrap();
            (page.key, visits.into_iter().map(|visit| visit.started).collect())
        })
        .collect();
    let later: usize = pages.values().map(|visits| visits.len().saturating_sub(3)).sum();
    assert!(later > 800, "{later} visits after the third");
    let told = events(&reader).into_iter().filter(|event| event.kind == EventKind::Changed && event.change.is_change());
    let mut wrong = Vec::new();
    for event in told.filter(|event| event.change.left.contains(Kind::Content)) {
        let mut visits = pages[&event.page].clone();
        visits.sort_unstable();
        if visits.iter().position(|&at| at == event.seen_different).unwrap_or(0) >= 3 {
            wrong.push(event);
        }
    }
    let share = wrong.len() as f64 / later as f64;
    assert!(share <= 0.01, "{} of {later}, such as {:#?}", wrong.len(), wrong.first());
}

/// There are words that came or went, or a note that says in words what differs: marks of digests say nothing to people, and
/// two sides that read the same say nothing either.
fn assert_readable(event: &Event) {
    let change = &event.change;
    let has_words = change.paragraphs.iter().any(|one| one.before.is_some() || one.after.is_some());
    assert!(has_words || !change.notes.is_empty(), "nothing to read in {event:#?}");
    for note in &change.notes {
        let [before, after] = [&note.before, &note.after].map(|side| side.as_deref().unwrap_or_default());
        let is_made_up = note.what.contains("script") || note.what.contains("style");
        assert!(
            is_made_up || !format!("{before}{after}").contains("mark "),
            "only a mark in {note:?} of {}",
            event.url
        );
        assert!(before != after, "nothing differs in {note:?} of {}", event.url);
    }
}

#[test]
fn pictures_files_and_pages_whose_bodies_are_not_kept_say_what_changed() {
    let drift = DriftSettings::independent(0.5);
    let share = Shares { image: 0.2, pdf: 0.2, json: 0.1, feed: 0.1, noarchive: 0.3, ..Shares::none() };
    for writing in [Writing::Words, Writing::Sentences] {
        let web =
            Web::new(WebSettings { writing, drift: drift.clone(), share: share.clone(), ..WebSettings::plain(2, 30) });
        let (web, folder) = (web.unwrap(), tempfile::tempdir().unwrap());
        let reader = crawled(&web, folder.path(), 10);
        let mut told: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut without_body = 0;
        for event in events(&reader).into_iter().filter(|event| event.kind == EventKind::Changed) {
            assert_readable(&event);
            let notes = event.change.notes.iter();
            let words = notes.map(|note| {
                let sides = [&note.before, &note.after].map(|side| side.as_deref().unwrap_or_default());
                format!("{}: {}", note.what, sides.join(" → "))
            });
            told.entry(event.content_type.to_string()).or_default().extend(words);
            // Words of an earlier version that is not kept cannot be told, and that is said.
            let has_bodies = reader.versions(event.page).unwrap().iter().all(|version| version.location.is_some());
            let lacks = |operation| {
                move |one: &&vernal_model::ParagraphChange| one.operation == operation && one.before.is_none()
            };
            let removed = event.change.paragraphs.iter().find(lacks(vernal_model::Operation::Removed));
            if let Some(removed) = removed.filter(|_| !has_bodies) {
                without_body += 1;
                assert!(
                    event.change.notes.iter().any(|note| &*note.what == "earlier words"),
                    "{removed:?} {}",
                    event.url
                );
            }
        }
        let starts = |content_type: &str, start: &str| {
            let notes = told.get(content_type).unwrap_or_else(|| panic!("no {content_type} in {:?}", told.keys()));
            assert!(notes.iter().all(|note| note.starts_with(start)), "{content_type}: {notes:?}");
        };
        starts("image/png", "picture: ");
        starts("application/pdf", "PDF: ");
        starts("application/json", "JSON: ");
        assert!(told["image/png"].iter().any(|note| note.contains(" PNG 8×8 → ")), "{:?}", told["image/png"]);
        println!("{writing:?}: {without_body} events of pages without bodies; {told:#?}");
    }
}

#[test]
fn real_changes_are_found_beside_noise_and_each_event_has_something_to_read() {
    let drift = DriftSettings::independent(0.3);
    let web = Web::new(WebSettings { noise: true, drift, ..WebSettings::plain(3, 30) }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let reader = crawled(&web, folder.path(), 10);
    let numbers = numbers(&web);
    let mut changed_at: BTreeSet<(PageKey, Moment)> = BTreeSet::new();
    for event in events(&reader) {
        if matches!(event.kind, EventKind::Changed | EventKind::Template) && event.change.is_change() {
            assert_readable(&event);
            assert!(event.seen_same.is_some_and(|same| same < event.seen_different));
        }
        if event.change.left.contains(Kind::Content) {
            changed_at.insert((event.page, event.seen_different));
        }
    }
    let (mut happened, mut found) = (0, 0);
    for page in reader.pages(None, usize::MAX).unwrap() {
        let Some(&number) = numbers.get(page.url.as_str()) else { continue };
        let mut visits: Vec<Moment> = reader.visits(page.key).unwrap().into_iter().map(|visit| visit.started).collect();
        visits.sort_unstable();
        for pair in visits.windows(2).skip(3) {
            if web.changes_between(number, pair[0], pair[1]) > 0 {
                happened += 1;
                found += usize::from(changed_at.contains(&(page.key, pair[1])));
            }
        }
    }
    assert!(happened > 100, "{happened}");
    assert!(found as f64 >= 0.98 * happened as f64, "{found} of {happened} real changes were told");
}

#[test]
fn paragraphs_keep_their_numbers_and_no_number_is_used_twice() {
    let web = Web::new(WebSettings { drift: DriftSettings::independent(0.5), ..WebSettings::plain(1, 20) }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let reader = crawled(&web, folder.path(), 10);
    let mut edited = 0;
    for page in reader.pages(None, usize::MAX).unwrap() {
        let Some(document) = reader.document(page.key).unwrap() else { continue };
        let ids: BTreeSet<u32> = document.signature.paragraphs.iter().map(|mark| mark.id).collect();
        assert_eq!(ids.len(), document.signature.paragraphs.len(), "{}", page.url);
        assert!(!ids.contains(&0) && ids.iter().all(|&id| id < document.next_paragraph));
    }
    let mut removed: BTreeSet<(PageKey, u32)> = BTreeSet::new();
    for event in events(&reader).into_iter().filter(|event| event.kind == EventKind::Changed) {
        for one in &event.change.paragraphs {
            edited += usize::from(one.operation == vernal_model::Operation::Edited);
            match one.operation {
                vernal_model::Operation::Removed => {
                    removed.insert((event.page, one.id));
                }
                _ => assert!(!removed.contains(&(event.page, one.id)), "{} came back in {one:?}", one.id),
            }
        }
    }
    assert!(edited > 20, "{edited} paragraphs were edited");
}
