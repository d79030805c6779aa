//! Exports with the real binary: a running and a stopped crawl give the same, folders are brought up to date, nothing is left half.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use common::edited::{Edited, visit};
use common::{Running, json_lines, output, refused, run, told, vernal, wait_until};
use serde_json::Value;

fn page(title: &str, paragraphs: &[&str]) -> String {
    let body: String = paragraphs.iter().map(|text| format!("<p>{text}</p>")).collect();
    format!("<html lang=en><head><title>{title}</title></head><body><main>{body}</main></body></html>")
}

const ROSES: &str = "The roses by the gate were planted in March and need water in the evening.";
const TULIPS: &str = "Tulips cost three euros each, and five of them cost twelve.";

fn web() -> Edited {
    Edited::serve(&[
        ("/", page("Start", &["The way into <a href=/garden>the garden</a> and <a href=/Shop?id=1>the shop</a>."])),
        ("/garden", page("Garden", &[ROSES, "Opening hours are from nine to five."])),
        ("/Shop?id=1", page("Shop", &[TULIPS])),
    ])
}

/// Every file below a folder, by its path.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned());
            }
        }
    }
    found
}

/// The Markdown files of a folder alone.
fn pages(folder: &Path) -> BTreeMap<String, String> {
    files(folder).into_iter().filter(|(name, _)| name.ends_with(".md")).collect()
}

fn apply(copy: &mut BTreeMap<String, Value>, lines: &[Value]) -> String {
    let mut cursor = String::new();
    for line in lines {
        let id = || line["id"].as_str().unwrap().to_owned();
        match line["op"].as_str().unwrap() {
            "upsert" => drop(copy.insert(id(), line.clone())),
            "patch" => {
                let row = copy.get_mut(&id()).unwrap();
                for (name, value) in line.as_object().unwrap().iter().filter(|(name, _)| *name != "op") {
                    row[name] = value.clone();
                }
            }
            "delete" => drop(copy.remove(&id())),
            "cursor" | "end" => cursor = line["cursor"].as_str().unwrap().to_owned(),
            other => panic!("{other}"),
        }
    }
    cursor
}

#[test]
fn a_running_and_a_stopped_crawl_export_the_same_and_what_changed_later_is_told_alone() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let web = web();
    visit(&data, &web.url("/"));
    let export = |arguments: &[&str]| {
        let output = output(vernal(&data).arg("export").args(arguments));
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let whole = json_lines(&String::from_utf8(export(&["jsonl", "--out", "-"])).unwrap());
    let mut copy = BTreeMap::new();
    let cursor = apply(&mut copy, &whole);
    let rose = copy.values().find(|row| row["text"] == ROSES).unwrap();
    assert_eq!((&rose["title"], &rose["language"]), (&"Garden".into(), &"en".into()), "{rose:#}");
    assert_eq!(whole.last().unwrap()["pages"], 3);

    let mut command = run(&data);
    command.args(["--refresh-min", "0s", "--budget", "1000000/s"]);
    let running = Running::start(&mut command, &data);
    web.edit("/garden", page("Garden", &["A new gate.", ROSES, "Opening hours are from ten to five."]));
    let since = ["jsonl", "--since", &cursor, "--out", "-"];
    wait_until("the edit is in the export", || String::from_utf8_lossy(&export(&since)).contains("A new gate."));
    told(vernal(&data).args(["pause"]));
    assert_eq!(running.stop(), Some(0));
    let mut command = run(&data);
    let running = Running::start(&mut command, &data);
    let formats: [&[&str]; 6] = [
        &["jsonl", "--out", "-"],
        &["jsonl", "--unit", "page", "--out", "-"],
        &["jsonl", "--unit", "event", "--out", "-"],
        &["warc", "--out", "-"],
        &["cdxj", "--warc", "a.warc.gz", "--out", "-"],
        &["parquet", "--table", "events", "--out", "-"],
    ];
    // The hour of the export is its own.
    let without_hour = |bytes: Vec<u8>| -> Vec<u8> {
        match String::from_utf8(bytes) {
            Ok(text) => {
                text.lines().filter(|line| !line.contains("\"made\"")).collect::<Vec<_>>().join("\n").into_bytes()
            }
            Err(bytes) => bytes.into_bytes(),
        }
    };
    let is_same_length = |format: &[&str]| format[0] == "parquet";
    let while_running: Vec<Vec<u8>> = formats.iter().map(|format| without_hour(export(format))).collect();
    assert_eq!(running.stop(), Some(0));
    for (format, running) in formats.iter().zip(while_running) {
        let stopped = without_hour(export(format));
        assert!(
            running == stopped || is_same_length(format) && running.len().abs_diff(stopped.len()) < 64,
            "{format:?}"
        );
    }

    let delta = json_lines(&String::from_utf8(export(&since)).unwrap());
    assert!(delta.iter().all(|line| line["op"] == "end" || line["url"] == web.url("/garden")), "{delta:#?}");
    assert!(
        !delta.iter().any(|line| line["op"] == "upsert" && line["text"] == ROSES),
        "what only moved is not told anew"
    );
    let end = apply(&mut copy, &delta);
    let mut now = BTreeMap::new();
    apply(&mut now, &json_lines(&String::from_utf8(export(&["jsonl", "--out", "-"])).unwrap()));
    let strip = |rows: &BTreeMap<String, Value>| -> Vec<Value> {
        rows.values()
            .map(|row| {
                row.as_object()
                    .unwrap()
                    .iter()
                    .filter(|(name, _)| *name != "op")
                    .map(|(n, v)| (n.clone(), v.clone()))
                    .collect()
            })
            .collect()
    };
    assert_eq!(strip(&copy), strip(&now));
    let nothing = json_lines(&String::from_utf8(export(&["jsonl", "--since", &end, "--out", "-"])).unwrap());
    assert_eq!(nothing.len(), 1, "{nothing:?}");
}

#[test]
fn a_folder_of_markdown_is_brought_up_to_date_and_goes_on_where_it_broke_off() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out, anew) = (folder.path().join("data"), folder.path().join("pages/"), folder.path().join("anew/"));
    let web = web();
    visit(&data, &web.url("/"));
    let export = |out: &Path, arguments: &[&str]| {
        told(vernal(&data).args(["export", "markdown", "--json"]).args(arguments).arg("--out").arg(out))
    };
    let first: Value = serde_json::from_str(&export(&out, &[])).unwrap();
    assert_eq!((&first["pages"], &first["format"]), (&3.into(), &"markdown".into()), "{first:#}");
    let site = web.url("/").trim_start_matches("http://").trim_end_matches('/').replace(':', "+");
    let names: Vec<String> = pages(&out).into_keys().collect();
    assert!(names.contains(&format!("{site}/garden.md")) && names.contains(&format!("{site}/index.md")), "{names:?}");
    let garden = &pages(&out)[&format!("{site}/garden.md")];
    assert!(garden.starts_with("---\nurl: http://") && garden.contains(&format!("\n{ROSES}\n")), "{garden}");
    assert!(
        garden.contains("title: Garden\n") && garden.contains("language: en\n") && garden.contains("version: 1\n"),
        "{garden}"
    );

    web.edit("/garden", page("Garden", &[ROSES, "Opening hours are from ten to five."]));
    visit(&data, &web.url("/"));
    let second: Value = serde_json::from_str(&export(&out, &[])).unwrap();
    assert_eq!((&second["pages"], &second["since"]), (&1.into(), &first["cursor"]), "{second:#}");
    export(&anew, &[]);
    assert_eq!(pages(&out), pages(&anew));

    // What was written before the export broke off stays, and the rest of the same state follows.
    let keys: Vec<Value> = json_lines(&told(vernal(&data).args(["export", "jsonl", "--unit", "page", "--out", "-"])));
    let broken = folder.path().join("broken/");
    export(&broken, &[]);
    let whole = pages(&broken);
    let begun = serde_json::json!({ "kind": { "format": "markdown" }, "cursor": second["cursor"], "since": null, "after": keys[0]["page"] });
    std::fs::remove_file(broken.join("vernal-export.json")).unwrap();
    std::fs::write(broken.join(".vernal-export.begun"), begun.to_string()).unwrap();
    let head = format!("---\nurl: {}\n", keys[2]["url"].as_str().unwrap());
    let lost = whole.keys().find(|name| whole[*name].starts_with(&head)).unwrap();
    std::fs::remove_file(broken.join(lost)).unwrap();
    export(&broken, &[]);
    assert_eq!(pages(&broken), whole);
    assert!(!files(&broken).contains_key(".vernal-export.begun"));

    let (code, said) = refused(vernal(&data).args(["export", "markdown", "--ids", "--out"]).arg(&out));
    assert!(code == 1 && said.contains("holds another export"), "{said}");
    let (code, said) = refused(vernal(&data).args(["export", "jsonl", "--ids", "--out", "-"]));
    assert!(code == 2 && said.contains("--ids is for markdown"), "{said}");
    let (code, said) = refused(vernal(&data).args(["export", "jsonl", "--since", "cffffff", "--out", "-"]));
    assert!(code == 2 && said.contains("take a full export"), "{said}");
}

/// What git says of a folder.
fn git(folder: &Path, arguments: &[&str]) -> String {
    told(std::process::Command::new("git").arg("-C").arg(folder).args(arguments))
}

#[test]
fn each_export_is_a_commit_that_says_when_the_pages_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("pages"));
    let web = web();
    visit(&data, &web.url("/"));
    let export = |arguments: &[&str]| -> Value {
        let mut command = vernal(&data);
        // Whoever runs the tests may have a name, and templates of their own.
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.args(["export", "markdown", "--json", "--git"]).args(arguments).arg("--out").arg(&out);
        serde_json::from_str(&told(&mut command)).unwrap()
    };
    let first = export(&[]);
    web.edit("/garden", page("Garden", &[ROSES, "Opening hours are from ten to five."]));
    web.edit("/", page("Start", &["The way into <a href=/garden>the garden</a> alone."]));
    visit(&data, &web.url("/"));
    let second = export(&[]);
    assert_eq!(git(&out, &["rev-list", "--count", "HEAD"]).trim(), "2");
    assert_eq!(git(&out, &["status", "--porcelain"]), "", "nothing is left behind");
    let message = git(&out, &["log", "-1", "--format=%B"]);
    let (since, cursor) = (first["cursor"].as_str().unwrap(), second["cursor"].as_str().unwrap());
    assert!(message.starts_with(&format!("Export at {cursor}: 2 pages written, 0 removed\n\n")), "{message}");
    assert!(message.contains(&format!("\nVernal-Since: {since}\nVernal-Cursor: {cursor}\n")), "{message}");
    let events = json_lines(&told(vernal(&data).args(["changes", "--json", "--event", "changed"])));
    let of =
        |name: &str| -> Vec<String> { events.iter().map(|event| event[name].as_str().unwrap().to_owned()).collect() };
    let (after, until) = (of("seen_same").into_iter().min().unwrap(), of("seen_different").into_iter().max().unwrap());
    assert!(message.contains(&format!("The pages changed between {after} and {until}.\n")), "{message} {events:?}");
    let patch = git(&out, &["log", "-p", "-1", "--format="]);
    assert!(
        patch.contains("\n-Opening hours are from nine to five.\n+Opening hours are from ten to five.\n"),
        "{patch}"
    );
    assert!(!patch.contains(ROSES) || patch.contains(&format!("\n {ROSES}")), "{patch}");

    for (arguments, why) in [
        (&["jsonl", "--git", "--out", "-"][..], "--git is for markdown"),
        (&["markdown", "--git", "--out", "-"], "a folder"),
    ] {
        let (code, said) = refused(vernal(&data).arg("export").args(arguments));
        assert!(code == 2 && said.contains(why), "{said}");
    }
    let (code, said) = refused(vernal(&data).env("PATH", "").args(["export", "markdown", "--git", "--out"]).arg(&out));
    assert!(code == 1 && said.contains("needs the program `git`"), "{said}");
}

#[test]
fn a_folder_that_follows_has_a_commit_for_each_batch_of_changes() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("pages"));
    let web = web();
    visit(&data, &web.url("/"));
    let running = Running::start(run(&data).args(["--refresh-min", "0s", "--budget", "1000000/s"]), &data);
    let mut follower = vernal(&data);
    follower.args(["export", "markdown", "--git", "--follow", "--every", "1", "--out"]).arg(&out);
    let mut follower = follower.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let log = || {
        let mut git = std::process::Command::new("git");
        let said = output(git.arg("-C").arg(&out).args(["log", "--format=%s"]));
        String::from_utf8_lossy(&said.stdout).lines().map(str::to_owned).collect::<Vec<String>>()
    };
    wait_until("the first commit is made", || log().len() == 1);
    for edition in 2..4 {
        web.edit("/garden", page("Garden", &[ROSES, &format!("Gate number {edition} was built.")]));
        wait_until("a batch is committed", || log().len() == edition);
    }
    assert!(log()[0].contains("1 pages written, 0 removed"), "{:?}", log());
    assert_eq!(running.stop(), Some(0));
    assert!(follower.wait().unwrap().success(), "it ends with the crawl");
    assert_eq!(log().len(), 3, "a round without changes makes no commit");
}

#[test]
fn whoever_follows_has_every_change_and_goes_on_after_a_break() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("lines.jsonl"));
    let web = web();
    visit(&data, &web.url("/"));
    let mut command = run(&data);
    command.args(["--refresh-min", "0s", "--budget", "1000000/s"]);
    let running = Running::start(&mut command, &data);
    let follow = || {
        let mut command = vernal(&data);
        command.args(["export", "jsonl", "--follow", "--every", "1", "--out"]).arg(&out);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let has = |words: &str| std::fs::read_to_string(&out).is_ok_and(|text| text.contains(words));
    let mut follower = follow();
    wait_until("the whole is written", || has(ROSES) && has("\"op\":\"cursor\""));
    web.edit("/garden", page("Garden", &[ROSES, "A second gate was built."]));
    wait_until("the change is written", || has("A second gate was built."));
    follower.kill().unwrap();
    follower.wait().unwrap();
    // A line that was cut is written again.
    let text = std::fs::read_to_string(&out).unwrap();
    std::fs::write(&out, &text[..text.len() - 20]).unwrap();
    web.edit("/garden", page("Garden", &[ROSES, "A third gate was built."]));
    let mut follower = follow();
    wait_until("the change after the break is written", || has("A third gate was built."));
    assert_eq!(running.stop(), Some(0));
    assert!(follower.wait().unwrap().success(), "it ends with the crawl");
    let (mut copy, mut now) = (BTreeMap::new(), BTreeMap::new());
    apply(&mut copy, &json_lines(&std::fs::read_to_string(&out).unwrap()));
    apply(&mut now, &json_lines(&told(vernal(&data).args(["export", "jsonl", "--out", "-"]))));
    let texts = |rows: &BTreeMap<String, Value>| -> Vec<(String, String)> {
        rows.iter().map(|(id, row)| (id.clone(), row["text"].to_string())).collect()
    };
    assert_eq!(texts(&copy), texts(&now));
}

#[test]
fn tables_of_a_folder_grow_by_what_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("tables"));
    let web = web();
    visit(&data, &web.url("/"));
    told(vernal(&data).args(["export", "parquet", "--with-visits", "--out"]).arg(&out));
    web.edit("/garden", page("Garden", &[ROSES, "A second gate was built."]));
    visit(&data, &web.url("/"));
    told(vernal(&data).args(["export", "parquet", "--with-visits", "--out"]).arg(&out));
    let names: Vec<String> = files(&out).into_keys().collect();
    for table in ["pages", "versions", "paragraphs", "events", "visits"] {
        assert_eq!(names.iter().filter(|name| name.starts_with(&format!("{table}/"))).count(), 2, "{names:?}");
    }
    let manifest: Value = serde_json::from_str(&files(&out)["vernal-export.json"]).unwrap();
    assert_eq!(manifest["files"].as_array().unwrap().len(), 5, "{manifest:#}");
}
