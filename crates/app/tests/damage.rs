//! Damage with the real binary: caches make themselves anew, a journal is mended from the tables, and a read that cannot give
//! all says so by its exit code, by URL and by version.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{assert_sound, crawl_until_idle, json_lines, output, refused, run, small_web, told, vernal};
use serde_json::Value;

/// A crawled folder, closed twice, so that the log of the store is emptied.
fn crawled(dir: &Path) -> PathBuf {
    let (data, served) = (dir.join("data"), small_web());
    crawl_until_idle(&data, &served);
    told(vernal(&data).arg("status"));
    data
}

/// What a stranger reads of everything.
fn everything(data: &Path) -> Vec<String> {
    let ask = |arguments: &[&str]| told(vernal(data).args(arguments).arg("--json"));
    let mut all = vec![
        ask(&["changes"]),
        ask(&["changes", "--pages"]),
        ask(&["pages", "--sort", "url"]),
        ask(&["sites"]),
        ask(&["seeds", "list"]),
    ];
    for page in json_lines(&ask(&["pages", "--sort", "url"])).iter().take(6) {
        let url = page["url"].as_str().unwrap();
        all.push(ask(&["links", url, "--back"]));
        all.push(ask(&["history", url]));
        all.push(told(vernal(data).args(["cat", url])));
    }
    all
}

fn flip(path: &Path, place: impl Fn(usize) -> usize) {
    let mut bytes = fs::read(path).unwrap();
    let at = place(bytes.len());
    bytes[at] ^= 4;
    fs::write(path, bytes).unwrap();
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn segment(data: &Path) -> PathBuf {
    files(&data.join("bodies")).remove(0)
}

#[test]
fn a_damaged_cache_is_made_anew_by_whoever_meets_it() {
    let dir = tempfile::tempdir().unwrap();
    let data = crawled(dir.path());
    let before = everything(&data);
    let pages = data.join("tables/keyspaces");
    let mut largest = files(&pages);
    largest.sort_by_key(|path| std::cmp::Reverse(fs::metadata(path).unwrap().len()));
    for path in largest.iter().take(3) {
        flip(path, |length| length / 2);
        let asked = output(vernal(&data).args(["changes", "--json"]));
        assert!(asked.status.success() && String::from_utf8(asked.stdout).unwrap() == before[0], "{}", path.display());
        assert!(String::from_utf8_lossy(&asked.stderr).contains("made anew from the journal"));
        assert_sound(&data);
    }
    for command in [vec!["compact"], vec!["verify", "--repair"], vec!["status"]] {
        let path = files(&data.join("known")).remove(0);
        flip(&path, |length| length / 2);
        told(vernal(&data).args(&command));
    }
    assert_eq!(everything(&data), before);
}

#[test]
fn tables_that_only_a_read_finds_damaged_are_told_once_and_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let data = crawled(dir.path());
    let before = everything(&data);
    let mut largest = files(&data.join("tables/keyspaces"));
    largest.sort_by_key(|path| std::cmp::Reverse(fs::metadata(path).unwrap().len()));
    let mut told_by_reads = 0;
    for path in largest.iter().take(4).filter(|path| path.exists()) {
        flip(path, |length| length / 2);
        // After a crash nobody wrote down what the files were.
        fs::remove_file(data.join("tables/closed")).unwrap();
        let first = output(vernal(&data).arg("verify"));
        let complaint = String::from_utf8_lossy(&first.stderr).into_owned();
        if !first.status.success() {
            assert!(complaint.contains("made anew from the journal at the next opening"), "{complaint}");
            told_by_reads += 1;
        }
        assert_sound(&data);
        assert_eq!(everything(&data), before, "{}", path.display());
    }
    assert!(told_by_reads > 0, "no fault was met by a read");
}

#[test]
fn a_damaged_format_is_written_anew_and_a_repair_leaves_the_journal_alone() {
    let dir = tempfile::tempdir().unwrap();
    let data = crawled(dir.path());
    let before = everything(&data);
    let journal = fs::read(data.join("journal/00000001.log")).unwrap();
    flip(&data.join("FORMAT"), |length| length - 20);
    let repaired: Value = serde_json::from_str(&told(vernal(&data).args(["verify", "--repair", "--json"]))).unwrap();
    assert_eq!(repaired["repair"]["done"], "nothing", "{repaired}");
    assert_eq!(fs::read(data.join("journal/00000001.log")).unwrap(), journal);
    fs::remove_file(data.join("FORMAT")).unwrap();
    assert_eq!(everything(&data), before);
    assert_eq!(fs::read(data.join("FORMAT")).unwrap(), fs::read(data.join("FORMAT.copy")).unwrap());
}

#[test]
fn a_damaged_journal_is_mended_from_the_tables_and_says_what_came_from_where() {
    let dir = tempfile::tempdir().unwrap();
    let data = crawled(dir.path());
    let before = everything(&data);
    let journal = data.join("journal/00000001.log");
    flip(&journal, |length| length / 2);
    let damaged = fs::read(&journal).unwrap();
    let (code, complaint) = refused(vernal(&data).arg("verify"));
    assert!(code == 1 && complaint.contains("00000001.log"), "{code} {complaint}");
    let verdict: Value = serde_json::from_str(&told(vernal(&data).args(["verify", "--repair", "--json"]))).unwrap();
    let repair = &verdict["repair"];
    assert_eq!((&repair["done"], &verdict["sound"]), (&"mended".into(), &true.into()), "{verdict}");
    assert!(repair["deeds_from_tables"].as_u64() > Some(0) && repair["deeds_from_journal"].as_u64() > Some(0));
    let aside = Path::new(repair["aside"].as_str().unwrap()).join("journal/00000001.log");
    assert_eq!(fs::read(aside).unwrap(), damaged, "what was damaged is kept for people");
    assert_eq!(everything(&data), before, "every event, every page, every visit");
    // The mended journal stands by itself.
    fs::remove_dir_all(data.join("tables")).unwrap();
    assert_eq!(everything(&data), before);
    // A lost one is mended too.
    fs::remove_dir_all(data.join("journal")).unwrap();
    let (code, complaint) = refused(vernal(&data).arg("status"));
    assert!(code == 1 && complaint.contains("vernal verify --repair"), "{code} {complaint}");
    told(vernal(&data).args(["verify", "--repair"]));
    assert_eq!(everything(&data), before);
}

#[test]
fn a_read_that_cannot_give_all_goes_on_and_says_so_by_url_version_and_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let data = crawled(dir.path());
    let asked = ["changes", "--json"];
    let before = json_lines(&told(vernal(&data).args(asked)));
    let pages = json_lines(&told(vernal(&data).args(["pages", "--json"])));
    // A place may belong to a robots.txt, which no event needs.
    let needed = (4..8).find(|eighth| {
        flip(&segment(&data), |length| length * eighth / 8);
        let is_needed = !output(vernal(&data).args(asked)).status.success();
        if !is_needed {
            flip(&segment(&data), |length| length * eighth / 8);
        }
        is_needed
    });
    assert!(needed.is_some());
    let (code, complaint) = refused(vernal(&data).args(asked));
    assert!(code == 1 && complaint.contains("read version 1 of http://"), "{code} {complaint}");
    let rows = json_lines(&String::from_utf8(output(vernal(&data).args(asked)).stdout).unwrap());
    assert_eq!(rows.len(), before.len(), "the list goes on");
    let unread: Vec<&Value> = rows.iter().filter(|row| !row["unread"].is_null()).collect();
    assert!(!unread.is_empty() && unread.len() < rows.len());
    for (row, whole) in rows.iter().zip(&before) {
        assert!(row == whole || row["unread"].as_str().unwrap().contains(row["url"].as_str().unwrap()), "{row}");
    }
    let lost = unread[0]["url"].as_str().unwrap();
    let (code, complaint) = refused(vernal(&data).args(["cat", lost]));
    assert!(code == 1 && complaint.contains(&format!("read version 1 of {lost}")), "{code} {complaint}");
    let is_told = |url: &str| {
        let answer = output(vernal(&data).args(["links", url, "--back", "--json"]));
        let text = String::from_utf8(answer.stdout).unwrap();
        let missing = json_lines(&text).iter().any(|row| row["source"] == lost);
        assert_eq!(answer.status.success(), !missing, "{text}");
        missing
    };
    assert!(pages.iter().filter(|page| is_told(page["url"].as_str().unwrap())).count() > 0);
    let (code, complaint) = refused(vernal(&data).arg("verify"));
    assert!(code == 1 && complaint.contains(lost), "{code} {complaint}");
}

#[test]
fn without_its_last_segment_the_history_stays_and_the_crawl_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let data = crawled(dir.path());
    let pages = told(vernal(&data).args(["pages", "--json"]));
    fs::remove_file(segment(&data)).unwrap();
    let status = output(vernal(&data).args(["status", "--json"]));
    assert!(status.status.success() && String::from_utf8_lossy(&status.stderr).contains("segment 1 is not here"));
    assert_eq!(told(vernal(&data).args(["pages", "--json"])), pages);
    let (code, complaint) = refused(vernal(&data).arg("verify"));
    assert!(code == 1 && complaint.contains("version 1 of http://"), "{code} {complaint}");
    let served = small_web();
    told(run(&data).arg("--until-idle").args(served.seeds()));
}

#[test]
fn a_lost_body_is_marked_and_its_page_is_asked_for_again() {
    let dir = tempfile::tempdir().unwrap();
    let (data, served) = (dir.path().join("data"), small_web());
    crawl_until_idle(&data, &served);
    let read = |arguments: &[&str]| told(vernal(&data).args(arguments).arg("--json"));
    let urls: Vec<String> = json_lines(&read(&["pages", "--state", "held"]))
        .iter()
        .map(|page| page["url"].as_str().unwrap().to_owned())
        .collect();
    let bodies = || urls.iter().map(|url| told(vernal(&data).args(["cat", url]))).collect::<Vec<_>>();
    let (before, events) = (bodies(), read(&["changes"]));
    fs::remove_file(segment(&data)).unwrap();
    let verdict: Value = serde_json::from_str(&read(&["verify", "--repair"])).unwrap();
    let lost = verdict["repair"]["lost_bodies"].as_array().unwrap().len();
    assert_eq!((lost, verdict["versions_lost"].as_u64()), (urls.len(), Some(lost as u64)), "{verdict}");
    let (code, complaint) = refused(vernal(&data).args(["cat", &urls[0]]));
    assert!(code == 1 && complaint.contains("its record was lost"), "{code} {complaint}");
    let versions = |url: &str| json_lines(&read(&["history", url]));
    assert_eq!(versions(&urls[0]).len(), 1, "its history stays");
    // Nobody waits for the hour in which no page is visited twice.
    crawl_until_idle(&data, &served);
    assert_eq!(bodies(), before);
    assert_eq!(read(&["changes"]), events, "the same bytes are no change");
    assert_eq!(versions(&urls[0]).len(), 2, "the bytes that were kept again are a version");
    assert_eq!(told(vernal(&data).args(["cat", &urls[0], "--version", "1"])), before[0]);
    assert_sound(&data);
}

#[test]
fn a_lost_book_of_runs_makes_no_breach_of_politeness() {
    let dir = tempfile::tempdir().unwrap();
    let data = crawled(dir.path());
    fs::remove_file(data.join("runs.jsonl")).unwrap();
    assert_sound(&data);
    fs::remove_file(data.join("runs.copy.jsonl")).unwrap();
    let (code, complaint) = refused(vernal(&data).arg("verify"));
    assert!(code == 1 && complaint.contains("runs.jsonl is lost") && complaint.contains(" 0 breaches"), "{complaint}");
    told(vernal(&data).args(["verify", "--repair"]));
    assert!(assert_sound(&data)["visits_unjudged"].as_u64() > Some(0));
}
