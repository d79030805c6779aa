//! Laws of the names of pages, on pages that are read.

use vernal_model::{Event, EventKind, Outcome, PageState, Span, Wall};

use super::relation::UNEQUAL_VISITS_MAX;
use crate::testing::{Bench, html, unhindered, url};
use crate::{Act, Acted, NamesWord};

const ROSES: &str =
    "The roses by the gate were planted in March. They need water in the evening, and nobody else may cut them.";
const TULIPS: &str =
    "The tulips behind the house came up late this year. They need no water at all, and everybody may cut them.";
const BEANS: &str =
    "The beans along the wall were sown in May. They need water twice a day, and only the children may pick them.";

/// A page with these words, and with a canonical link if there is a target.
fn page(words: &str, canonical: &str) -> String {
    let link = if canonical.is_empty() { String::new() } else { format!("<link rel=canonical href=\"{canonical}\">") };
    html(words, &[]).replace("<title>", &format!("{link}<title>"))
}

fn bench(urls: &[&str]) -> Bench {
    let seeds =
        ["http://a.example/seed", "http://b.a.example/seed", "http://a.example:81/seed", "http://b.example/seed"];
    let mut bench = Bench::seeded(unhindered(), &seeds);
    bench.admit(urls);
    bench
}

/// The first name of a page, and why; empty where it stands on its own.
fn name(bench: &Bench, text: &str) -> String {
    let work = &bench.crawler.core.work;
    let key = bench.page(text).unwrap().key;
    work.name_row(key)
        .unwrap()
        .same_as
        .map_or(String::new(), |same| format!("{} {}", same.why.name(), work.page(same.first).unwrap().unwrap().url))
}

fn read(bench: &mut Bench, text: &str, body: &str) {
    bench.now += Span::from_hours(1);
    bench.read(text, body);
}

fn events(bench: &mut Bench, text: &str) -> Vec<Event> {
    bench.commit();
    let key = bench.page(text).unwrap().key;
    bench.crawler.reader().page_events(key).unwrap().into_iter().map(|(_, _, event)| event).collect()
}

fn kinds(bench: &mut Bench, text: &str) -> Vec<&'static str> {
    events(bench, text).iter().map(|event| event.kind.name()).collect()
}

/// Pages with their words and canonical links, and the name that a person would give the last of them.
type Case<'a> = (&'a [(&'a str, &'a str, &'a str)], &'a str);

/// Each is judged in every order of the first visits, with and without a commit in between, and after a restart.
fn judge(cases: &[Case<'_>]) {
    for (pages, verdict) in cases {
        let urls: Vec<&str> = pages.iter().map(|(url, ..)| *url).collect();
        for turn in 0..2 * pages.len() {
            let mut order: Vec<usize> = (0..pages.len()).collect();
            order.rotate_left(turn % pages.len());
            if turn >= pages.len() {
                order.reverse();
            }
            let mut bench = bench(&urls);
            for place in order {
                let (url, words, canonical) = pages[place];
                read(&mut bench, url, &page(words, canonical));
                if turn % 2 == 0 {
                    bench.commit();
                }
            }
            let last = urls[urls.len() - 1];
            assert_eq!(name(&bench, last), *verdict, "{pages:?} in order {turn}");
            assert_eq!(name(&bench.reopened(), last), *verdict, "{pages:?} opened again");
        }
    }
}

#[test]
fn spellings_with_one_content_are_names_of_the_plainest() {
    judge(&[
        (&[("http://a.example/", ROSES, ""), ("http://a.example/index.html", ROSES, "")], "spelling http://a.example/"),
        (
            &[("http://a.example/", ROSES, ""), ("http://a.example/Default.aspx", ROSES, "")],
            "spelling http://a.example/",
        ),
        (&[("http://a.example/x", ROSES, ""), ("http://a.example/x/", ROSES, "")], "spelling http://a.example/x"),
        (&[("http://a.example/x", ROSES, ""), ("http://a.example/x.html", ROSES, "")], "spelling http://a.example/x"),
        (&[("https://a.example/x", ROSES, ""), ("http://a.example/x", ROSES, "")], "spelling https://a.example/x"),
        (&[("http://a.example/", ROSES, ""), ("http://www.a.example/", ROSES, "")], "spelling http://a.example/"),
        (
            &[("http://a.example/?a=1&b=2", ROSES, ""), ("http://a.example/index.php?b=2&a=1", ROSES, "")],
            "spelling http://a.example/?a=1&b=2",
        ),
        (
            &[
                ("http://a.example/", ROSES, ""),
                ("http://a.example/index.htm", ROSES, ""),
                ("http://a.example/index.html", ROSES, ""),
            ],
            "spelling http://a.example/",
        ),
    ]);
}

#[test]
fn a_canonical_link_with_equal_content_gives_the_first_name() {
    let index = "http://a.example/index.html";
    judge(&[
        (&[(index, ROSES, ""), ("http://a.example/", ROSES, index)], "canonical http://a.example/index.html"),
        (&[(index, ROSES, index), ("http://a.example/?ref=7", ROSES, index)], "canonical http://a.example/index.html"),
        // A short page too: this is the word of the site.
        (&[(index, "Roses.", ""), ("http://a.example/r", "Roses.", index)], "canonical http://a.example/index.html"),
        // By way of another name.
        (
            &[(index, ROSES, ""), ("http://a.example/r", ROSES, index), ("http://a.example/", ROSES, "")],
            "spelling http://a.example/index.html",
        ),
        // Each names the other: the plainest.
        (&[("http://a.example/", ROSES, index), (index, ROSES, "http://a.example/")], "canonical http://a.example/"),
    ]);
}

#[test]
fn two_pages_stay_two_whatever_they_say() {
    let (front, index) = ("http://a.example/", "http://a.example/index.html");
    judge(&[
        // A canonical link that lies.
        (&[(front, ROSES, ""), ("http://a.example/x", TULIPS, front)], ""),
        (&[(front, ROSES, ""), (index, TULIPS, front)], ""),
        // One content at two addresses that are no spellings: a page of errors, a login, an empty shell of scripts.
        (&[("http://a.example/x", ROSES, ""), ("http://a.example/y", ROSES, "")], ""),
        // Errors that call themselves the front page.
        (&[(front, ROSES, ""), ("http://a.example/x", TULIPS, front), ("http://a.example/y", TULIPS, front)], ""),
        // Tiny and empty pages.
        (&[(front, "It works!", ""), (index, "It works!", "")], ""),
        (&[(front, "", ""), (index, "", front)], ""),
        // Another query is another question.
        (&[("http://a.example/x", ROSES, ""), ("http://a.example/x?page=2", ROSES, "")], ""),
        (&[("http://a.example/x?a=1", ROSES, ""), ("http://a.example/x?a=2", ROSES, "")], ""),
        // Other hosts, whatever the link says.
        (&[("http://a.example/", ROSES, ""), ("http://b.a.example/", ROSES, "http://a.example/")], ""),
        (&[("http://a.example/", ROSES, ""), ("http://a.example:81/", ROSES, "http://a.example/")], ""),
    ]);
}

const FIRST: &str = "http://a.example/";
const SECOND: &str = "http://a.example/index.html";
const JOINED: &str = "spelling http://a.example/";

fn joined() -> Bench {
    let mut bench = bench(&[FIRST, SECOND]);
    read(&mut bench, FIRST, &page(ROSES, ""));
    read(&mut bench, SECOND, &page(ROSES, ""));
    assert_eq!(name(&bench, SECOND), JOINED);
    bench
}

#[test]
fn a_page_that_changed_stays_one_page_while_its_other_name_was_not_visited() {
    for order in [[FIRST, SECOND], [SECOND, FIRST]] {
        let mut bench = joined();
        for words in [TULIPS, BEANS, ROSES] {
            for url in order {
                read(&mut bench, url, &page(words, ""));
                assert_eq!(name(&bench, SECOND), JOINED, "{words} at {url}");
            }
        }
        assert!(!kinds(&mut bench, SECOND).contains(&"parted"));
    }
}

#[test]
fn pages_part_once_both_contents_were_seen_at_one_time() {
    for (changed, other) in [(FIRST, SECOND), (SECOND, FIRST)] {
        let mut bench = joined();
        read(&mut bench, changed, &page(TULIPS, ""));
        assert_eq!(name(&bench, SECOND), JOINED);
        read(&mut bench, other, &page(ROSES, ""));
        assert_eq!(name(&bench, SECOND), "", "{changed} changed");
        assert_eq!(kinds(&mut bench, SECOND).last(), Some(&"parted"));
        let parted = events(&mut bench, SECOND).pop().unwrap();
        assert_eq!(parted.version, bench.page(SECOND).unwrap().version.map(|version| version.number));
        // And they are one again when they are equal again.
        read(&mut bench, other, &page(TULIPS, ""));
        assert_eq!(name(&bench, SECOND), JOINED);
        let joined = events(&mut bench, SECOND).pop().unwrap();
        assert_eq!((joined.kind, &*joined.detail, joined.version), (EventKind::Joined, FIRST, None));
        assert!(!joined.change.paragraphs.is_empty(), "its paragraphs are to be dropped");
    }
}

#[test]
fn pages_that_never_agree_part_though_nothing_proves_it() {
    let mut bench = joined();
    for visit in 0..UNEQUAL_VISITS_MAX {
        assert_eq!(name(&bench, SECOND), JOINED, "visit {visit}");
        let url = if visit % 2 == 0 { FIRST } else { SECOND };
        read(&mut bench, url, &page(&format!("{ROSES} {TULIPS} Number{visit} of many."), ""));
    }
    read(&mut bench, FIRST, &page(BEANS, ""));
    assert_eq!(name(&bench, SECOND), "");
}

#[test]
fn a_name_whose_first_page_is_gone_or_moved_stands_on_its_own() {
    for ending in [Outcome::Gone { status: 410 }, Outcome::Moved { status: 301, to: None, permanent: true }] {
        let mut bench = joined();
        for _ in 0..4 {
            bench.now += Span::from_days(1);
            bench.meet(FIRST, ending.clone());
        }
        assert_ne!(bench.page(FIRST).unwrap().state, PageState::Held);
        assert_eq!(name(&bench, SECOND), "");
        assert_eq!(kinds(&mut bench, SECOND), ["new", "parted"]);
        bench.now += Span::from_days(1);
        bench.read(FIRST, &page(ROSES, ""));
        assert_eq!(name(&bench, SECOND), JOINED, "the first name is back");
    }
}

#[test]
fn a_second_name_that_moves_or_is_blocked_is_told_once() {
    let mut bench = joined();
    bench.meet(SECOND, Outcome::Blocked { wall: Wall::Login, status: 200, evidence: "a form".into() });
    assert_eq!(name(&bench, SECOND), JOINED, "a block says nothing of the content");
    bench.now += Span::from_days(1);
    bench.meet(SECOND, Outcome::Moved { status: 301, to: Some(url(FIRST)), permanent: true });
    assert_eq!(name(&bench, SECOND), "");
    assert_eq!(kinds(&mut bench, SECOND), ["new", "blocked", "moved"]);
}

#[test]
fn a_name_that_was_told_before_it_became_second_is_told_to_be_second() {
    let mut bench = bench(&[FIRST, SECOND]);
    read(&mut bench, SECOND, &page(ROSES, ""));
    read(&mut bench, FIRST, &page(ROSES, ""));
    assert_eq!(kinds(&mut bench, SECOND), ["new", "joined"]);
    assert_eq!(kinds(&mut bench, FIRST), ["new"]);
    let mut bench = joined();
    assert_eq!(kinds(&mut bench, SECOND), ["new"], "nobody was told of it under its own name");
}

fn say(bench: &mut Bench, first: &str, second: &str, word: NamesWord) -> Acted {
    let act = Act::Names { first: url(first), second: url(second), word, reason: "a test".into() };
    bench.crawler.act(act, bench.now).unwrap()
}

#[test]
fn the_word_of_a_person_counts_until_it_is_taken_back() {
    let mut bench = joined();
    assert_eq!(say(&mut bench, FIRST, SECOND, NamesWord::Part), Acted::NamesRuled);
    assert_eq!(name(&bench, SECOND), "");
    read(&mut bench, SECOND, &page(ROSES, ""));
    assert_eq!(name(&bench, SECOND), "", "also at the next visit");
    assert_eq!(say(&mut bench, SECOND, FIRST, NamesWord::Forget), Acted::NamesRuled);
    assert_eq!(name(&bench, SECOND), JOINED);
    assert_eq!(say(&mut bench, SECOND, FIRST, NamesWord::Forget), Acted::NothingSaid);
    // Joined by a person, in the order that the person gives, whatever they contain, also after a restart.
    assert_eq!(say(&mut bench, SECOND, FIRST, NamesWord::Join), Acted::NamesRuled);
    read(&mut bench, FIRST, &page(TULIPS, ""));
    read(&mut bench, SECOND, &page(ROSES, ""));
    let mut bench = bench.reopened();
    assert_eq!((name(&bench, SECOND), name(&bench, FIRST)), (String::new(), format!("person {SECOND}")));
    assert_eq!(say(&mut bench, FIRST, SECOND, NamesWord::Forget), Acted::NamesRuled);
    assert_eq!((name(&bench, SECOND), name(&bench, FIRST)), (String::new(), String::new()));
}

#[test]
fn what_cannot_be_one_page_is_refused_by_name() {
    let other = "http://b.example/";
    let mut bench = bench(&[FIRST, SECOND, other]);
    read(&mut bench, FIRST, &page(ROSES, ""));
    assert_eq!(say(&mut bench, FIRST, SECOND, NamesWord::Join), Acted::UnknownPage(url(SECOND)));
    read(&mut bench, other, &page(ROSES, ""));
    assert_eq!(say(&mut bench, FIRST, other, NamesWord::Join), Acted::OfTwoSites);
    assert_eq!(say(&mut bench, FIRST, FIRST, NamesWord::Join), Acted::OfTwoSites);
}

#[test]
fn people_say_no_more_of_one_page_than_a_row_holds() {
    let urls: Vec<String> = (0..=vernal_model::NameRow::WORDS_MAX).map(|n| format!("http://a.example/p{n}")).collect();
    let texts: Vec<&str> = urls.iter().map(String::as_str).chain([FIRST]).collect();
    let mut bench = bench(&texts);
    texts.iter().for_each(|text| read(&mut bench, text, &page(ROSES, "")));
    let (last, all) = urls.split_last().unwrap();
    for text in all {
        assert_eq!(say(&mut bench, FIRST, text, NamesWord::Part), Acted::NamesRuled);
    }
    assert_eq!(say(&mut bench, FIRST, last, NamesWord::Part), Acted::NamesFull(url(FIRST)));
    assert_eq!(say(&mut bench, FIRST, &all[0], NamesWord::Join), Acted::NamesRuled, "another word on a known pair");
}
