//! The changes that a crawl reports of a web which people edit, held against what they really did, kind by kind.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod invented;

use std::collections::BTreeMap;

use vernal_crawler::Settings;
use vernal_model::{Change, Event, EventKind, Kind, Kinds, Moment, Operation, PageKey, Span};
use vernal_repository::{Cursor, Reader};
use vernal_simulator::drift::DriftSettings;
use vernal_simulator::trial::Trial;
use vernal_simulator::web::{EditKind, Shares, Web, WebSettings, Writing, edits_between};

/// Events read at once.
const BATCH: usize = 10_000;

/// What people read at these sites changes about once a day; every page is visited some times a day.
fn crawled(web: &Web, folder: &std::path::Path, days: u64) -> Reader {
    let start = web.settings().origin;
    let settings =
        Settings { budget: "400%/day".parse().unwrap(), delay: Span::from_millis(100), ..Settings::default() };
    let mut trial =
        Trial::new(web, invented::seeded(web, folder, settings, start), start, 5).committing_every(Span::from_hours(1));
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

fn web(noise: bool) -> Web {
    let drift = DriftSettings::independent(0.7);
    let share = Shares { image: 0.06, pdf: 0.06, json: 0.03, feed: 0.03, ..Shares::none() };
    Web::new(WebSettings { writing: Writing::Sentences, noise, drift, share, ..WebSettings::plain(4, 40) }).unwrap()
}

/// How often a kind of edit stood alone between two visits, and how often the operation was reported that says it.
#[derive(Copy, Clone, Debug, Default)]
struct Recall {
    happened: u32,
    told: u32,
    right: u32,
}

/// Where paragraphs end is structure: a split or a join alone leaves every word in its order.
fn is_told_rightly(kind: EditKind, change: &Change) -> bool {
    let has = |operation| change.paragraphs.iter().any(|one| one.operation == operation);
    let is_boundary = matches!(kind, EditKind::ParagraphSplit | EditKind::ParagraphsJoined);
    match kind.operation() {
        Some(_) if is_boundary && change.paragraphs.is_empty() => change.left.contains(Kind::Structure),
        Some(operation) => has(operation),
        None if kind == EditKind::Redesigned => change.left.meets(Kinds::of(&[Kind::Structure, Kind::Presentation])),
        None => change.left.contains(Kind::Content),
    }
}

fn recall(web: &Web, reader: &Reader) -> BTreeMap<EditKind, Recall> {
    let numbers: BTreeMap<String, _> = web.truth().into_iter().map(|truth| (truth.url, truth.page)).collect();
    let mut told: BTreeMap<(PageKey, Moment), Event> = BTreeMap::new();
    for event in events(reader).into_iter().filter(|event| event.kind == EventKind::Changed) {
        told.insert((event.page, event.seen_different), event);
    }
    let mut kinds: BTreeMap<EditKind, Recall> = BTreeMap::new();
    for page in reader.pages(None, usize::MAX).unwrap() {
        let Some(&number) = numbers.get(page.url.as_str()) else { continue };
        let mut visits: Vec<Moment> = reader.visits(page.key).unwrap().into_iter().map(|visit| visit.started).collect();
        visits.sort_unstable();
        // Noise is learned during the first visits.
        for pair in visits.windows(2).skip(3) {
            let edits = edits_between(web, number, pair[0], pair[1]);
            let [edit] = edits.as_slice() else { continue };
            let recall = kinds.entry(edit.kind).or_default();
            recall.happened += 1;
            let Some(event) = told.get(&(page.key, pair[1])) else { continue };
            recall.told += 1;
            recall.right += u32::from(is_told_rightly(edit.kind, &event.change));
        }
    }
    kinds
}

#[test]
fn what_people_did_is_what_is_reported() {
    for noise in [false, true] {
        let (web, folder) = (web(noise), tempfile::tempdir().unwrap());
        let reader = crawled(&web, folder.path(), 14);
        let kinds = recall(&web, &reader);
        let (mut happened, mut told, mut right) = (0, 0, 0);
        println!("noise: {noise}");
        for (kind, recall) in &kinds {
            let Recall { happened: all, told: reported, right: fitting } = recall;
            println!("  {kind:?}: {all} happened, {reported} were told, {fitting} with the right operation");
            (happened, told, right) = (happened + all, told + reported, right + fitting);
        }
        println!("  all: {happened} happened, {told} told, {right} right");
        assert!(kinds.len() >= 16, "{} kinds were met", kinds.len());
        assert!(f64::from(told) >= 0.99 * f64::from(happened), "{told} of {happened} edits were told");
        assert!(f64::from(right) >= 0.98 * f64::from(happened), "{right} of {happened} edits were told rightly");
    }
}

#[test]
fn a_web_that_people_edit_shows_every_operation() {
    let (web, folder) = (web(true), tempfile::tempdir().unwrap());
    let reader = crawled(&web, folder.path(), 10);
    let mut mix: BTreeMap<String, u32> = BTreeMap::new();
    for event in events(&reader).into_iter().filter(|event| event.kind == EventKind::Changed) {
        for one in &event.change.paragraphs {
            *mix.entry(format!("{:?}", one.operation)).or_default() += 1;
        }
    }
    println!("{mix:?}");
    use Operation::{Added, Edited, Merged, Moved, Removed, Split};
    for operation in [Added, Edited, Merged, Moved, Removed, Split] {
        let count = mix.get(&format!("{operation:?}")).copied().unwrap_or(0);
        assert!(count >= 5, "{operation:?} was met {count} times in {mix:?}");
    }
}
