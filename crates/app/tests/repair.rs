//! `verify --repair` and `compact` with the real binary: what is lost comes back, and what a rule lets go is gone.

mod common;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use common::{Running, crawl_until_idle, json_lines, refused, run, small_web, told, vernal};
use serde_json::Value;
use vernal_model::Moment;
use vernal_simulator::serve::{ServeOptions, serve};
use vernal_simulator::web::{Web, WebSettings};

fn json(data: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&told(vernal(data).args(arguments).arg("--json"))).expect("the answer is JSON")
}

/// What a stranger can read of every page: its state, its versions and the body of the newest.
fn everything(data: &Path) -> Vec<(String, Value, String)> {
    let mut all = Vec::new();
    for page in json_lines(&told(vernal(data).args(["pages", "--json", "--sort", "url"]))) {
        let url = page["url"].as_str().expect("a page has a URL").to_owned();
        let body = told(vernal(data).args(["cat", &url]));
        let links = told(vernal(data).args(["links", "--json", &url]));
        all.push((url, page["state"].clone(), body + &links));
    }
    all
}

#[test]
fn a_folder_without_journal_and_tables_is_restored_from_its_segments() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    let before = everything(&data);
    for part in ["journal", "tables", "known"] {
        fs::remove_dir_all(data.join(part)).unwrap();
    }
    for _ in 0..2 {
        let (code, complaint) = refused(vernal(&data).arg("verify"));
        assert!(code == 1 && complaint.contains("the journal is lost"), "{code} {complaint}");
    }
    let verdict = json(&data, &["verify", "--repair"]);
    let repair = &verdict["repair"];
    assert_eq!((&verdict["sound"], &repair["done"]), (&true.into(), &"restored".into()), "{verdict}");
    assert_eq!((&repair["pages"], &repair["records_lost"]), (&before.len().into(), &0.into()), "{verdict}");
    assert!(repair["lost"].as_array().unwrap().iter().any(|line| line.as_str().unwrap().contains("seeds")));
    assert_eq!(everything(&data), before);
    assert_eq!(json(&data, &["verify", "--repair"])["repair"]["done"], "nothing");
    // The crawl goes on where its seeds are given again.
    told(run(&data).arg("--until-idle").args(served.seeds()));
    assert_eq!(everything(&data), before);
    assert_eq!(json(&data, &["verify"])["sound"], true);
}

#[test]
fn a_damaged_journal_is_named_by_verify_and_its_seeds_are_saved_by_the_repair() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    let before = everything(&data);
    let journal = data.join("journal/00000001.log");
    let mut bytes = fs::read(&journal).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&journal, &bytes).unwrap();
    let (code, complaint) = refused(vernal(&data).arg("verify"));
    assert!(code == 1 && complaint.contains("00000001.log"), "{code} {complaint}");
    // Without tables the repository does not even open, and the damage is named all the same.
    fs::remove_dir_all(data.join("tables")).unwrap();
    let (code, complaint) = refused(vernal(&data).arg("verify"));
    assert!(code == 1 && complaint.contains("00000001.log") && complaint.contains("--repair"), "{code} {complaint}");
    let repair = json(&data, &["verify", "--repair"])["repair"].clone();
    assert_eq!((&repair["done"], &repair["seeds_saved"]), (&"restored".into(), &2.into()), "{repair}");
    assert_eq!(everything(&data), before);
    let aside = Path::new(repair["aside"].as_str().unwrap()).join("journal/00000001.log");
    assert_eq!(fs::read(aside).unwrap(), bytes, "nothing is deleted");
}

#[test]
fn a_running_crawl_is_neither_repaired_nor_compacted() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    let running = Running::start(run(&data).args(served.seeds()), &data);
    for question in [vec!["verify", "--repair"], vec!["compact"]] {
        let (code, complaint) = refused(vernal(&data).args(&question));
        assert!(code == 1 && complaint.contains("stop it first"), "{question:?}: {code} {complaint}");
    }
    assert_eq!(running.stop(), Some(0));
}

#[test]
fn compact_shortens_the_journal_unless_the_last_run_keeps_it() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let served = small_web();
    told(run(&data).args(["--until-idle", "--journal", "keep"]).args(served.seeds()));
    let before = everything(&data);
    let begins_after = || json(&data, &["verify"])["journal_begins_after"].as_u64().unwrap();
    json(&data, &["compact"]);
    assert_eq!(begins_after(), 0);
    let done = json(&data, &["compact", "--journal", "archive"]);
    assert!(begins_after() > 0 && data.join("journal.archive/00000001.log").exists(), "{done}");
    fs::remove_dir_all(data.join("tables")).unwrap();
    assert_eq!(everything(&data), before, "the checkpoint stands by itself");
    crawl_until_idle(&data, &served);
    json(&data, &["compact"]);
    assert!(!data.join("journal.archive/00000002.log").exists(), "the last run drops what is replaced");
    assert_eq!(refused(vernal(&data).args(["compact", "--journal", "burn"])).0, 2);
    common::assert_sound(&data);
}

#[test]
fn compact_lets_old_versions_go_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let web = Web::new(WebSettings::plain(1, 12)).expect("the web can be made");
    let hour = Arc::new(AtomicI64::new(1_800_000_000));
    let clock = Arc::clone(&hour);
    let now = Arc::new(move || Moment::from_secs(clock.load(Ordering::Relaxed)));
    let served = serve(&web, now, &ServeOptions::default()).expect("loopback is there");
    crawl_until_idle(&data, &served);
    for _ in 0..4 {
        hour.fetch_add(40 * 86_400, Ordering::Relaxed);
        told(run(&data).args(["--until-idle", "--refresh-min", "0s", "--budget", "1000000/s"]));
    }
    let pages = json_lines(&told(vernal(&data).args(["pages", "--json"])));
    let versions: u64 = json(&data, &["status"])["versions"].as_u64().unwrap();
    assert!(versions > pages.len() as u64, "pages changed");
    let before = everything(&data);
    assert_eq!(json(&data, &["compact"])["versions_dropped"], 0);
    let done = json(&data, &["compact", "--keep-versions", "1"]);
    assert_eq!(done["versions_dropped"].as_u64(), Some(versions - pages.len() as u64), "{done}");
    assert!(done["segment_bytes_after"].as_u64() < done["segment_bytes_before"].as_u64(), "{done}");
    assert_eq!(everything(&data), before);
    let verdict = json(&data, &["verify", "--deep"]);
    assert_eq!((&verdict["sound"], &verdict["tables_compared"]), (&true.into(), &true.into()), "{verdict}");
    let changed = pages.iter().filter_map(|page| page["url"].as_str()).find_map(|url| {
        let output = common::output(vernal(&data).args(["cat", "--version", "1", url]));
        (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
    });
    assert!(changed.is_some_and(|complaint| complaint.contains("given up by `compact`")), "an old body says so");
    let (code, _) = refused(vernal(&data).args(["compact", "--keep-for", "soon"]));
    assert_eq!(code, 2);
}
