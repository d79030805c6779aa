//! The laws of the fuzz targets over the pages of `crates/document/corpus`, over cut and changed files, and over random
//! input.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use vernal_fuzz::document::{compare_halves, html, judge_versions, signature};
use vernal_fuzz::repository::warc;
use vernal_fuzz::site_files::robots;
use vernal_fuzz::{corpus, corpus_folder};
use vernal_model::Chance;

/// The corpus of `vernal-document`.
fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/document/corpus")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn every_kept_page_keeps_the_laws_whole_and_cut() {
    let mut found = Vec::new();
    files(&documents(), &mut found);
    files(&corpus_folder("compare"), &mut found);
    assert!(found.len() >= 60);
    for path in found {
        let bytes = std::fs::read(&path).expect("a readable file");
        for end in [bytes.len(), bytes.len() * 2 / 3, bytes.len() / 5] {
            signature(&bytes[..end]);
            compare_halves(&bytes[..end]);
        }
    }
}

#[test]
fn kept_markup_holds_every_invariant_at_every_cut() {
    for entry in std::fs::read_dir(documents().join("markup")).expect("the corpus is there") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("a readable file");
        for cut in 0..=bytes.len() {
            html(&bytes[..cut]);
        }
    }
}

#[test]
fn random_versions_of_random_pages_are_judged_within_all_bounds() {
    const PARTS: [&str; 16] = [
        "<p>",
        "<li>",
        "<ul>",
        "</ul>",
        "<nav>",
        "</nav>",
        "<footer>",
        "<h3>You may also like</h3>",
        "red fox ",
        "old oak ",
        "wet dog ",
        "Price: 5 euros ",
        "Views: 17 today ",
        "Views: 23 today ",
        "a8f3c1d902 ",
        "\0",
    ];
    for number in 0..400 {
        let mut chance = Chance::new(number).stream("judged");
        let bytes: String = (0..chance.below(300)).map(|_| *chance.pick(&PARTS).expect("there are parts")).collect();
        judge_versions(bytes.as_bytes());
    }
}

#[test]
fn a_scan_survives_every_cut_and_every_flipped_byte_of_a_segment() {
    for whole in corpus("warc").expect("the corpus is there") {
        for place in 0..whole.len() {
            warc(&whole[..place]);
            let mut flipped = whole.clone();
            flipped[place] ^= 0x41;
            warc(&flipped);
        }
    }
}

const PAGE: &str = include_str!("../../crates/document/corpus/price-change/old.html");

/// Pieces that make trouble when they meet.
const PIECES: [&str; 24] = [
    "<",
    ">",
    "</",
    "<!--",
    "-->",
    "<svg>",
    "</svg>",
    "<script>",
    "</script>",
    "<![CDATA[",
    "]]>",
    "&",
    "&amp",
    "\0",
    "\u{a0}",
    "é",
    "'",
    "\"",
    "=",
    "<title>",
    "<template>",
    "<a href=",
    "<br><br>",
    "<base href=//[>",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_pages_hold_every_invariant(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..60)) {
        let mut bytes = PAGE.as_bytes().to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        html(&bytes);
    }

    #[test]
    fn random_pieces_hold_every_invariant(pieces in prop::collection::vec((0..PIECES.len(), "[a-z /]{0,4}"), 0..80)) {
        let text: String = pieces.into_iter().map(|(piece, words)| format!("{}{words}", PIECES[piece])).collect();
        html(text.as_bytes());
    }

    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        robots(&bytes);
    }

    #[test]
    fn no_text_like_a_file_does_harm(lines in prop::collection::vec("(user-agent|allow|disallow|crawl-delay)?:? ?[/*$%a-c#?&\u{e9}. -]{0,12}", 0..12)) {
        robots(lines.join("\n").as_bytes());
    }

    #[test]
    fn a_scan_survives_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        warc(&bytes);
    }
}
