//! A page is found by what links of other pages say of it, for as long as they say so.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod world;

use std::collections::BTreeSet;

use vernal_model::EventKind;
use vernal_search::{Asked, Error, Follower, SearchIndex, Within};
use world::{Given, World, html};

const PAGE: &str = "http://a.example/17";
const HOME: &str = "http://a.example/";
const OTHER: &str = "http://b.example/";

/// A page that never says its own name.
fn unnamed() -> World {
    let mut world = World::new();
    world.visit(PAGE, &html("Untitled", &["It was made in Lyon, of pale wood and gut."]));
    world
}

fn link(to: &str, words: &str) -> String {
    format!("<a href=\"{to}\">{words}</a>")
}

fn page_with(links: &[String]) -> String {
    let parts: Vec<&str> = links.iter().map(String::as_str).collect();
    html("A list", &parts)
}

/// Follows to the end, as a crawl does: with one follower that stays open.
fn follow(follower: &mut Follower) {
    follower.catch_up(|_| true).unwrap();
}

/// The pages that links name so.
fn named(world: &World, index: &SearchIndex, query: &str) -> Vec<String> {
    world.urls(index, &format!("anchor:{query}"))
}

#[test]
fn a_page_that_never_says_its_name_is_found_by_the_links_to_it() {
    let mut world = unnamed();
    world.visit(HOME, &page_with(&[link(PAGE, "The viola da gamba"), link(OTHER, "Elsewhere")]));
    let (_folder, index) = world.index();
    assert_eq!(named(&world, &index, "gamba"), [PAGE]);
    assert_eq!(named(&world, &index, "\"viola da gamba\""), [PAGE]);
    assert_eq!(named(&world, &index, "viol*"), [PAGE]);
    assert_eq!(world.urls(&index, "viola lyon"), [PAGE], "its own words and those of links fit together");
    assert_eq!(world.urls(&index, "lyon -anchor:viola"), [""; 0]);
    assert_eq!(named(&world, &index, "lyon"), [""; 0], "its own words are none of a link");
    let mut urls = world.urls(&index, "gamba");
    urls.sort();
    assert_eq!(urls, [HOME, PAGE], "the page that says so has the words itself");
    let answer = world.search(&index, &world.asked("anchor:viola"));
    assert_eq!((answer.total, answer.hits[0].anchors.as_slice()), (1, ["The viola da gamba".to_owned()].as_slice()));
    let of_text = Asked { role: Some(vernal_search::ask::answer::RoleAsked::Main), ..world.asked("viola") };
    assert_eq!(world.search(&index, &of_text).hits.len(), 1, "with a part of pages, what others say does not count");
}

#[test]
fn what_links_say_is_followed_when_it_comes_changes_and_goes() {
    let mut world = unnamed();
    let folder = tempfile::tempdir().unwrap();
    let index = SearchIndex::open(folder.path(), &world.reader()).unwrap().index;
    let mut follower = Follower::of(&index, world.reader()).unwrap();
    follow(&mut follower);
    assert_eq!(named(&world, &index, "viola"), [""; 0]);
    world.visit(HOME, &page_with(&[link(PAGE, "The viola")]));
    follow(&mut follower);
    assert_eq!(named(&world, &index, "viola"), [PAGE]);
    world.visit(HOME, &page_with(&[link(PAGE, "The cello")]));
    follow(&mut follower);
    assert_eq!((named(&world, &index, "viola"), named(&world, &index, "cello")), (vec![], vec![PAGE.to_owned()]));
    // Two say the same: it stays until neither does.
    world.visit(OTHER, &page_with(&[link(PAGE, "The cello")]));
    world.visit(HOME, &page_with(&["Nothing any more".into()]));
    follow(&mut follower);
    assert_eq!(named(&world, &index, "cello"), [PAGE]);
    world.end(OTHER, EventKind::Gone);
    follow(&mut follower);
    assert_eq!(named(&world, &index, "cello"), [""; 0]);
    world.visit(OTHER, &page_with(&[link(PAGE, "The cello")]));
    follow(&mut follower);
    assert_eq!(named(&world, &index, "cello"), [PAGE], "the page that says so came back");
    world.erase(OTHER);
    follow(&mut follower);
    assert_eq!(named(&world, &index, "cello"), [""; 0], "of an erased page nothing is left");
    assert_eq!(world.urls(&index, "lyon"), [PAGE]);
}

#[test]
fn what_a_page_asks_to_be_ignored_is_ignored() {
    let nofollow = format!("<a rel=nofollow href={PAGE}>first</a> <a rel=ugc href={PAGE}>second</a>");
    let sponsored = format!("<a rel='sponsored' href={PAGE}>third</a>");
    let mut world = unnamed();
    world.visit(HOME, &page_with(&[nofollow, sponsored, link(PAGE, "heard")]));
    world.visit(OTHER, &format!("<meta name=robots content=nofollow>{}", page_with(&[link(PAGE, "fourth")])));
    let hidden = page_with(&[link(PAGE, "fifth")]);
    world.visit("http://b.example/2", &format!("<meta name=robots content=noindex>{hidden}"));
    let head = "X-Robots-Tag: noindex\r\n";
    world.visit_given("http://b.example/3", &Given { html: hidden.as_bytes(), head });
    // And what asks not to be found is not found by the words of others either.
    world.visit("http://b.example/4", "<meta name=robots content=noindex><p>secret");
    world.visit("http://b.example/5", &page_with(&[link("http://b.example/4", "sixth"), link("/5", "seventh")]));
    let (_folder, index) = world.index();
    assert_eq!(named(&world, &index, "heard"), [PAGE]);
    for word in ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"] {
        assert_eq!(named(&world, &index, word), [""; 0], "{word}");
    }
}

#[test]
fn others_cannot_drive_out_what_a_site_says_of_its_own_page_nor_fill_the_index() {
    let mut world = unnamed();
    world.visit(HOME, &page_with(&[link(PAGE, "The viola")]));
    for page in 0..40 {
        let links: Vec<String> = (0..200).map(|at| link(PAGE, &format!("cheap pills {page} {at}"))).collect();
        world.visit(&format!("http://spam.example/{page}"), &page_with(&links));
    }
    let long = "word ".repeat(500);
    for site in 0..3 {
        world.visit(
            &format!("http://s{site}.example/"),
            &page_with(&[link(PAGE, "A rare instrument"), link(PAGE, &long)]),
        );
    }
    let (_folder, index) = world.index();
    assert_eq!(named(&world, &index, "viola"), [PAGE]);
    assert_eq!(named(&world, &index, "instrument"), [PAGE], "what three sites say counts more than what one repeats");
    let answer = world.search(&index, &world.asked("anchor:pills OR anchor:viola OR anchor:instrument OR anchor:word"));
    let anchors = &answer.hits[0].anchors;
    assert!(anchors.len() <= 16 && anchors.iter().all(|text| text.len() <= 100), "{anchors:?}");
    assert!(anchors.contains(&"The viola".to_owned()) && anchors.contains(&"A rare instrument".to_owned()));
}

#[test]
fn words_of_links_are_asked_of_current_text_alone() {
    let mut world = unnamed();
    world.visit(HOME, &page_with(&[link(PAGE, "The viola")]));
    let (_folder, index) = world.index();
    for within in [Within::Removed, Within::At(world.now)] {
        let asked = Asked { within, ..world.asked("lyon anchor:viola") };
        let Err(Error::Query(fault)) = index.search(&world.reader(), &asked) else { panic!("{within:?}") };
        assert_eq!(fault.column, 13);
    }
    let past = Asked { within: Within::Past, ..world.asked("anchor:viola") };
    assert_eq!(world.search(&index, &past).total, 1);
}

#[test]
fn a_topic_chooses_pages_and_hits_are_counted_by_topic() {
    let mut world = World::new();
    let urls: Vec<String> = (0..4).map(|number| format!("http://a.example/{number}")).collect();
    for url in &urls {
        world.visit(url, &html("A page", &["Some roses"]));
    }
    let (a, b, c) = (urls[0].as_str(), urls[1].as_str(), urls[2].as_str());
    let (_folder, index) = world.index();
    assert_eq!(world.urls(&index, "roses topic:garden"), [""; 0], "there are no topics yet");
    assert!(world.search(&index, &world.asked("roses")).facets.by_topic.is_empty());
    world.topics(&[("garden", &[a, b]), ("kitchen", &[b, c])]);
    let found = |query: &str| world.urls(&index, query).into_iter().collect::<BTreeSet<String>>();
    let set = |urls: &[&str]| urls.iter().map(|url| (*url).to_owned()).collect::<BTreeSet<String>>();
    assert_eq!(found("roses topic:garden"), set(&[a, b]));
    assert_eq!(found("topic:Garden topic:kitchen"), set(&[b]));
    assert_eq!(found("roses -topic:garden -topic:kitchen"), set(&[&urls[3]]));
    assert_eq!(found("topic:nothing"), set(&[]));
    let asked = Asked { topic: Some("kitchen".into()), ..world.asked("roses") };
    assert_eq!(world.search(&index, &asked).total, 2);
    let at = Asked { within: Within::At(world.now), ..world.asked("roses topic:garden") };
    assert_eq!(world.search(&index, &at).total, 2);
    let facets = world.search(&index, &world.asked("roses")).facets;
    let counted: Vec<(&str, u64)> = facets.by_topic.iter().map(|one| (one.value.as_str(), one.count)).collect();
    assert_eq!(counted, [("garden", 2), ("kitchen", 2)]);
}
