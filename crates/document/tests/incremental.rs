//! The words of a kept body beside a newer version: the same as a reading of the whole gives, from less of it.
#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use vernal_document::{
    IncrementalReader, Input, Parsed, UnpackLimits, read, read_words_incrementally, read_words_of_prefix, unpack,
    unpack_start_into,
};
use vernal_model::{Digest, Document, Url};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";

fn with_input<R>(bytes: &[u8], act: impl Fn(&Input<'_>) -> R) -> R {
    let url = Url::parse("https://www.example.org/page.html").unwrap();
    act(&Input {
        url: &url,
        bytes,
        content_type: Some("text/html; charset=utf-8"),
        content_language: None,
        robots_tags: &[],
        payload: Digest([7; 20]),
    })
}

fn page(source: &str) -> Parsed {
    with_input(source.as_bytes(), read)
}

fn packed(source: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(source.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// The words from the start of the packed older body, and how many bytes that start has; `None` if all of it is asked for.
fn from_start(older: &str, beside: &IncrementalReader<'_>) -> Option<(Option<Document>, usize)> {
    let mut room = Vec::new();
    let limits = UnpackLimits::default();
    let is_there = unpack_start_into(HEAD, &packed(older), &limits, |all| beside.bytes_wanted(all), &mut room);
    is_there.then(|| (with_input(&room, |input| read_words_of_prefix(input, beside)), room.len()))
}

fn assert_same(words: &Document, whole: &Parsed) {
    assert_eq!((&words.text, &words.paragraphs), (&whole.document.text, &whole.document.paragraphs));
}

/// Paragraphs of prose that do not repeat each other, with other tags between them.
fn prose(number: usize) -> String {
    let words: Vec<String> = (0..40).map(|word| format!("w{}", number * 7919 + word * word * 31)).collect();
    format!("<div class=block><p>Paragraph {number}: {}</p></div>\n", words.join(" "))
}

fn site_page(script: &str, paragraphs: &[String]) -> String {
    let body: String = paragraphs.concat();
    format!(
        "<html><head><title>A page</title><script>{script}</script></head><body><nav><a href=/>Home</a></nav>\
         <main><h1>A page</h1>{body}</main><footer><p>The end</p></footer></body></html>"
    )
}

#[test]
fn a_paragraph_that_went_is_read_from_the_start_of_the_body() {
    let all: Vec<String> = (0..40).map(prose).collect();
    for edited in [0, 1, 10, 20] {
        let mut changed = all.clone();
        changed[edited] = "<div class=block><p>Something &amp; else</p></div>\n".into();
        for script in ["", "var state = 17;", &"x".repeat(1_500)] {
            let (older, newer) = (site_page("", &all), site_page(script, &changed));
            let (old, new) = (page(&older), page(&newer));
            let beside = IncrementalReader::new(&old.signature.paragraphs, &new.document);
            assert!(beside.reused_document().is_none());
            let (words, bytes) = from_start(&older, &beside).expect("the end of the page is the same");
            assert_same(&words.expect("what went lies in the start"), &old);
            assert!(bytes < (edited + 5) * older.len() / 40 + 2_048, "{bytes} bytes for paragraph {edited}");
        }
    }
}

#[test]
fn what_lies_between_two_paragraphs_that_went_is_passed_over() {
    let all: Vec<String> = (0..40).map(prose).collect();
    for (first, second) in [(3, 12), (0, 30), (10, 20), (20, 38)] {
        for words in
            ["Short.", "Something &amp; else, <a href=/x>longer</a> and <b>louder</b> than what stood here before."]
        {
            let mut changed = all.clone();
            changed[first] = format!("<div class=block><p>{words}</p></div>\n");
            changed[second] = prose(100);
            let (older, newer) = (site_page("", &all), site_page("var state = 17;", &changed));
            let (old, new) = (page(&older), page(&newer));
            let beside = IncrementalReader::new(&old.signature.paragraphs, &new.document);
            assert_same(&with_input(older.as_bytes(), |input| read_words_incrementally(input, &beside)), &old);
            // Whoever read what lies between would count one paragraph too many.
            let between = &all[first + 2];
            let broken = older.replace(between, &between.replacen(" w", "<p>", 1));
            assert_ne!(page(&broken).document.paragraphs.len(), old.document.paragraphs.len());
            let words = with_input(broken.as_bytes(), |input| read_words_of_prefix(input, &beside));
            assert_same(&words.expect("both lie where they are looked for"), &old);
        }
    }
}

#[test]
fn a_version_to_which_something_was_added_lends_all_words() {
    let mut all: Vec<String> = (0..20).map(prose).collect();
    let old = page(&site_page("", &all));
    all.insert(7, prose(100));
    all.swap(3, 12);
    let new = page(&site_page("", &all));
    let beside = IncrementalReader::new(&old.signature.paragraphs, &new.document);
    assert_same(&beside.reused_document().expect("nothing went"), &old);
}

#[test]
fn a_heading_keeps_its_own_level() {
    let source = |tag: &str, last: &str| format!("<title>T</title><{tag}>Same words</{tag}><p>Text</p><p>{last}</p>");
    let old = page(&source("h2", "before"));
    for (tag, last) in [("h3", "before"), ("h3", "after"), ("h2", "after")] {
        let new = page(&source(tag, last));
        let beside = IncrementalReader::new(&old.signature.paragraphs, &new.document);
        let older = source("h2", "before");
        assert_same(&with_input(older.as_bytes(), |input| read_words_incrementally(input, &beside)), &old);
    }
    assert_eq!(old.document.paragraphs[1].heading, 2);
}

#[test]
fn a_body_that_is_damaged_lends_no_wrong_words() {
    let all: Vec<String> = (0..40).map(prose).collect();
    let mut changed = all.clone();
    changed[20] = prose(100);
    let (older, newer) = (site_page("", &all), site_page("", &changed));
    let (old, new) = (page(&older), page(&newer));
    let beside = IncrementalReader::new(&old.signature.paragraphs, &new.document);
    let sound = packed(&older);
    let mut read = 0;
    for place in (20..sound.len() - 8).step_by(11) {
        let mut damaged = sound.clone();
        damaged[place] ^= 0x10;
        let mut room = Vec::new();
        let limits = UnpackLimits::default();
        if !unpack_start_into(HEAD, &damaged, &limits, |all| beside.bytes_wanted(all), &mut room) {
            continue;
        }
        if let Some(words) = with_input(&room, |input| read_words_of_prefix(input, &beside)) {
            assert_same(&words, &old);
            read += 1;
        }
    }
    assert!(read > 0, "damage behind what is read does not matter");
    assert_eq!(unpack(HEAD, &sound, &UnpackLimits::default()).unwrap(), older.as_bytes());
}

/// Pieces of markup in which places are easily mistaken: open tags, references, repeats, hidden text, headings in headings.
fn piece() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec!["Home", "A page", "&ldquo;Said&rdquo;", "one two", "é", "x", "&#0;", " "]);
    let tag =
        prop::sample::select(vec!["p", "h1", "h2", "li", "td", "b", "div", "nav", "title", "pre", "svg", "noscript"]);
    prop_oneof![
        4 => (tag.clone(), words.clone()).prop_map(|(tag, words)| format!("<{tag}>{words}</{tag}>")),
        1 => (tag, words.clone()).prop_map(|(tag, words)| format!("<{tag}>{words}")),
        1 => words.prop_map(|words| format!("<!-- {words} --><script>{words}<</script>{words}<br><br>")),
        3 => (0usize..50).prop_map(prose),
    ]
}

proptest! {
    #[test]
    fn words_beside_another_version_are_those_of_the_whole(
        pieces in prop::collection::vec(piece(), 0..30),
        edits in prop::collection::vec((any::<prop::sample::Index>(), piece(), 0u8..3), 0..5),
    ) {
        let mut others = pieces.clone();
        for (place, piece, kind) in edits {
            let place = place.index(others.len().max(1));
            match kind {
                _ if others.is_empty() => others.push(piece),
                0 => others.insert(place, piece),
                1 => others[place] = piece,
                _ => drop(others.remove(place)),
            }
        }
        let (older, newer) = (pieces.concat(), others.concat());
        let (old, new) = (page(&older), page(&newer));
        let beside = IncrementalReader::new(&old.signature.paragraphs, &new.document);
        assert_same(&with_input(older.as_bytes(), |input| read_words_incrementally(input, &beside)), &old);
        if let Some(lent) = beside.reused_document() {
            assert_same(&lent, &old);
        }
        if let Some((Some(words), _)) = from_start(&older, &beside) {
            assert_same(&words, &old);
        }
    }
}
