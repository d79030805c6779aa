//! Outside judges read what a whole crawl has written: checks, index and replay by other people's tools.
//!
//! `VERNAL_JUDGES` names the `bin` folder of a Python environment with warcio 1.8.1, cdxj-indexer 1.5.0 and pywb 2.10.0.
//! Without it the judges are skipped, and that is said; where `CI` is set their absence is a failure.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::replay::Replay;
use common::{assert_sound, invented, json_lines, output, told, vernal};
use serde_json::Value;
use tempfile::TempDir;
use vernal_simulator::serve::Served;
use vernal_simulator::web::{Shares, WebSettings};

fn judges() -> Option<PathBuf> {
    match std::env::var_os("VERNAL_JUDGES") {
        Some(folder) => Some(folder.into()),
        None if std::env::var_os("CI").is_some() => panic!("VERNAL_JUDGES must name the judges here"),
        None => {
            eprintln!("skipped: VERNAL_JUDGES does not name a folder with warcio, cdxj-indexer and pywb");
            None
        }
    }
}

/// A web with everything but traps, and two passes over it: responses, redirects, errors and both kinds of revisit.
struct Crawled {
    _dir: TempDir,
    data: PathBuf,
    exported: PathBuf,
}

impl Crawled {
    fn new() -> Crawled {
        let served = served();
        let dir = tempfile::tempdir().unwrap();
        let (data, exported) = (dir.path().join("data"), dir.path().join("exported/"));
        told(run(&data).args(served.seeds()));
        told(run(&data).args(["--refresh-min", "0s", "--budget", "1000000/s"]));
        assert!(served.counts().not_modified > 0, "the second pass is conditional");
        let verdict = assert_sound(&data);
        assert!(verdict["revisits"].as_u64() > Some(50), "{verdict}");
        told(vernal(&data).args(["export", "warc", "--out"]).arg(&exported));
        Crawled { _dir: dir, data, exported }
    }

    /// The segments that are whole, and all of them as they are exported.
    fn archives(&self) -> Vec<PathBuf> {
        let files = |folder: &Path| -> Vec<PathBuf> {
            let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            files.filter(|path| path.extension().is_some_and(|ending| ending == "gz")).collect()
        };
        let sealed = files(&self.data.join("bodies"));
        assert!(sealed.len() > 2, "several segments were sealed: {sealed:?}");
        sealed.into_iter().chain(files(&self.exported)).collect()
    }
}

/// The hour stands still, so that a page without validators has the same bytes when it is read again.
fn served() -> Served {
    let share = Shares { busy: 0.0, trap_sites: 0.0, uncompressed_sites: 0.3, ..Shares::realistic() };
    invented(WebSettings { share, ..WebSettings::realistic(4, 40) }.still())
}

/// A fast hour, so that retries pass quickly and no two visits to a page share a second of the archive's time.
fn run(data: &Path) -> Command {
    let mut command = vernal(data);
    command.args(["run", "-q", "--allow-private", "--no-serve", "--until-idle"]);
    command.args(["--time-scale", "600", "--delay", "2s", "--segment-max", "100kB"]);
    command
}

fn judged(command: &mut Command) -> String {
    let output = output(command);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    out.into_owned()
}

#[test]
fn other_peoples_tools_read_what_a_crawl_has_written() {
    let Some(judges) = judges() else { return };
    let crawled = Crawled::new();
    let archives = crawled.archives();
    check(&judges, &archives);
    index(&judges, &crawled);
    replay(&judges, &crawled);
}

/// No digest of any record is wrong, and each but those of revisits, whose payload lies elsewhere, was looked at.
fn check(judges: &Path, archives: &[PathBuf]) {
    let said = judged(Command::new(judges.join("warcio")).args(["check", "-v"]).args(archives));
    let verdicts: Vec<&str> = said.lines().map(str::trim).filter(|line| line.starts_with("digest")).collect();
    let passed = verdicts.iter().filter(|&&verdict| verdict == "digest pass").count();
    let wrong: Vec<&&str> = verdicts.iter().filter(|verdict| verdict.contains("fail")).collect();
    assert!(wrong.is_empty(), "{said}");
    assert!(passed > verdicts.len() / 2, "{passed} of {} digests were checked", verdicts.len());
}

fn index(judges: &Path, crawled: &Crawled) {
    let ours = told(vernal(&crawled.data).args(["export", "cdxj", "--out", "-"]));
    let archives: Vec<PathBuf> =
        crawled.archives().into_iter().filter(|path| path.starts_with(&crawled.exported)).collect();
    let theirs = judged(Command::new(judges.join("cdxj-indexer")).arg("-s").args(&archives));
    let (ours, theirs) = (captures(&ours), captures(&theirs));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}

/// Key, time and fields of each capture, sorted.
fn captures(index: &str) -> Vec<String> {
    let capture = |line: &str| {
        let (key, rest) = line.split_once(' ').unwrap();
        let (time, fields) = rest.split_once(' ').unwrap();
        let fields: BTreeMap<String, Value> = serde_json::from_str(fields).unwrap();
        let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
        let fields = ["url", "mime", "status", "digest", "length", "offset", "filename"].map(field);
        format!("{key} {time} {fields:?}")
    };
    let mut captures: Vec<String> = index.lines().map(capture).collect();
    captures.sort();
    captures
}

/// Each visit to some pages that gave a body or confirmed one is replayed as received.
fn replay(judges: &Path, crawled: &Crawled) {
    let home = tempfile::tempdir().unwrap();
    judged(Command::new(judges.join("wb-manager")).args(["init", "kept"]).current_dir(home.path()));
    let exported = crawled.archives().into_iter().filter(|path| path.starts_with(&crawled.exported));
    judged(Command::new(judges.join("wb-manager")).args(["add", "kept"]).args(exported).current_dir(home.path()));
    let replay = Replay::start(judges, home.path());
    let pages = json_lines(&told(vernal(&crawled.data).args(["pages", "--json", "--state", "held"])));
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut packed = 0;
    for page in pages.iter().filter(|page| page["visits"] == 2).take(40) {
        let url = page["url"].as_str().unwrap();
        let visits = json_lines(&told(vernal(&crawled.data).args(["history", url, "--json"])));
        if visits.iter().any(|visit| visit["record"].is_null()) {
            continue; // it asked not to be archived
        }
        seen.insert(visits[0]["outcome"].to_string());
        let kept = output(vernal(&crawled.data).args(["cat", "--raw", url]));
        assert!(kept.status.success() && !kept.stdout.is_empty(), "{url}");
        for visit in &visits {
            let (head, body) = replay.ask(visit["started"].as_str().unwrap(), url);
            assert!(
                body == kept.stdout,
                "{url} of {}: {} bytes for {}\n{head}",
                visit["started"],
                body.len(),
                kept.stdout.len()
            );
            packed += usize::from(head.contains("content-encoding: gzip"));
        }
    }
    assert!(seen.len() == 2, "a page confirmed by 304 and one by its bytes were replayed: {seen:?}");
    assert!(packed > 0, "some bodies were replayed as packed as they came");
}
