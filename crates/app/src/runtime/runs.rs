//! The book of runs: the politeness that each run promised, so that the audit judges each visit by the promise of its run;
//! and the settings that it had, so that questions to a stopped crawl are answered by them.
//!
//! ```text
//! DIR/runs.jsonl   one JSON object per line: {"started":RFC 3339,"delay_us":N,"per_site":N,"version":"0.2.0",
//!                  "budget":"20%/day","policy":"round-robin","allow_private":false,"strict":false,"strict_sites":[],
//!                  "promises":["tag:news at_least_every=1h"],"body_max":8388608}
//!                  or {"repaired":RFC 3339}: visits before that came from records, which know whole seconds only
//! ```

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

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
    /// The largest body in bytes; 0 where the book does not say.
    #[serde(default)]
    pub body_max: u64,
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

fn path(dir: &Path) -> PathBuf {
    dir.join("runs.jsonl")
}

/// Writes down that everything before `now` was restored from records.
pub fn note_repair(dir: &Path, now: Moment) -> Result<()> {
    write_line(dir, &RepairLine { repaired: now.rfc3339() })
}

/// When the books were last restored from records.
pub fn repaired(dir: &Path) -> Option<Moment> {
    let text = std::fs::read_to_string(path(dir)).unwrap_or_default();
    let moment = |line: &str| {
        let line: RepairLine = serde_json::from_str(line).ok()?;
        Moment::parse(&line.repaired, Moment::EPOCH).ok()
    };
    text.lines().filter_map(moment).max()
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

fn write_line(dir: &Path, line: &impl Serialize) -> Result<()> {
    let path = path(dir);
    let wrong = |error: std::io::Error| Error::Failed(format!("write {}: {error}", path.display()));
    let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(wrong)?;
    let text = serde_json::to_string(line).map_err(Error::failed)?;
    file.write_all(format!("{text}\n").as_bytes()).map_err(wrong)
}

/// The promises in order of time. A torn or strange line is left out: the audit is then stricter, never looser.
pub fn read(dir: &Path) -> Vec<Politeness> {
    let text = std::fs::read_to_string(path(dir)).unwrap_or_default();
    let politeness = |line: &str| {
        let line: Line = serde_json::from_str(line).ok()?;
        let started = Moment::parse(&line.started, Moment::EPOCH).ok()?;
        Some(Politeness { started, delay: Span::from_micros(line.delay_us), per_site: line.per_site })
    };
    let mut promises: Vec<Politeness> = text.lines().filter_map(politeness).collect();
    promises.sort_by_key(|politeness| politeness.started);
    promises
}

/// The settings of the last run; `None` where the book has none.
pub fn settings_of_last_run(dir: &Path) -> Option<RunSettings> {
    let text = std::fs::read_to_string(path(dir)).ok()?;
    text.lines().rev().find_map(|line| serde_json::from_str::<Line>(line).ok()?.settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> RunSettings {
        RunSettings {
            budget: "5/day".into(),
            policy: "round-robin".into(),
            allow_private: true,
            strict: false,
            strict_sites: Vec::new(),
            promises: vec!["tag:news at_least_every=1h".into()],
            body_max: 8 << 20,
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
        assert_eq!((read(dir.path()).len(), settings_of_last_run(dir.path())), (1, None));
        std::fs::remove_file(path(dir.path())).unwrap();
        append(dir.path(), politeness, settings()).unwrap();
        std::fs::OpenOptions::new().append(true).open(path(dir.path())).unwrap().write_all(b"{torn").unwrap();
        assert_eq!(read(dir.path()), [politeness]);
        assert_eq!(repaired(dir.path()), None);
        assert_eq!(settings_of_last_run(dir.path()), Some(settings()));
    }

    #[test]
    fn a_repair_is_noted_beside_the_promises() {
        let dir = tempfile::tempdir().unwrap();
        let politeness = Politeness { started: Moment::from_secs(7), delay: Span::from_millis(50), per_site: 2 };
        append(dir.path(), politeness, settings()).unwrap();
        note_repair(dir.path(), Moment::from_secs(9)).unwrap();
        assert_eq!((read(dir.path()), repaired(dir.path())), (vec![politeness], Some(Moment::from_secs(9))));
    }
}
