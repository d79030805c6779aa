//! What is forgotten is in no file any more, on a stopped folder and on one that is crawled, and nothing else is touched.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::edited::{Edited, visit};
use common::{Running, assert_sound, json_lines, refused, run, told, vernal, wait_until};
use serde_json::Value;
use vernal_repository::bodies::{scan, segments};

/// A word of the page alone.
const WORD: &str = "xylophonist";

fn page(title: &str, words: &str) -> String {
    format!("<html lang=en><head><title>{title}</title></head><body><main>{words}</main></body></html>")
}

fn secret(turn: usize) -> String {
    let rest = "<p>A paragraph that stays as it is in every version of this page.</p>";
    page(&format!("The {WORD}"), &format!("<p>The {WORD} of version {turn} plays in the yard.</p>{rest}"))
}

/// A folder with a page that had several versions, all events and a text index.
fn crawled(data: &Path) -> (Edited, String) {
    let start = page("Start", "<p>The way into <a href=/secret>the yard</a> and <a href=/other>elsewhere</a>.</p>");
    let other = page("Other", "<p>Nothing of all that is told here, in the <a href=/secret>yard</a> neither.</p>");
    let web = Edited::serve(&[("/", start), ("/secret", secret(1)), ("/other", other)]);
    let url = web.url("/secret");
    visit(data, &web.url("/"));
    for turn in 2..5 {
        web.edit("/secret", secret(turn));
        visit(data, &web.url("/"));
    }
    let versions = json_lines(&told(vernal(data).args(["history", &url, "--json"])));
    assert!(versions.iter().filter(|visit| !visit["version"].is_null()).count() > 2, "{versions:?}");
    assert!(hits(data, "--past") > 0 && told(vernal(data).args(["changes", "--json"])).contains(WORD));
    (web, url)
}

fn hits(data: &Path, how: &str) -> u64 {
    json_lines(&told(vernal(data).args(["search", WORD, how, "--json"])))[0]["total"].as_u64().unwrap()
}

/// What a stranger reads of the other pages.
fn others(data: &Path, web: &Edited) -> Vec<String> {
    let mut all = Vec::new();
    for path in ["/", "/other"] {
        let url = web.url(path);
        for verb in ["history", "blame"] {
            all.push(told(vernal(data).args([verb, &url, "--json"])));
        }
        // How long it waits and the state of what it links to depend on which pages are held.
        let row: Value = serde_json::from_str(&told(vernal(data).args(["page", &url, "--json"]))).unwrap();
        all.extend(["version", "visits", "changes", "newest", "document"].map(|name| row[name].to_string()));
        let links = json_lines(&told(vernal(data).args(["links", &url, "--json"])));
        all.extend(links.iter().map(|link| format!("{} {}", link["url"], link["text"])));
        all.push(told(vernal(data).args(["cat", &url])));
        let events = json_lines(&told(vernal(data).args(["changes", "--json", "--prefix", &url])));
        all.extend(events.iter().filter(|event| event["url"] == url).map(Value::to_string));
    }
    all
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

/// The files that have the word, raw or unpacked.
fn with_word(data: &Path) -> Vec<String> {
    let has = |bytes: &[u8]| {
        let lower = bytes.to_ascii_lowercase();
        lower.windows(WORD.len()).any(|window| window == WORD.as_bytes())
    };
    let mut found: Vec<String> = Vec::new();
    for path in files(data).into_iter().filter(|path| path.is_file()) {
        if has(&fs::read(&path).unwrap()) {
            found.push(path.display().to_string());
        }
    }
    for file in segments(data).unwrap() {
        for item in scan(&file.path).unwrap() {
            let record = item.unwrap().record;
            if has(&record.block) || has(format!("{:?}", record.headers).as_bytes()) {
                found.push(format!("a record of {}", file.path.display()));
            }
        }
    }
    found
}

#[test]
fn no_file_of_a_stopped_folder_has_a_word_of_a_forgotten_page() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let (web, url) = crawled(&data);
    assert!(with_word(&data).len() > 2, "they have it before");
    let before = others(&data, &web);
    let would: Value =
        serde_json::from_str(&told(vernal(&data).args(["forget", &url, "--dry-run", "--json"]))).unwrap();
    assert!(would["pages"] == 1 && would["versions"].as_u64() > Some(2) && would["dry_run"] == true, "{would:#}");
    assert!(hits(&data, "--past") > 0, "a dry run erases nothing");
    let done = told(vernal(&data).args(["forget", &url, "--reason", "asked by letter", "--json"]));
    let done: Value = serde_json::from_str(&done).unwrap();
    assert_eq!((&done["versions"], &done["entries"][0]["id"]), (&would["versions"], &1.into()), "{done:#}");
    assert_eq!(done["rewriting"]["done"], true, "{done:#}");
    assert_eq!(with_word(&data), Vec::<String>::new());
    assert_eq!(others(&data, &web), before);
    for how in ["--past", "--removed"] {
        assert_eq!(hits(&data, how), 0, "{how}");
    }
    assert_eq!(with_word(&data), Vec::<String>::new(), "nobody who asks brings it back");
    assert_sound(&data);
    let (code, line) = refused(vernal(&data).args(["page", &url]));
    assert!(code == 1 && line.contains("forgotten (entry 1 of the ledger)"), "{line}");
    let events = json_lines(&told(vernal(&data).args(["changes", "--json"])));
    let of_it: Vec<&Value> = events.iter().filter(|event| event["url"] == url.as_str()).collect();
    assert!(of_it.len() > 3 && of_it.iter().all(|event| event["event"] == "erased"), "{of_it:#?}");

    // Links lead there still, and a person who forgot it is told.
    visit(&data, &web.url("/"));
    assert_eq!(with_word(&data), Vec::<String>::new());
    let (code, line) = refused(vernal(&data).args(["seeds", "add", &url]));
    assert!(code != 0 && line.contains("vernal forget --undo 1"), "{line}");
    let (code, line) = refused(run(&data).args(["--until-idle", &url]));
    assert!(code != 0 && line.contains("vernal forget --undo 1"), "{line}");

    let ledger = json_lines(&told(vernal(&data).args(["forget", "--list", "--json"])));
    assert_eq!(
        (&ledger[0]["reason"], &ledger[0]["of"], &ledger[0]["lifted"]),
        (&"asked by letter".into(), &url.as_str().into(), &Value::Null)
    );
    told(vernal(&data).args(["forget", "--undo", "1"]));
    let (code, line) = refused(vernal(&data).args(["forget", "--undo", "1"]));
    assert!(code == 1 && line.contains("no entry 1 in force"), "{line}");
    visit(&data, &web.url("/"));
    let again = json_lines(&told(vernal(&data).args(["history", &url, "--json"])));
    assert!(again.iter().any(|visit| visit["version"]["number"] == 1), "it begins anew: {again:#?}");
}

#[test]
fn a_running_crawl_forgets_at_once_and_rewrites_its_files_beside() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let (web, url) = crawled(&data);
    let mut command = run(&data);
    command.args(["--refresh-min", "0s", "--budget", "1000000/s"]);
    let running = Running::start(&mut command, &data);
    let done =
        told(vernal(&data).args(["forget", "--prefix", &url, "--reason", "asked by letter", "--wait", "--json"]));
    let done: Value = serde_json::from_str(&done).unwrap();
    assert_eq!((&done["pages"], &done["rewriting"]["done"]), (&1.into(), &true.into()), "{done:#}");
    wait_until("the index has heard of it", || {
        let answer = common::output(vernal(&data).args(["search", WORD, "--past", "--json"]));
        answer.status.success() && json_lines(&String::from_utf8(answer.stdout).unwrap())[0]["total"] == 0
    });
    let status: Value = serde_json::from_str(&told(vernal(&data).args(["status", "--json"]))).unwrap();
    assert_eq!(status["forgotten"]["done"], true);
    web.edit("/", page("Start", "<p>Another way into <a href=/secret>the yard</a> was found.</p>"));
    wait_until("the crawl goes on", || told(vernal(&data).args(["cat", &web.url("/")])).contains("Another way"));
    assert_eq!(running.stop(), Some(0));
    // What a crawl that was stopped left to others.
    told(vernal(&data).arg("compact"));
    assert_eq!(with_word(&data), Vec::<String>::new());
    assert_sound(&data);
}

#[test]
fn what_is_asked_wrongly_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let web = Edited::serve(&[("/", page("Start", "<p>Nothing leads from here.</p>"))]);
    visit(&data, &web.url("/"));
    for (arguments, code, says) in [
        (&["forget"][..], 2, "URL"),
        (&["forget", "no url", "--reason", "r"], 2, "no url"),
        (&["forget", "http://a.example/"], 2, "--reason"),
        (&["forget", "http://a.example/", "--site", "a.example", "--reason", "r"], 2, "--site"),
        (&["forget", "--undo", "0"], 2, "numbered from 1"),
        (&["forget", "--undo", "3"], 1, "no entry 3 in force"),
        (&["forget", "http://a.example/", "--reason", " "], 2, "reason"),
    ] {
        let (found, line) = refused(vernal(&data).args(arguments));
        assert!(found == code && line.contains(says), "{arguments:?}: {found} {line}");
    }
    let done = told(vernal(&data).args(["forget", "http://never.example/held", "--reason", "r", "--json"]));
    let done: Value = serde_json::from_str(&done).unwrap();
    assert_eq!((&done["pages"], &done["entries"][0]["rule"]), (&0.into(), &"page".into()), "it is barred all the same");
    assert_sound(&data);
}
