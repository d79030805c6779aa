//! Exports by difference: what was exported before, with the difference applied, is what a whole export gives now.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod world;

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value};
use vernal_archive::export::json_lines::{self, Unit};
use vernal_archive::export::markdown::{self, FileLine, FileOptions};
use vernal_archive::export::tables::{self, Table};
use vernal_archive::export::{Asked, Manifest, PageFilter, Until};
use vernal_model::{EventKind, Moment, Span};
use vernal_repository::Cursor;
use world::{START, World, html};

const URLS: [&str; 4] = [
    "https://garden.example/",
    "https://garden.example/roses",
    "https://port.example/mooring.html",
    "https://port.example/list?page=2",
];

const TEXTS: [&str; 12] = [
    "The roses by the gate were planted in March. They need water in the evening, and no one else may cut them.",
    "The roses by the gate were planted in March.",
    "They need water in the evening, and no one else may cut them.",
    "The fee for one night is 2.25 euros for each metre of length.",
    "The fee for one night is 3.00 euros for each metre of length.",
    "Open from nine every day.",
    "Open from ten every day, and longer in June and in July when the evenings are light.",
    "Sand and loam, and a little lime where the beans stand.",
    "Tulips cost three euros each.",
    "Beans came up late this year because of the frost in April.",
    "Updated 5 minutes ago",
    "Updated 17 minutes ago",
];

/// One thing that happens to a page.
#[derive(Clone, Debug)]
enum Step {
    Visit(usize, Vec<usize>, bool),
    End(usize, EventKind),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let visit = (0..URLS.len(), proptest::collection::vec(0..TEXTS.len(), 0..7), proptest::bool::weighted(0.1))
        .prop_map(|(url, texts, noindex)| Step::Visit(url, texts, noindex));
    let kinds = prop_oneof![Just(EventKind::Gone), Just(EventKind::Moved), Just(EventKind::Erased)];
    let end = (0..URLS.len(), kinds).prop_map(|(url, kind)| Step::End(url, kind));
    proptest::collection::vec(prop_oneof![8 => visit, 1 => end], 1..24)
}

fn take(world: &mut World, held: &mut [bool; URLS.len()], step: &Step) {
    match step {
        Step::Visit(url, texts, noindex) => {
            let texts: Vec<&str> = texts.iter().map(|&text| TEXTS[text]).collect();
            let page = html(&format!("Page {} of {}", url, texts.len() / 4), &texts);
            let page =
                if *noindex { page.replace("</head>", "<meta name=robots content=noindex></head>") } else { page };
            world.visit(URLS[*url], &page);
            held[*url] = true;
        }
        Step::End(url, EventKind::Erased) if held[*url] => world.erase(URLS[*url]),
        Step::End(url, kind) if held[*url] => world.end(URLS[*url], *kind),
        Step::End(..) => return,
    }
    if let Step::End(url, _) = step {
        held[*url] = false;
    }
}

fn asked(world: &World, from: Option<Until>, to: Until) -> Asked {
    Asked { from, to, ..Asked::now(&world.reader(), PageFilter::default(), START) }
}

fn now(world: &World) -> Until {
    Until { cursor: world.reader().cursor(), moment: None }
}

fn lines(world: &World, from: Option<Until>, to: Until, unit: Unit) -> (Vec<Value>, Manifest) {
    let mut out = Vec::new();
    let manifest = json_lines::write(&world.reader(), &asked(world, from, to), unit, &mut |_| {}, &mut out).unwrap();
    let lines = String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (lines, manifest)
}

/// What a reader holds: rows by their ids.
type Copy = BTreeMap<String, Map<String, Value>>;

/// What a reader of lines does, and nothing else.
fn apply(copy: &mut Copy, lines: &[Value], key: &str) {
    for line in lines {
        let mut row = line.as_object().unwrap().clone();
        let op = row.remove("op").unwrap();
        let id = row[key].as_str().unwrap().to_owned();
        match op.as_str().unwrap() {
            "upsert" => drop(copy.insert(id, row)),
            "patch" => {
                let held = copy.get_mut(&id).expect("a patch is of something that is held");
                for (name, value) in row {
                    if value.is_null() { drop(held.remove(&name)) } else { drop(held.insert(name, value)) }
                }
            }
            "delete" => drop(copy.remove(&id)),
            other => panic!("{other}"),
        }
    }
}

fn files(world: &World, from: Option<Until>, to: Until, copy: &mut BTreeMap<String, String>) -> Manifest {
    let options = FileOptions { all: true, ids: true };
    markdown::files(&world.reader(), &asked(world, from, to), options, &mut |_| {}, &mut |file| {
        match file {
            FileLine::Write { path, text, .. } => drop(copy.insert(path, text)),
            FileLine::Delete { path, .. } => drop(copy.remove(&path)),
        }
        Ok(())
    })
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// For lines by paragraph and by page, and for files: the old copy and the difference give the new whole, also in several
    /// steps, and a second time nothing changes. Each paragraph is told once.
    #[test]
    fn the_difference_leads_from_one_whole_export_to_the_next(steps in steps(), cuts in proptest::collection::vec(0usize..24, 1..4)) {
        let mut world = World::new();
        let mut held = [false; URLS.len()];
        let mut states = vec![now(&world)];
        for (at, step) in steps.iter().enumerate() {
            take(&mut world, &mut held, step);
            if cuts.contains(&at) {
                states.push(now(&world));
            }
        }
        states.push(now(&world));
        for (unit, key) in [(Unit::Paragraph, "id"), (Unit::Page, "page")] {
            let mut copy = Copy::new();
            for pair in states.windows(2) {
                let (delta, _) = lines(&world, Some(pair[0]), pair[1], unit);
                let mut ids: Vec<&str> = delta.iter().map(|line| line[key].as_str().unwrap()).collect();
                ids.sort_unstable();
                prop_assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "each once: {ids:?}");
                for line in delta.iter().filter(|line| line["op"] == "delete") {
                    prop_assert!(copy.contains_key(line[key].as_str().unwrap()), "{line} deletes what was held");
                }
                apply(&mut copy, &delta, key);
                let again = copy.clone();
                apply(&mut copy, &delta, key);
                prop_assert_eq!(&again, &copy);
                let mut whole = Copy::new();
                apply(&mut whole, &lines(&world, None, pair[1], unit).0, key);
                prop_assert_eq!(&copy, &whole);
            }
        }
        let mut copy = BTreeMap::new();
        for pair in states.windows(2) {
            files(&world, Some(pair[0]), pair[1], &mut copy);
            let mut whole = BTreeMap::new();
            files(&world, None, pair[1], &mut whole);
            prop_assert_eq!(&copy, &whole);
        }
    }

    /// A state of a time is the state that a cursor of that time names.
    #[test]
    fn a_time_names_the_same_state_as_the_cursor_of_then(steps in steps(), cut in 0usize..24) {
        let mut world = World::new();
        let mut held = [false; URLS.len()];
        let mut then = (now(&world), START);
        for (at, step) in steps.iter().enumerate() {
            take(&mut world, &mut held, step);
            if at <= cut {
                then = (now(&world), world.now);
            }
        }
        let (cursor, moment) = then;
        let at = Until { moment: Some(moment), ..now(&world) };
        prop_assert_eq!(lines(&world, None, cursor, Unit::Paragraph).0, lines(&world, None, at, Unit::Paragraph).0);
        let end = now(&world);
        prop_assert_eq!(lines(&world, Some(cursor), end, Unit::Paragraph).0, lines(&world, Some(at), end, Unit::Paragraph).0);
    }
}

#[test]
fn a_line_says_what_a_reader_needs() {
    let mut world = World::new();
    let url = "https://port.example/mooring.html";
    world.visit(url, &html("Mooring", &[TEXTS[3], TEXTS[5], TEXTS[8]]));
    let before = now(&world);
    let first = world.now;
    world.visit(url, &html("Mooring", &[TEXTS[7], TEXTS[4], TEXTS[5]]));
    let (delta, manifest) = lines(&world, Some(before), now(&world), Unit::Paragraph);
    let of = |op: &str| -> Vec<&Value> { delta.iter().filter(|line| line["op"] == op).collect() };
    let edited = of("upsert").into_iter().find(|line| line["text"] == TEXTS[4]).unwrap();
    assert_eq!((&edited["version"], &edited["born"]), (&Value::from(2), &Value::from(first.rfc3339())));
    assert_eq!(edited["edited"], world.now.rfc3339());
    let added = of("upsert").into_iter().find(|line| line["text"] == TEXTS[7]).unwrap();
    assert_eq!((&added["site"], &added["title"]), (&Value::from("port.example"), &Value::from("Mooring")));
    assert_eq!(added["rights"]["noindex"], false);
    // What only moved is no reason to read it again.
    let moved = of("patch").into_iter().next().unwrap();
    assert!(moved.get("text").is_none() && moved.get("position").is_some(), "{moved}");
    let removed = of("delete").into_iter().next().unwrap();
    assert_eq!((&removed["why"], &removed["seen_different"]), (&"removed".into(), &world.now.rfc3339().into()));
    assert_eq!(removed["seen_same"], first.rfc3339());
    assert_eq!((manifest.paragraphs, manifest.patched, manifest.removed), (2, of("patch").len() as u64, 1));
    assert_eq!(manifest.cursor, world.reader().cursor().to_string());
}

#[test]
fn noise_changes_words_and_no_digest() {
    let mut world = World::new();
    let url = "https://port.example/mooring.html";
    world.visit(url, &html("Mooring", &[TEXTS[0], TEXTS[10]]));
    let before = now(&world);
    world.visit(url, &html("Mooring", &[TEXTS[0], TEXTS[11]]));
    let (delta, _) = lines(&world, Some(before), now(&world), Unit::Paragraph);
    let [patch] = &delta[..] else { panic!("{delta:?}") };
    assert_eq!((&patch["op"], &patch["text"]), (&"patch".into(), &TEXTS[11].into()));
    assert!(patch.get("digest").is_none(), "{patch}");
}

#[test]
fn a_page_that_asks_not_to_be_indexed_is_left_out_and_its_old_lines_go() {
    let mut world = World::new();
    let url = "https://port.example/mooring.html";
    world.visit(url, &html("Mooring", &[TEXTS[0]]));
    let before = now(&world);
    world.visit(url, &html("Mooring", &[TEXTS[0]]).replace("</head>", "<meta name=robots content=noindex></head>"));
    let (delta, manifest) = lines(&world, Some(before), now(&world), Unit::Paragraph);
    assert!(delta.iter().all(|line| line["op"] == "delete" && line["why"] == "noindex"), "{delta:?}");
    assert_eq!((delta.len(), manifest.noindex), (2, 1));
    let mut asked = asked(&world, None, now(&world));
    asked.filter.with_noindex = true;
    let mut out = Vec::new();
    json_lines::write(&world.reader(), &asked, Unit::Paragraph, &mut |_| {}, &mut out).unwrap();
    assert!(String::from_utf8(out).unwrap().contains("\"noindex\":true"));
}

#[test]
fn a_cursor_of_another_repository_is_refused() {
    let mut world = World::new();
    world.visit(URLS[0], &html("Mooring", &[TEXTS[0]]));
    let ahead = Until { cursor: Cursor(u64::MAX), moment: None };
    let asked = asked(&world, Some(ahead), now(&world));
    let told = json_lines::write(&world.reader(), &asked, Unit::Paragraph, &mut |_| {}, &mut Vec::new()).unwrap_err();
    assert!(told.to_string().contains("take a full export"), "{told}");
}

#[test]
fn pages_are_chosen_by_site_prefix_and_place() {
    let mut world = World::new();
    for url in URLS {
        world.visit(url, &html("T", &[TEXTS[0]]));
    }
    let count = |filter: PageFilter| {
        let asked = Asked { filter, ..asked(&world, None, now(&world)) };
        json_lines::write(&world.reader(), &asked, Unit::Page, &mut |_| {}, &mut Vec::new()).unwrap().pages
    };
    assert_eq!(count(PageFilter::default()), 4);
    let site = vernal_model::Url::parse(URLS[2]).unwrap().site();
    assert_eq!(count(PageFilter { site: Some(site), ..PageFilter::default() }), 2);
    assert_eq!(count(PageFilter { prefix: Some("https://garden.example/r".into()), ..PageFilter::default() }), 1);
    assert_eq!(count(PageFilter { tag: Some("policy".into()), ..PageFilter::default() }), 0);
    // An export that was broken off goes on behind the last page that it had.
    let mut keys: Vec<_> = URLS.iter().map(|url| world.key(url)).collect();
    keys.sort();
    let mut rest = asked(&world, None, now(&world));
    rest.after = Some(keys[1]);
    let told = json_lines::write(&world.reader(), &rest, Unit::Page, &mut |_| {}, &mut Vec::new()).unwrap();
    assert_eq!(told.pages, 2);
}

#[test]
fn every_table_has_a_row_for_everything() {
    let mut world = World::new();
    world.visit(URLS[0], &html("T", &[TEXTS[0], TEXTS[5]]));
    world.visit(URLS[0], &html("T", &[TEXTS[0], TEXTS[6]]));
    world.visit(URLS[1], &html("T", &[TEXTS[7]]));
    world.now += Span::from_hours(1);
    let rows = |table: Table, from: Option<Until>| {
        let mut out = Vec::new();
        tables::write(&world.reader(), &asked(&world, from, now(&world)), table, &mut |_| {}, &mut out).unwrap();
        let file = parquet::file::reader::SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
        let metadata = parquet::file::reader::FileReader::metadata(&file).file_metadata();
        let ids: Vec<i32> = metadata.schema().get_fields().iter().map(|field| field.get_basic_info().id()).collect();
        assert_eq!(ids, (1..=ids.len() as i32).collect::<Vec<i32>>(), "the ids of fields are fixed");
        metadata.num_rows()
    };
    let counts = Table::ALL.map(|table| rows(table, None));
    assert_eq!(counts, [2, 3, 5, 3, 3]);
    assert_eq!(Table::ALL.map(|table| rows(table, Some(now(&world)))), [0, 0, 0, 0, 0]);
    assert!(Moment::EPOCH < START);
}
