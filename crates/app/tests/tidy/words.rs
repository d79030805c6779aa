//! One word, one thing: names that the glossary bans, images that a field engineer would not understand, and names that say nothing.

use std::collections::BTreeMap;

use crate::allowed::Breach;
use crate::house::{House, RustFile};

/// Where a word is looked for.
#[derive(Clone, Copy, PartialEq)]
enum In {
    /// In types, functions, fields, constants and files.
    Names,
    /// In types and files alone: as a verb, a value or part of a sentence it is a fine word.
    Nouns,
    /// As the whole name of a file or folder.
    Files,
}

/// Words of the glossary's last column that mean the banned thing wherever they stand, and the rooms that may use them all the same.
/// The other words of that column have a right meaning as well and are left to the reader.
const GLOSSARY: &[(&str, &str, &[&str])] = &[
    ("doc", "page", &[]),
    ("uri", "Url", &["fetch"]),
    ("shard", "partition", &[]),
    ("download", "visit", &["app"]),
    ("wal", "journal", &[]),
    ("notification", "event", &[]),
    ("db", "repository", &[]),
    ("master", "coordinator", &[]),
    ("slave", "worker", &[]),
    ("iteration", "cycle", &[]),
    ("quota", "budget", &["policy"]),
    ("ttl", "refresh time", &[]),
    ("staleness", "age", &[]),
    ("timestamp", "moment", &[]),
    ("rng", "chance", &[]),
];

/// Images and private words: the word, where it is banned, the rooms where it is (all, where none is named), what to say.
const IMAGES: &[(&str, In, &[&str], &str)] = &[
    ("rung", In::Names, &[], "level"),
    ("rungs", In::Names, &[], "levels"),
    ("ladder", In::Names, &[], "site queue"),
    ("ladders", In::Names, &[], "site queues"),
    ("heads", In::Names, &["policy"], "front runners"),
    ("train", In::Names, &[], "unobserved group"),
    ("trains", In::Names, &[], "unobserved groups"),
    ("octave", In::Names, &[], "importance bucket"),
    ("octaves", In::Names, &[], "importance buckets"),
    ("firmness", In::Names, &[], "prior strength"),
    ("dial", In::Names, &["policy"], "clock snapshot"),
    ("wakes", In::Names, &[], "timers"),
    ("floor", In::Nouns, &[], "threshold"),
    ("porch", In::Names, &[], "threshold"),
    ("shake", In::Names, &[], "mark dirty"),
    ("stir", In::Names, &[], "invalidate"),
    ("resting", In::Names, &["policy"], "cooling down"),
    ("home", In::Nouns, &[], "eligible"),
    ("hands", In::Nouns, &[], "visit owner, crawl backend or worker loop"),
    ("desk", In::Names, &[], "order queue"),
    ("tray", In::Names, &[], "report batch"),
    ("door", In::Names, &[], "access guard"),
    ("no", In::Nouns, &["app"], "API error"),
    ("whole", In::Files, &[], "event text"),
    ("eights", In::Names, &[], "SWAR scan"),
    ("slots", In::Files, &["document"], "perfect hash"),
    ("beside", In::Nouns, &[], "incremental reader"),
    ("aside", In::Nouns, &["document", "model"], "suppressed"),
    ("purse", In::Names, &[], "budget account"),
    ("lively", In::Names, &[], "active"),
    ("spelled", In::Names, &["crawler", "policy"], "new URLs pending"),
    ("signpost", In::Names, &[], "discovery page"),
    ("signposts", In::Names, &[], "discovery pages"),
    ("companion", In::Names, &[], "volatile table"),
    ("companions", In::Names, &[], "volatile tables"),
    ("weighing", In::Names, &[], "link scores"),
    ("widening", In::Names, &[], "scope rescan"),
    ("collecting", In::Names, &[], "eviction"),
    ("taking", In::Files, &[], "apply report"),
    ("telling", In::Files, &[], "events"),
    ("keeping", In::Files, &[], "archive record"),
    ("keyed", In::Files, &[], "HMAC"),
    ("cure", In::Nouns, &[], "repair"),
    ("listing", In::Files, &[], "FTP directory, sitemap or printed list"),
    ("listings", In::Files, &[], "FTP directories, sitemaps or printed lists"),
];

/// Words that say nothing of a type or file.
const EMPTY: [&str; 6] = ["manager", "helper", "helpers", "util", "utils", "misc"];

/// Verbs that say nothing at the beginning of a function's name.
const EMPTY_VERBS: [&str; 3] = ["get", "do", "handle"];

/// A name that is defined in a file.
struct Name<'a> {
    kind: Kind,
    name: &'a str,
    line: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    File,
    Type,
    Function,
    Field,
    Constant,
}

/// Breaches by word and room: how many names have the word, and which.
pub fn breaches(house: &House) -> Vec<Breach> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in house.code() {
        let Some(room) = &file.room else { continue };
        for name in names(file) {
            for (word, say) in banned(&name, room) {
                let place = format!("{word} in {room}");
                let told = format!("{:?} {} ({}:{}), say {say}", name.kind, name.name, file.path, name.line);
                found.entry(place).or_default().push(told);
            }
        }
    }
    let breach = |(place, told): (String, Vec<String>)| Breach { place, amount: told.len(), detail: told.join("; ") };
    found.into_iter().map(breach).collect()
}

/// Words that this test bans in the glossary's name and that the glossary does not ban.
pub fn missing_in_glossary(house: &House) -> Vec<&'static str> {
    let glossary = &house.documents["docs/glossary.md"];
    let banned: Vec<String> = glossary.lines().filter(|line| line.starts_with('|')).filter_map(last_column).collect();
    let has = |word: &str| {
        banned.iter().any(|column| column.split(|letter: char| !letter.is_alphanumeric()).any(|one| one == word))
    };
    GLOSSARY.iter().map(|&(word, ..)| word).filter(|word| !has(word)).collect()
}

fn last_column(line: &str) -> Option<String> {
    line.trim_end_matches('|').rsplit('|').next().map(|column| column.trim().to_lowercase())
}

fn names(file: &RustFile) -> Vec<Name<'_>> {
    let mut names = vec![Name { kind: Kind::File, name: file_name(&file.path), line: 1 }];
    let is_code = |line: usize| !file.source.is_test_line[line - 1];
    for function in file.source.functions.iter().filter(|function| is_code(function.line)) {
        names.push(Name { kind: Kind::Function, name: &function.name, line: function.line });
    }
    for kind in &file.source.types {
        names.push(Name { kind: Kind::Type, name: &kind.name, line: kind.line });
        let fields = kind.fields.iter().filter(|field| !field.is_empty());
        names.extend(fields.map(|field| Name { kind: Kind::Field, name: field, line: kind.line }));
    }
    let constants = file.source.constants.iter().filter(|(_, line)| is_code(*line));
    names.extend(constants.map(|(name, line)| Name { kind: Kind::Constant, name, line: *line }));
    names
}

/// The module that a file is: its own name, or that of its folder where it is the folder's front page.
fn file_name(path: &str) -> &str {
    let mut parts = path.trim_end_matches(".rs").rsplit('/');
    match parts.next() {
        Some("mod") => parts.next().unwrap_or_default(),
        name => name.unwrap_or_default(),
    }
}

fn banned<'a>(name: &Name, room: &str) -> Vec<(&'a str, String)> {
    let words = words_of(name.name);
    let has = |word: &str| words.iter().any(|one| one == word);
    let mut banned = Vec::new();
    for &(word, say, allowed) in GLOSSARY {
        if has(word) && !allowed.contains(&room) {
            banned.push((word, say.to_owned()));
        }
    }
    for &(word, place, rooms, say) in IMAGES {
        let is_meant = match place {
            In::Names => has(word),
            In::Nouns => matches!(name.kind, Kind::File | Kind::Type) && has(word),
            In::Files => name.kind == Kind::File && name.name == word,
        };
        if is_meant && (rooms.is_empty() || rooms.contains(&room)) {
            banned.push((word, say.to_owned()));
        }
    }
    for word in EMPTY {
        if matches!(name.kind, Kind::File | Kind::Type) && has(word) {
            banned.push((word, "what it does".to_owned()));
        }
    }
    for verb in EMPTY_VERBS {
        if name.kind == Kind::Function && words.len() > 1 && words[0] == verb {
            banned.push((verb, "what is done".to_owned()));
        }
    }
    banned
}

/// The words of a name in snake or camel case, in small letters.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        if letter == '_' || letter.is_uppercase() && was_small {
            words.push(String::new());
        }
        was_small = letter.is_lowercase() || letter.is_numeric();
        if letter != '_' {
            words.last_mut().unwrap().extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn a_name_is_cut_into_its_words() {
    assert_eq!(words_of("SiteClock"), ["site", "clock"]);
    assert_eq!(words_of("BODY_BYTES_MAX"), ["body", "bytes", "max"]);
    assert_eq!(words_of("earliest_visit"), ["earliest", "visit"]);
}
