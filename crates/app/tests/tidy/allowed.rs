//! What breaks a law, and the list of exceptions that says which breaches are accepted and why.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The mark of an entry that nobody has given a reason yet.
const NO_REASON: &str = "?";

const HEAD: &str = "\
# Exceptions from the laws of this house, one to a line: law | place | at most | reason.
# An exception that is no longer needed fails the test, and so does one without a reason.
# `TIDY_WRITE=1 cargo test -p vernal-app --test tidy` writes this list anew: reasons are kept, new entries get `?`.
";

/// One breach of a law: where, by how much, and what a reader needs to find it.
pub struct Breach {
    pub place: String,
    pub amount: usize,
    pub detail: String,
}

impl Breach {
    /// A breach of a law that holds or does not.
    pub fn at(place: impl Into<String>, detail: impl Into<String>) -> Breach {
        Breach { place: place.into(), amount: 1, detail: detail.into() }
    }
}

struct Exception {
    amount: usize,
    reason: String,
}

type Exceptions = BTreeMap<(String, String), Exception>;

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tidy/exceptions.txt")
}

fn read() -> Exceptions {
    let text = fs::read_to_string(path()).unwrap_or_default();
    let entries = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    entries.map(read_line).collect()
}

fn read_line(line: &str) -> ((String, String), Exception) {
    let parts: Vec<_> = line.splitn(4, '|').map(str::trim).collect();
    let [law, place, amount, reason] = parts[..] else { panic!("an exception has four parts: {line}") };
    let amount = amount.parse().unwrap_or_else(|_| panic!("the third part of an exception is a number: {line}"));
    ((law.to_owned(), place.to_owned()), Exception { amount, reason: reason.to_owned() })
}

/// Fails with every breach that is no exception, and every exception that is no breach.
pub fn hold(law: &str, breaches: &[Breach]) {
    if is_writing() {
        return;
    }
    let exceptions = read();
    let mut faults = Vec::new();
    for breach in breaches {
        let allowed = exceptions.get(&(law.to_owned(), breach.place.clone())).map_or(0, |exception| exception.amount);
        if breach.amount > allowed {
            faults.push(format!("{}: {}", breach.place, breach.detail));
        }
    }
    for (_, place) in exceptions.keys().filter(|(of, _)| of == law) {
        if !breaches.iter().any(|breach| breach.place == *place) {
            faults.push(format!("{place}: the exception is no longer needed, take it out of exceptions.txt"));
        }
    }
    assert!(faults.is_empty(), "law {law}:\n  {}\n", faults.join("\n  "));
}

/// Whether the list is to be written instead of held against.
pub fn is_writing() -> bool {
    std::env::var_os("TIDY_WRITE").is_some()
}

/// Writes the list for what breaks the laws now; reasons that are known stay.
pub fn write(laws: &[(&str, Vec<Breach>)]) {
    let known = read();
    let mut text = HEAD.to_owned();
    for (law, breaches) in laws.iter().filter(|(_, breaches)| !breaches.is_empty()) {
        text.push('\n');
        for breach in breaches {
            let key = (law.to_string(), breach.place.clone());
            let reason = known.get(&key).map_or(NO_REASON, |exception| &exception.reason);
            text.push_str(&format!("{law} | {} | {} | {reason}\n", breach.place, breach.amount));
        }
    }
    fs::write(path(), text).unwrap();
}

/// Fails where an exception names no law, or gives no reason.
pub fn hold_list(laws: &[&str]) {
    for ((law, place), exception) in read() {
        assert!(laws.contains(&&*law), "exceptions.txt names a law that there is not: {law}");
        assert!(
            exception.reason != NO_REASON && exception.reason.contains(' '),
            "{law} | {place}: give a reason in words"
        );
    }
}
