//! Documents: links lead somewhere, anchors are headings, and the names that a document gives to a file are in that file.

use std::collections::{BTreeMap, BTreeSet};

use crate::allowed::Breach;
use crate::house::House;

/// Decisions are never edited, so that what they say of files is of their day; only their links among documents are held.
const DECISIONS: &str = "docs/decisions/";

struct Link<'a> {
    text: &'a str,
    target: &'a str,
    line: usize,
    /// What follows the link in its table cell.
    behind: &'a str,
}

pub fn dead_links(house: &House) -> Vec<Breach> {
    let folders = folders(house);
    let mut breaches = Vec::new();
    for (path, text) in &house.documents {
        for link in links(text).into_iter().filter(|link| !is_outside(link.target)) {
            let (file, anchor) = link.target.split_once('#').unwrap_or((link.target, ""));
            let file = if file.is_empty() { path.clone() } else { resolve(path, file) };
            if path.starts_with(DECISIONS) && !file.starts_with("docs/") {
                continue;
            }
            let place = format!("{path} -> {}", link.target);
            if !house.paths.contains(&file) && !folders.contains(&*file) {
                breaches.push(Breach::at(place, format!("line {}: there is no such file", link.line)));
            } else if !anchor.is_empty()
                && house.documents.get(&file).is_some_and(|text| !anchors(text).contains(anchor))
            {
                breaches.push(Breach::at(place, format!("line {}: there is no such heading", link.line)));
            }
        }
    }
    breaches
}

/// Names in backticks that are, or stand in one table cell with, the text of a link to a Rust file.
pub fn missing_names(house: &House) -> Vec<Breach> {
    let identifiers: BTreeMap<&str, BTreeSet<&str>> =
        house.rust.iter().map(|file| (&*file.path, defined(file))).collect();
    let mut breaches = Vec::new();
    for (path, text) in house.documents.iter().filter(|(path, _)| !path.starts_with(DECISIONS)) {
        for link in links(text) {
            let Some(known) = identifiers.get(&*resolve(path, link.target)) else { continue };
            let names =
                quoted(link.text).into_iter().chain(quoted(link.behind).into_iter().filter(|name| is_constant(name)));
            for name in names.filter(|name| is_identifier(name) && !known.contains(name)) {
                let detail = format!("line {}: {} does not define it", link.line, link.target);
                breaches.push(Breach::at(format!("{path}: {name}"), detail));
            }
        }
    }
    breaches
}

/// Laws that a document names, `like_this_one_that_is_a_sentence`, are functions somewhere.
pub fn missing_laws(house: &House) -> Vec<Breach> {
    let functions: BTreeSet<&str> =
        house.rust.iter().flat_map(|file| &file.source.tokens).map(|token| &*token.text).collect();
    let mut breaches = Vec::new();
    for (path, text) in house.documents.iter().filter(|(path, _)| !path.starts_with(DECISIONS)) {
        for (line, words) in prose(text) {
            for name in quoted(words).into_iter().filter(|name| is_identifier(name) && name.matches('_').count() >= 4) {
                if !functions.contains(name) {
                    breaches
                        .push(Breach::at(format!("{path}: {name}"), format!("line {line}: no function has this name")));
                }
            }
        }
    }
    breaches
}

/// Lines of a document outside its code blocks, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            lines.push((number + 1, line));
        }
    }
    lines
}

/// Links of the form `[text](target)`; those within backticks are none.
fn links(text: &str) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    for (line, words) in prose(text) {
        for (middle, _) in words.match_indices("](") {
            let Some(end) = words[middle..].find(')').map(|end| middle + end) else { break };
            let before = &words[..middle];
            let begin = before.rfind('[').map_or(0, |begin| begin + 1);
            let behind = &words[end + 1..];
            let cell_end = behind.find(['|', '[']).filter(|_| words.starts_with('|')).unwrap_or(0);
            if before.matches('`').count() % 2 == 0 {
                links.push(Link {
                    text: &before[begin..],
                    target: &words[middle + 2..end],
                    line,
                    behind: &behind[..cell_end],
                });
            }
        }
    }
    links
}

fn is_outside(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// A target from the root of the repository.
fn resolve(document: &str, target: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in target.split('#').next().unwrap_or_default().split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn folders(house: &House) -> BTreeSet<&str> {
    let mut folders = BTreeSet::from([""]);
    for path in &house.paths {
        folders.extend(path.match_indices('/').map(|(end, _)| &path[..end]));
    }
    folders
}

/// The anchors that a document's headings make.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
        let anchor: String = heading.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-");
        let repeats = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(repeats).find(|one| !anchors.contains(one));
        anchors.extend(free);
    }
    anchors
}

/// What stands between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.len() > 2
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn is_constant(text: &str) -> bool {
    is_identifier(text) && text.contains('_') && !text.contains(|letter: char| letter.is_lowercase())
}

/// Names that a file defines: behind a keyword, or before a colon as a field is, or re-exported by it.
fn defined(file: &crate::house::RustFile) -> BTreeSet<&str> {
    const KEYWORDS: [&str; 9] = ["const", "static", "fn", "struct", "enum", "trait", "type", "mod", "use"];
    let tokens = &file.source.tokens;
    let text = |at: usize| tokens.get(at).map_or("", |token| &*token.text);
    let is_defined =
        |at: usize| at > 0 && KEYWORDS.contains(&text(at - 1)) || text(at + 1) == ":" || text(at + 1) == "!";
    (0..tokens.len()).filter(|&at| is_defined(at)).map(text).collect()
}

#[test]
fn headings_make_the_anchors_that_hosts_of_repositories_make() {
    let anchors = anchors("# What `it` is, and isn't\n```\n# no heading\n```\n## Twice\n## Twice\n");
    assert_eq!(anchors.into_iter().collect::<Vec<_>>(), ["twice", "twice-1", "what-it-is-and-isnt"]);
}

#[test]
fn links_are_found_outside_code_and_resolved_from_their_document() {
    let text = "[a](../x/y.rs#L3) and `[b](c)` ![d](e.png)\n```\n[f](g)\n```\n| [`ONE`](h.rs), `TWO` | why |\n";
    let found: Vec<_> = links(text).iter().map(|link| (link.text, link.target, link.behind)).collect();
    assert_eq!(found[0], ("a", "../x/y.rs#L3", ""));
    assert_eq!(found[1], ("d", "e.png", ""));
    assert_eq!(found[2], ("`ONE`", "h.rs", ", `TWO` "));
    assert_eq!(resolve("docs/a.md", "../x/y.rs#L3"), "x/y.rs");
}
