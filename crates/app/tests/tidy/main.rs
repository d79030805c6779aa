//! The house stays as it is: laws over names, sizes, documents and walls, held against the files of the repository.
//!
//! What breaks a law fails, but for the exceptions in `exceptions.txt`, each with its reason.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod allowed;
mod documents;
mod house;
mod scan;
mod sizes;
mod tokens;
mod walls;
mod words;

use std::sync::LazyLock;

use allowed::Breach;
use house::House;

/// A law by its name in `exceptions.txt`, and what finds its breaches.
type Law = (&'static str, fn(&House) -> Vec<Breach>);

const LAWS: [Law; 13] = [
    ("words", words::breaches),
    ("file lines", sizes::long_files),
    ("function lines", sizes::long_functions),
    ("fields", sizes::many_fields),
    ("methods", sizes::many_methods),
    ("tests", sizes::few_tests),
    ("links", documents::dead_links),
    ("names in documents", documents::missing_names),
    ("laws in documents", documents::missing_laws),
    ("walls", walls::breached),
    ("async", walls::async_breached),
    ("modules", walls::modules_beside_their_folder),
    ("front pages", walls::front_pages_with_logic),
];

static HOUSE: LazyLock<House> = LazyLock::new(House::read);

fn hold(law: &str) {
    let (_, breaches) = LAWS.iter().find(|(name, _)| *name == law).unwrap();
    allowed::hold(law, &breaches(&HOUSE));
}

#[test]
fn names_use_the_words_of_the_house() {
    hold("words");
}

#[test]
fn words_that_are_banned_here_are_banned_in_the_glossary() {
    assert_eq!(words::missing_in_glossary(&HOUSE), [""; 0]);
}

#[test]
fn files_are_short() {
    hold("file lines");
}

#[test]
fn functions_are_short() {
    hold("function lines");
}

#[test]
fn types_have_few_fields() {
    hold("fields");
}

#[test]
fn types_have_few_methods() {
    hold("methods");
}

#[test]
fn rooms_that_decide_have_tests() {
    hold("tests");
}

#[test]
fn links_lead_somewhere() {
    hold("links");
}

#[test]
fn names_in_documents_are_in_their_files() {
    hold("names in documents");
}

#[test]
fn laws_in_documents_are_functions() {
    hold("laws in documents");
}

#[test]
fn rooms_use_only_the_rooms_they_may() {
    hold("walls");
}

#[test]
fn the_async_runtime_stays_in_its_rooms() {
    hold("async");
}

#[test]
fn a_folder_has_its_front_page_within() {
    hold("modules");
}

#[test]
fn front_pages_hold_no_logic() {
    hold("front pages");
}

#[test]
fn every_exception_has_a_law_and_a_reason() {
    if allowed::is_writing() {
        allowed::write(&LAWS.map(|(name, breaches)| (name, breaches(&HOUSE))));
        return;
    }
    allowed::hold_list(&LAWS.map(|(name, _)| name));
}
