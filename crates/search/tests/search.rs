//! What is found among current, removed and past text of a few pages.

mod world;

use vernal_model::{EventKind, Seed, Url};
use vernal_search::{Asked, Error, Sort, Within};
use world::{Given, World, html};

const A: &str = "http://a.example/garden";
const B: &str = "http://a.example/kitchen";
const C: &str = "http://b.example/";

fn three_pages() -> World {
    let mut world = World::new();
    world.visit(A, &html("The garden", &["Roses and connected tulips.", "The café opens at noon."]));
    world.visit(B, &html("The kitchen", &["Recipes with roses.", "日本語の料理"]));
    world.visit(C, &html("Elsewhere", &["Nothing of that, but connections to others."]));
    world
}

#[test]
fn words_prefixes_phrases_and_fields_find_their_pages() {
    let world = three_pages();
    let (_folder, index) = world.index();
    let found = |query: &str| {
        let mut urls = world.urls(&index, query);
        urls.sort();
        urls
    };
    assert_eq!(found("roses"), [A, B]);
    assert_eq!(found("rose"), [A, B], "a word stands for all with its stem");
    assert_eq!(found("connection"), [A, C]);
    assert_eq!(found("\"connected tulips\""), [A]);
    assert_eq!(found("\"tulips connected\""), [""; 0]);
    assert_eq!(found("\"tulips the\""), [""; 0], "a phrase lies within one paragraph");
    assert_eq!(found("tul*"), [A]);
    assert_eq!(found("Cafe"), [A]);
    assert_eq!(found("料理"), [B]);
    assert_eq!(found("本語"), [B]);
    assert_eq!(found("title:garden"), [A]);
    assert_eq!(found("url:kitchen"), [B]);
    assert_eq!(found("site:b.example"), [C]);
    assert_eq!(found("roses -tulips"), [B]);
    assert_eq!(found("roses -\"connected tulips\""), [B]);
    assert_eq!(found("roses -\"the others\""), [A, B]);
    assert_eq!(found("tulips OR others"), [A, C]);
    assert_eq!(found("(tulips OR recipes) roses"), [A, B]);
    assert_eq!(found("lang:en roses"), [A, B]);
    assert_eq!(found("kind:new roses"), [A, B]);
    assert_eq!(found("roses before:2020-01-01"), [""; 0]);
    assert_eq!(found("nowhere"), [""; 0]);
}

#[test]
fn a_tag_chooses_the_pages_that_its_seeds_cover() {
    let world = three_pages();
    let (_folder, index) = world.index();
    let seed = Seed { tags: vec!["plants".into()], ..Seed::new(Url::parse(A).unwrap(), world::START) };
    let found = |query: &str| {
        let answer = world.search(&index, &Asked { seeds: vec![seed.clone()], ..world.asked(query) });
        let mut urls: Vec<String> = answer.hits.into_iter().map(|hit| hit.url).collect();
        urls.sort();
        urls
    };
    assert_eq!(found("roses tag:plants"), [A, B]);
    assert_eq!(found("connections -tag:plants"), [C]);
    assert_eq!(found("connections (tag:plants OR site:b.example)"), [A, C]);
    assert_eq!(found("roses tag:animals"), [""; 0]);
    assert_eq!(world.urls(&index, "roses tag:plants"), [""; 0], "tags are those of the seeds there are now");
}

#[test]
fn a_hit_shows_its_paragraph_with_marks_and_the_answer_counts() {
    let world = three_pages();
    let (_folder, index) = world.index();
    let answer = world.search(&index, &world.asked("roses"));
    assert_eq!((answer.total, answer.exact, answer.has_more), (2, true, false));
    let hit = answer.hits.iter().find(|hit| hit.url == A).unwrap();
    assert_eq!(hit.text, "Roses and connected tulips.");
    assert_eq!(hit.marks, [(0, 5)]);
    assert_eq!((hit.title.as_str(), hit.role, hit.version), ("The garden", Some("main"), 1));
    assert!(hit.paragraph.as_ref().is_some_and(|id| id.starts_with('p')));
    assert_eq!(answer.facets.by_site.len(), 1);
    assert_eq!((answer.facets.by_site[0].value.as_str(), answer.facets.by_site[0].count), ("a.example", 2));
    assert_eq!(answer.facets.by_kind[0].value, "new");
    let first = world.search(&index, &Asked { limit: 1, ..world.asked("roses") });
    assert!(first.has_more);
    let second = world.search(&index, &Asked { limit: 1, skip: 1, ..world.asked("roses") });
    assert_ne!(first.hits[0].url, second.hits[0].url);
    let newest = world.search(&index, &Asked { sort: Sort::Newest, ..world.asked("roses") });
    assert_eq!(newest.hits[0].url, B);
}

#[test]
fn a_removed_sentence_names_its_versions_and_its_bracket() {
    let mut world = three_pages();
    let seen = world.now;
    world.visit(A, &html("The garden", &["Roses and connected tulips.", "A new paragraph of other words altogether."]));
    world.visit(A, &html("The garden", &["Roses and pale tulips.", "A new paragraph of other words altogether."]));
    let (_folder, index) = world.index();
    let answer = world.removed(&index, "café noon");
    assert_eq!(answer.total, 1);
    let (hit, gone) = (&answer.hits[0], answer.hits[0].gone.as_ref().unwrap());
    assert_eq!((hit.version, gone.previous, gone.version), (1, 1, Some(2)));
    assert_eq!(gone.command, format!("vernal diff '{A}' --from 1 --to 2"));
    assert!(gone.seen_same.as_ref().unwrap() < gone.seen_different.as_ref().unwrap());
    assert!(gone.seen_different.as_ref().unwrap() > &seen.rfc3339());
    let edited = world.removed(&index, "connected");
    let gone = edited.hits[0].gone.as_ref().unwrap();
    assert_eq!((edited.total, gone.op, gone.previous, gone.version), (1, "edited", 2, Some(3)));
    assert_eq!(edited.hits[0].text, "Roses and connected tulips.");
    // The edited paragraph still has its roses: they were not removed.
    assert_eq!(world.removed(&index, "roses").total, 0);
    assert!(world.urls(&index, "café").is_empty());
    let past = world.search(&index, &Asked { within: Within::Past, ..world.asked("tulips") });
    assert_eq!(past.total, 2, "the page and the paragraph as it was");
}

#[test]
fn text_is_asked_as_it_was_held_at_a_time() {
    let mut world = three_pages();
    let then = world.now;
    world.visit(A, &html("The garden", &["Roses only.", "The shop opens at nine."]));
    world.end(B, EventKind::Gone);
    let (_folder, index) = world.index();
    let at = |query: &str, moment| {
        let answer = world.search(&index, &Asked { within: Within::At(moment), ..world.asked(query) });
        assert!(answer.exact);
        let mut urls: Vec<(String, u32)> = answer.hits.into_iter().map(|hit| (hit.url, hit.version)).collect();
        urls.sort();
        urls
    };
    assert_eq!(at("café tulips", then), [(A.to_owned(), 1)], "words of two paragraphs that went");
    assert_eq!(at("roses", then), [(A.to_owned(), 1), (B.to_owned(), 1)]);
    assert_eq!(at("roses", world.now), [(A.to_owned(), 2)]);
    assert_eq!(at("shop", then), []);
    assert_eq!(at("roses -tulips", then), [(B.to_owned(), 1)]);
    assert_eq!(at("roses", world::START), []);
}

#[test]
fn a_page_that_is_gone_is_removed_text_until_it_is_back() {
    let mut world = three_pages();
    world.end(A, EventKind::Gone);
    let (_folder, index) = world.index();
    assert_eq!(world.urls(&index, "tulips"), [""; 0]);
    let gone = world.removed(&index, "tulips").hits[0].gone.clone().unwrap();
    assert_eq!((gone.op, gone.version, gone.previous), ("gone", None, 1));
    world.visit(A, &html("The garden", &["Roses and connected tulips."]));
    world.follow(&index);
    assert_eq!(world.urls(&index, "tulips"), [A]);
}

#[test]
fn pages_that_ask_not_to_be_found_are_not_and_neither_are_erased_ones() {
    let mut world = three_pages();
    let noindex =
        |text: &str| format!("<html><head><meta name=robots content=noindex></head><body><p>{text}</p></body></html>");
    world.visit("http://c.example/secret", &noindex("hidden roses"));
    let by_header = html("Header", &["other hidden roses"]);
    let given = Given { html: by_header.as_bytes(), head: "X-Robots-Tag: noindex\r\n" };
    world.visit_given("http://c.example/header", &given);
    let (_folder, index) = world.index();
    assert_eq!(world.urls(&index, "hidden"), [""; 0]);
    // What it had before it asked is forgotten, removed text too; what it has once it no longer asks is found.
    world.visit(A, &html("The garden", &["Roses and pale tulips."]));
    world.follow(&index);
    assert_eq!(world.removed(&index, "café").total, 1);
    world.visit(A, &noindex("roses and pale tulips"));
    world.follow(&index);
    assert_eq!(world.removed(&index, "café").total, 0);
    assert_eq!(world.urls(&index, "pale"), [""; 0]);
    world.visit(A, &html("The garden", &["Open again."]));
    world.follow(&index);
    assert_eq!(world.urls(&index, "open"), [A]);
    assert_eq!(world.removed(&index, "pale").total, 0, "words of a version that asked not to be found");
    world.erase(B);
    world.follow(&index);
    assert_eq!(world.urls(&index, "recipes"), [""; 0]);
}

#[test]
fn a_sitemap_is_no_page_that_anybody_looks_for() {
    let mut world = three_pages();
    let sitemap = format!(
        "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{A}</loc></url></urlset>"
    );
    let given = Given { html: sitemap.as_bytes(), head: "Content-Type: application/xml\r\n" };
    world.visit_given("http://a.example/sitemap.xml", &given);
    let (_folder, index) = world.index();
    assert_eq!(world.urls(&index, "url:sitemap"), [""; 0]);
    assert_eq!(world.urls(&index, "tulips"), [A]);
}

#[test]
fn hostile_text_is_indexed_within_limits() {
    let mut world = World::new();
    let text = format!("alpha \u{0} beta \u{202e}gamma\u{202c} {} delta\u{7}", "x".repeat(1 << 20));
    world.visit(A, &html("\u{202e}evil\u{0}", &[&text, &"ä".repeat(100_000)]));
    let (_folder, index) = world.index();
    for query in ["alpha", "gamma", "delta", &"x".repeat(80)] {
        let answer = world.search(&index, &world.asked(query));
        assert_eq!(answer.total, 1, "{query}");
        assert!(answer.hits[0].text.chars().count() <= 400);
    }
}

#[test]
fn a_wrong_query_is_refused_at_its_place() {
    let world = three_pages();
    let (_folder, index) = world.index();
    let refused = index.search(&world.reader(), &world.asked("roses (tulips")).unwrap_err();
    match refused {
        Error::Query(fault) => assert_eq!(fault.column, 7),
        other => panic!("{other}"),
    }
    assert!(index.search(&world.reader(), &Asked { skip: 1_000_000, ..world.asked("roses") }).is_err());
}
