//! The book of runs: the politeness that each run promised, so that the audit judges each visit by the promise of its run;
//! and the settings that it had, so that questions to a stopped crawl are answered by them.
//!
//! ```text
//! DIR/runs.jsonl, and the same in DIR/runs.copy.jsonl
//!   one JSON object per line: {"started":RFC 3339,"delay_us":N,"per_site":N,"version":"0.2.0",
//!                  "budget":"20%/day","policy":"round-robin","allow_private":false,"strict":false,"strict_sites":[],
//!                  "promises":["tag:news at_least_every=1h"],"url_thresholds":[],"body_max":8388608,"sum":"0123456789abcdef"}
//!   or {"repaired":RFC 3339,"sum":…}: visits before that came from records, which know whole seconds only
//! sum:  the first half of SHA-1 over the line without it; lines of older Vernals have none
//! ```
//!
//! A line counts if either copy has it whole. Without it the audit would judge its visits by the promise of another run.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use vernal_model::{Moment, Span};

use crate::error::{Error, Result};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    started: String,
    delay_us: u64,
    per_site: u16,
    version: String,
    #[serde(flatten)]
    settings: Option<RunSettings>,
}

/// The settings of a run that later questions are answered by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSettings {
    pub budget: String,
    pub policy: String,
    pub allow_private: bool,
    #[serde(default)]
    pub strict: bool,
    #[serde(default)]
    pub strict_sites: Vec<vernal_model::Site>,
    /// As they were given.
    #[serde(default)]
    pub promises: Vec<String>,
    /// As they were given.
    #[serde(default)]
    pub url_thresholds: Vec<String>,
    /// The largest body in bytes; 0 where the book does not say.
    #[serde(default)]
    pub body_max: u64,
    /// What becomes of the deeds before a checkpoint; empty where the book does not say.
    #[serde(default)]
    pub journal: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct RepairLine {
    repaired: String,
}

/// What one run promised from its start to the start of the next.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Politeness {
    pub started: Moment,
    pub delay: Span,
    pub per_site: u16,
}

/// What both copies of the book say, in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Book {
    pub promises: Vec<Politeness>,
    /// When the books were last restored from records.
    pub repaired: Option<Moment>,
}

const COPIES: [&str; 2] = ["runs.jsonl", "runs.copy.jsonl"];
const SUM_DIGITS: usize = 16;

/// The whole lines of both copies, each once and without its sum: those of the first copy, then what it lacks.
fn lines(dir: &Path) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for name in COPIES {
        let bytes = std::fs::read(dir.join(name)).unwrap_or_default();
        for line in String::from_utf8_lossy(&bytes).lines().filter_map(whole) {
            if is_object(&line) && !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

fn is_object(line: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(line).is_ok_and(|value| value.is_object())
}

/// The line without its sum; `None` where the sum is wrong.
fn whole(line: &str) -> Option<String> {
    let Some((content, sum)) = line.rsplit_once(",\"sum\":\"") else { return Some(line.to_owned()) };
    let content = format!("{content}}}");
    (sum.strip_suffix("\"}")? == sum_of(&content)).then_some(content)
}

fn sum_of(line: &str) -> String {
    use sha1::Digest as _;
    let digits = sha1::Sha1::digest(line.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    digits[..SUM_DIGITS].to_owned()
}

/// Writes down that everything before `now` was restored from records.
pub fn note_repair(dir: &Path, now: Moment) -> Result<()> {
    write_line(dir, &RepairLine { repaired: now.rfc3339() })
}

pub fn append(dir: &Path, politeness: Politeness, settings: RunSettings) -> Result<()> {
    let line = Line {
        started: politeness.started.rfc3339(),
        delay_us: politeness.delay.micros(),
        per_site: politeness.per_site,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        settings: Some(settings),
    };
    write_line(dir, &line)
}

/// Writes a line to both copies, which are synced when this returns. A copy that lacks lines gets them from the other.
fn write_line(dir: &Path, line: &impl Serialize) -> Result<()> {
    let mut lines = lines(dir);
    lines.push(serde_json::to_string(line).expect("a line of texts and numbers is always JSON"));
    let with_sum = |line: &String| match line.strip_suffix('}') {
        Some(content) => format!("{content},\"sum\":\"{}\"}}\n", sum_of(line)),
        None => format!("{line}\n"),
    };
    let text: String = lines.iter().map(with_sum).collect();
    for name in COPIES {
        let (path, fresh) = (dir.join(name), dir.join("runs.new"));
        let written = File::create(&fresh).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&fresh, &path)
        });
        written.map_err(Error::io("write", &path))?;
    }
    let synced = File::open(dir).and_then(|folder| folder.sync_all());
    synced.map_err(Error::io("sync", dir))
}

/// Both copies of the book. A line that neither has whole is left out.
pub fn book(dir: &Path) -> Book {
    let lines = lines(dir);
    let politeness = |line: &String| {
        let line: Line = serde_json::from_str(line).ok()?;
        let started = Moment::parse(&line.started, Moment::EPOCH).ok()?;
        Some(Politeness { started, delay: Span::from_micros(line.delay_us), per_site: line.per_site })
    };
    let repaired = |line: &String| {
        let line: RepairLine = serde_json::from_str(line).ok()?;
        Moment::parse(&line.repaired, Moment::EPOCH).ok()
    };
    let mut promises: Vec<Politeness> = lines.iter().filter_map(politeness).collect();
    promises.sort_by_key(|politeness| politeness.started);
    promises.dedup();
    Book { promises, repaired: lines.iter().filter_map(repaired).max() }
}

/// The settings of the last run; `None` where the book has none.
pub fn settings_of_last_run(dir: &Path) -> Option<RunSettings> {
    let lines = lines(dir);
    let lines = lines.iter().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    lines.max_by(|one, other| one.started.cmp(&other.started))?.settings
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn path(dir: &Path) -> PathBuf {
        dir.join(COPIES[0])
    }

    fn settings() -> RunSettings {
        RunSettings {
            budget: "5/day".into(),
            policy: "round-robin".into(),
            allow_private: true,
            strict: false,
            strict_sites: Vec::new(),
            promises: vec!["tag:news at_least_every=1h".into()],
            url_thresholds: Vec::new(),
            body_max: 8 << 20,
            journal: "keep".into(),
        }
    }

    #[test]
    fn what_was_promised_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let politeness = Politeness { started: Moment::from_secs(7), delay: Span::from_millis(50), per_site: 2 };
        std::fs::write(
            path(dir.path()),
            "{\"started\":\"1970-01-01T00:00:01Z\",\"delay_us\":1,\"per_site\":1,\"version\":\"0\"}\n",
        )
        .unwrap();
        assert_eq!((book(dir.path()).promises.len(), settings_of_last_run(dir.path())), (1, None));
        std::fs::remove_file(path(dir.path())).unwrap();
        append(dir.path(), politeness, settings()).unwrap();
        File::options().append(true).open(path(dir.path())).unwrap().write_all(b"{torn").unwrap();
        assert_eq!(book(dir.path()), Book { promises: vec![politeness], repaired: None });
        assert_eq!(settings_of_last_run(dir.path()), Some(settings()));
    }

    #[test]
    fn a_repair_is_noted_beside_the_promises() {
        let dir = tempfile::tempdir().unwrap();
        let politeness = Politeness { started: Moment::from_secs(7), delay: Span::from_millis(50), per_site: 2 };
        append(dir.path(), politeness, settings()).unwrap();
        note_repair(dir.path(), Moment::from_secs(9)).unwrap();
        let noted = Book { promises: vec![politeness], repaired: Some(Moment::from_secs(9)) };
        assert_eq!(book(dir.path()), noted);
    }

    #[test]
    fn any_damage_of_one_copy_changes_nothing_and_the_next_run_mends_it() {
        let dir = tempfile::tempdir().unwrap();
        let run =
            |second: i64| Politeness { started: Moment::from_secs(second), delay: Span::from_millis(50), per_site: 2 };
        append(dir.path(), run(7), settings()).unwrap();
        append(dir.path(), run(8), settings()).unwrap();
        let good = std::fs::read(path(dir.path())).unwrap();
        for name in COPIES {
            let path = dir.path().join(name);
            let check = |what: &str| {
                assert_eq!(book(dir.path()).promises, [run(7), run(8)], "{name}: {what}");
                assert_eq!(settings_of_last_run(dir.path()), Some(settings()), "{name}: {what}");
            };
            for at in 0..good.len() {
                let mut bad = good.clone();
                bad[at] ^= 1 << (at % 8);
                std::fs::write(&path, &bad).unwrap();
                check(&format!("byte {at}"));
                std::fs::write(&path, &good[..at]).unwrap();
                check(&format!("cut to {at}"));
            }
            std::fs::remove_file(&path).unwrap();
            check("removed");
            std::fs::write(&path, &good).unwrap();
        }
        std::fs::remove_file(path(dir.path())).unwrap();
        append(dir.path(), run(9), settings()).unwrap();
        assert_eq!(book(dir.path()).promises, [run(7), run(8), run(9)]);
        assert_eq!(COPIES.map(|name| std::fs::read(dir.path().join(name)).unwrap().len()), [good.len() / 2 * 3; 2]);
    }
}
