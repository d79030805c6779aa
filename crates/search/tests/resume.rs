//! The index is that of the events up to its place, however it came there.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod world;

use std::path::Path;

use proptest::prelude::*;
use vernal_model::{Chance, EventKind};
use vernal_repository::Cursor;
use vernal_search::{Asked, Follower, SearchIndex, Within};
use world::{World, html};

const WORDS: [&str; 12] =
    ["amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "islet", "jetty", "knoll", "lagoon"];

/// What links say.
const SAID: [&str; 4] = ["umber", "violet", "Walnut bark", "xenon"];

/// Pages that are edited, go, and come back, by chance.
fn random_world(number: u64, steps: usize) -> World {
    let mut world = World::new();
    let mut chance = Chance::new(number);
    let mut gone: Vec<String> = Vec::new();
    let mut texts: std::collections::BTreeMap<String, Vec<String>> = std::collections::BTreeMap::new();
    for _ in 0..steps {
        let url = format!("http://s{}.example/{}", chance.below(3), chance.below(4));
        let known = texts.contains_key(&url);
        if known && !gone.contains(&url) && chance.happens(0.1) {
            world.end(&url, if chance.happens(0.5) { EventKind::Gone } else { EventKind::Moved });
            gone.push(url);
            continue;
        }
        gone.retain(|other| *other != url);
        let paragraphs = texts.entry(url.clone()).or_default();
        for _ in 0..1 + chance.below(3) {
            edit(paragraphs, &mut chance);
        }
        // Some pages speak of others, and some ask that this be ignored.
        let links: Vec<String> = (0..chance.below(3))
            .map(|_| {
                let said = chance.pick(&SAID).copied().unwrap_or_default();
                let rel = if chance.happens(0.2) { " rel=nofollow" } else { "" };
                let (site, page) = (chance.below(3), chance.below(4));
                format!("<a{rel} href=http://s{site}.example/{page}>{said}</a>")
            })
            .collect();
        let hides = if chance.happens(0.08) { "<meta name=robots content=noindex>" } else { "" };
        let parts: Vec<&str> = paragraphs.iter().chain(&links).map(String::as_str).collect();
        world.visit(&url, &format!("{hides}{}", html("A page of words", &parts)));
    }
    world
}

fn edit(paragraphs: &mut Vec<String>, chance: &mut Chance) {
    let sentence = |chance: &mut Chance| -> String {
        let words: Vec<&str> = (0..6).filter_map(|_| chance.pick(&WORDS).copied()).collect();
        words.join(" ")
    };
    let place = chance.below(paragraphs.len() as u64 + 1) as usize;
    match chance.below(3) {
        0 if place < paragraphs.len() && paragraphs.len() > 1 => drop(paragraphs.remove(place)),
        1 if place < paragraphs.len() => {
            let more = chance.pick(&WORDS).copied().unwrap_or_default();
            paragraphs[place] = format!("{} {more}", paragraphs[place]);
        }
        _ => paragraphs.insert(place, sentence(chance)),
    }
}

/// Everything that an index answers, without what depends on how it lies on disk.
fn answers(world: &World, index: &SearchIndex) -> Vec<String> {
    let mut all = Vec::new();
    for word in SAID.map(|word| word.split(' ').next().unwrap_or_default()) {
        for query in [word.to_owned(), format!("anchor:{word}"), format!("-anchor:{word}")] {
            let answer = world.search(index, &Asked { limit: 200, ..world.asked(&query) });
            let mut hits: Vec<String> =
                answer.hits.iter().map(|hit| format!("{} {} {:?}", hit.url, hit.version, hit.anchors)).collect();
            hits.sort();
            all.push(format!("{query} {} {:?} {hits:?}", answer.total, answer.facets));
        }
    }
    for word in WORDS {
        for within in [Within::Now, Within::Removed, Within::Past] {
            let answer = world.search(index, &Asked { within, limit: 200, ..world.asked(word) });
            let mut hits: Vec<String> = answer
                .hits
                .iter()
                .map(|hit| format!("{} {} {:?} {} {:?}", hit.url, hit.version, hit.paragraph, hit.text, hit.gone))
                .collect();
            hits.sort();
            all.push(format!("{word} {within:?} {} {:?} {hits:?}", answer.total, answer.facets));
        }
    }
    all
}

fn opened(folder: &Path, world: &World) -> SearchIndex {
    let opened = SearchIndex::open(folder, &world.reader()).unwrap();
    assert_eq!(opened.anew, None);
    opened.index
}

#[test]
fn an_index_that_followed_in_any_batches_answers_like_one_made_at_once() {
    for number in 0..4 {
        let world = random_world(number, 60);
        let (_whole, whole) = world.index();
        let expected = answers(&world, &whole);
        assert!(expected.iter().any(|line| line.contains("Removed") && line.contains("RemovedText")), "{expected:#?}");
        let folder = tempfile::tempdir().unwrap();
        let index = opened(folder.path(), &world);
        let mut chance = Chance::new(number + 100);
        let mut follower = Follower::of(&index, world.reader()).unwrap();
        while follower.take(1 + chance.below(9) as usize).unwrap() {
            if chance.happens(0.4) {
                follower.commit().unwrap();
            }
            if chance.happens(0.3) {
                follower.refresh_anchors().unwrap();
            }
        }
        follower.catch_up(|_| true).unwrap();
        follower.close().unwrap();
        assert_eq!(answers(&world, &index), expected, "number {number}");
    }
}

#[test]
fn after_a_crash_at_any_instant_the_index_goes_on_from_its_last_commit() {
    let world = random_world(7, 50);
    let (_whole, whole) = world.index();
    let expected = answers(&world, &whole);
    let folder = tempfile::tempdir().unwrap();
    let mut chance = Chance::new(9);
    let mut crashes = 0;
    loop {
        let index = opened(folder.path(), &world);
        let mut follower = Follower::of(&index, world.reader()).unwrap();
        let mut is_more = true;
        for _ in 0..1 + chance.below(3) {
            is_more = follower.take(2).unwrap();
            if chance.happens(0.5) {
                follower.commit().unwrap();
            }
            if chance.happens(0.3) {
                follower.refresh_anchors().unwrap();
            }
        }
        if !is_more {
            follower.catch_up(|_| true).unwrap();
            follower.close().unwrap();
            break;
        }
        // Nothing is flushed: the process is gone.
        drop(follower);
        crashes += 1;
        assert!(crashes < 500, "it must come to an end");
    }
    assert!(crashes > 5);
    assert_eq!(answers(&world, &opened(folder.path(), &world)), expected);
}

#[test]
fn an_index_of_another_journal_or_with_damage_is_made_anew() {
    let (world, other) = (random_world(1, 40), random_world(2, 12));
    let folder = tempfile::tempdir().unwrap();
    let index = opened(folder.path(), &world);
    world.follow(&index);
    assert!(index.place().cursor > Cursor::START);
    drop(index);
    let anew = SearchIndex::open(folder.path(), &other.reader()).unwrap();
    assert!(anew.anew.is_some());
    other.follow(&anew.index);
    let expected = answers(&other, &other.index().1);
    assert_eq!(answers(&other, &anew.index), expected);
    drop(anew);
    // Whatever file is damaged, and wherever.
    let files: Vec<_> =
        std::fs::read_dir(folder.path().join("search")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut damaged = 0;
    for path in files {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        if bytes.len() < 40 || path.extension().is_some_and(|extension| extension == "lock") {
            continue;
        }
        let mut wrong = bytes.clone();
        wrong[bytes.len() / 3] ^= 0x55;
        std::fs::write(&path, &wrong).unwrap();
        let opened = SearchIndex::open(folder.path(), &other.reader()).unwrap();
        damaged += usize::from(opened.anew.is_some());
        other.follow(&opened.index);
        assert_eq!(answers(&other, &opened.index), expected, "{}", path.display());
    }
    assert!(damaged >= 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn any_query_is_answered_or_refused(query in "((amb|birch|anchor:violet|topic:x|-anchor:\"walnut bark\"|\"amber birch\"|site:s1.example|tit:|title:|OR|AND|-|NOT|[()*\"]|日本|before:7d)[ ]?){0,8}") {
        thread_local! {
            static WORLD: (World, tempfile::TempDir, SearchIndex) = {
                let world = random_world(3, 20);
                let (folder, index) = world.index();
                (world, folder, index)
            };
        }
        WORLD.with(|(world, _, index)| {
            for within in [Within::Now, Within::Removed, Within::Past] {
                let _ = index.search(&world.reader(), &Asked { within, ..world.asked(&query) });
            }
            let _ = index.search(&world.reader(), &Asked { within: Within::At(world.now), ..world.asked(&query) });
        });
    }
}
