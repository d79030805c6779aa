//! The book of runs: which politeness each run promised, so that the audit judges each visit by the promise of its day.
//!
//! ```text
//! DIR/runs.jsonl   one JSON object per line: {"started":RFC 3339,"delay_us":N,"per_site":N,"version":"0.1.0"}
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
}

/// What one run promised from its start to the start of the next.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    pub started: Moment,
    pub delay: Span,
    pub per_site: u16,
}

fn path(dir: &Path) -> PathBuf {
    dir.join("runs.jsonl")
}

pub fn append(dir: &Path, promise: Promise) -> Result<()> {
    let line = Line {
        started: promise.started.rfc3339(),
        delay_us: promise.delay.micros(),
        per_site: promise.per_site,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let path = path(dir);
    let wrong = |error: std::io::Error| Error::Failed(format!("write {}: {error}", path.display()));
    let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(wrong)?;
    let text = serde_json::to_string(&line).map_err(Error::failed)?;
    file.write_all(format!("{text}\n").as_bytes()).map_err(wrong)
}

/// The promises in order of time. A torn or strange line is left out: the audit is then stricter, never looser.
pub fn read(dir: &Path) -> Vec<Promise> {
    let text = std::fs::read_to_string(path(dir)).unwrap_or_default();
    let promise = |line: &str| {
        let line: Line = serde_json::from_str(line).ok()?;
        let started = Moment::parse(&line.started, Moment::EPOCH).ok()?;
        Some(Promise { started, delay: Span::from_micros(line.delay_us), per_site: line.per_site })
    };
    let mut promises: Vec<Promise> = text.lines().filter_map(promise).collect();
    promises.sort_by_key(|promise| promise.started);
    promises
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_promised_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let promise = Promise { started: Moment::from_secs(7), delay: Span::from_millis(50), per_site: 2 };
        append(dir.path(), promise).unwrap();
        std::fs::OpenOptions::new().append(true).open(path(dir.path())).unwrap().write_all(b"{torn").unwrap();
        assert_eq!(read(dir.path()), [promise]);
    }
}
