//! Archives of others come in as history, and Memento tells of it.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::edited::{Edited, visit};
use common::serving::{Serving, ask, field, serving};
use common::{assert_sound, json_lines, refused, told, vernal};
use serde_json::Value;

const ROSES: &str = "Roses are planted in the spring of the year and watered daily by hand.";
const TULIPS: &str = "Tulips are planted in the autumn of the year and never watered by anyone.";
const PEAS: &str = "Peas climb along a fence of wire and are picked in the early summer.";

fn page(words: &str) -> String {
    format!("<html><head><title>Garden</title></head><body><h1>Garden</h1><p>{words}</p></body></html>")
}

/// A WARC file of responses: URL, date and body of each.
fn warc(path: &Path, responses: &[(&str, &str, &str)]) {
    let mut file = std::fs::File::create(path).unwrap();
    for (url, date, body) in responses {
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{body}");
        write!(
            file,
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n\
             Content-Type: application/http\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
        .unwrap();
    }
}

fn json(command: &mut Command) -> Value {
    serde_json::from_str(&told(command)).unwrap()
}

#[test]
fn an_imported_archive_is_history_before_the_first_own_visit() {
    let dir = tempfile::tempdir().unwrap();
    let web = Edited::serve(&[("/", page(PEAS))]);
    let (data, file, url) = (dir.path().join("data"), dir.path().join("a.warc"), web.url("/"));
    let dates = ["2019-03-01T10:00:00Z", "2019-06-01T10:00:00Z", "2021-03-01T10:00:00Z"];
    let (roses, tulips) = (page(ROSES), page(TULIPS));
    let other = "http://other.example/";
    let responses =
        [(&*url, dates[0], &*roses), (&url, dates[2], &tulips), (&url, dates[1], &roses), (other, dates[0], &roses)];
    warc(&file, &responses);
    let import = || json(vernal(&data).args(["--json", "import", "warc"]).arg(&file));
    let first = import();
    assert_eq!((&first["pages"], &first["versions"], &first["same"]), (&2.into(), &3.into(), &1.into()), "{first}");
    let again = import();
    assert_eq!((&again["known"], &again["versions"]), (&4.into(), &0.into()), "the same file twice adds nothing");

    visit(&data, &url);
    let history = json_lines(&told(vernal(&data).args(["--json", "history", &url])));
    let shown: Vec<_> =
        history.iter().map(|row| (&row["imported"], &row["version"]["number"], &row["event"])).collect();
    let (yes, no) = (Value::Bool(true), Value::Bool(false));
    let (one, two, three) = (1.into(), 2.into(), 3.into());
    let (new, changed, none) = ("new".into(), "changed".into(), Value::Null);
    assert_eq!(
        shown,
        [(&no, &three, &changed), (&yes, &two, &changed), (&yes, &none, &none), (&yes, &one, &new)],
        "newest first"
    );
    assert_eq!(history[1]["seen_same"], "2019-06-01T10:00:00.000Z");
    let diff = told(vernal(&data).args(["diff", &url, "--from", "2020-01-01"]));
    assert!(diff.contains("{+Peas") || diff.contains("Peas"), "{diff}");
    let blame = json(vernal(&data).args(["--json", "blame", &url]));
    assert_eq!(blame["paragraphs"][0]["born"]["version"], 1, "the title is as old as the archive");
    let found = told(vernal(&data).args(["--json", "search", "--removed", "autumn"]));
    assert!(found.contains(&url), "{found}");
    let pages = json_lines(&told(vernal(&data).args(["--json", "pages"])));
    let visits = |url: &str| pages.iter().find(|row| row["url"] == url).map(|row| row["visits"].clone());
    assert_eq!((visits(&url), visits(other)), (Some(1.into()), Some(0.into())), "what is out of scope is not visited");
    assert_sound(&data);
}

/// Imported versions have numbers behind the own ones, and stand by their dates all the same.
#[test]
fn the_export_of_a_time_has_the_version_that_was_held_then_whenever_it_came_in() {
    let dir = tempfile::tempdir().unwrap();
    let web = Edited::serve(&[("/", page(PEAS))]);
    let (data, url) = (dir.path().join("data"), web.url("/"));
    visit(&data, &url);
    let other = "http://other.example/";
    // The later one comes in first.
    for (name, date, words) in [("b.warc", "2021-03-01T10:00:00Z", TULIPS), ("a.warc", "2019-03-01T10:00:00Z", ROSES)] {
        let file = dir.path().join(name);
        warc(&file, &[(&*url, date, &*page(words)), (other, date, &page(words))]);
        told(vernal(&data).args(["import", "warc"]).arg(&file));
    }
    let texts = |at: &[&str]| -> Vec<(String, String)> {
        let export = ["export", "jsonl", "--unit", "page", "--out", "-"];
        let lines = json_lines(&told(vernal(&data).args(export).args(at)));
        let pages = lines.iter().filter(|line| line["op"] == "upsert");
        let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
        let mut texts: Vec<_> = pages.map(|line| (text(line, "url"), text(line, "text"))).collect();
        texts.sort();
        texts
    };
    for (at, own, theirs) in [
        ("2018-06-01", None, None),
        ("2019-06-01", Some(ROSES), Some(ROSES)),
        ("2021-02-28", Some(ROSES), Some(ROSES)),
        ("2022-01-01", Some(TULIPS), Some(TULIPS)),
        ("", Some(PEAS), Some(TULIPS)),
    ] {
        let arguments = if at.is_empty() { vec![] } else { vec!["--at", at] };
        let found = texts(&arguments);
        let wanted: Vec<(&str, &str)> =
            [(&*url, own), (other, theirs)].into_iter().filter_map(|(url, words)| Some((url, words?))).collect();
        assert_eq!(found.len(), wanted.len(), "{at}: {found:?}");
        for (page, words) in wanted {
            let text = &found.iter().find(|(url, _)| url == page).unwrap().1;
            assert!(text.contains(words), "{at} {page}: {text}");
            assert!([ROSES, TULIPS, PEAS].iter().all(|other| other == &words || !text.contains(other)), "{at}: {text}");
        }
    }
    // The paragraphs of a time carry its version, and the difference of two times leads from one to the other.
    let lines =
        |arguments: &[&str]| json_lines(&told(vernal(&data).args(["export", "jsonl", "--out", "-"]).args(arguments)));
    let of_then = lines(&["--at", "2020-01-01", "--prefix", &url]);
    assert!(of_then.iter().any(|line| line["text"] == ROSES && line["version"] == 3), "{of_then:?}");
    let between = lines(&["--since", "2020-01-01", "--at", "2022-01-01", "--prefix", &url]);
    assert!(between.iter().any(|line| line["op"] == "upsert" && line["text"] == TULIPS), "{between:?}");
    assert!(!between.iter().any(|line| line["text"] == PEAS), "{between:?}");
}

#[test]
fn what_cannot_be_imported_is_told_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let (data, text) = (dir.path().join("data"), dir.path().join("a.txt"));
    std::fs::write(&text, "no archive").unwrap();
    let text = text.to_str().unwrap();
    for (arguments, why) in [
        (["warc", "/nowhere/a.warc"], "read /nowhere/a.warc"),
        (["wacz", text], "it is no ZIP file"),
        (["warc", dir.path().to_str().unwrap()], "has no WARC file"),
        (["cdxj", "/nowhere/index.cdxj"], "read /nowhere/index.cdxj"),
        (["arc", text], "invalid value 'arc'"),
    ] {
        let (code, complaint) = refused(vernal(&data).arg("import").args(arguments));
        assert!(code > 0 && complaint.contains(why), "{arguments:?}: {complaint}");
    }
    let told = json(vernal(&data).args(["--json", "import", "warc", text]));
    assert_eq!(
        (&told["versions"], &told["refused"]),
        (&0.into(), &1.into()),
        "a file without records is told, record by record"
    );
}

#[test]
fn memento_speaks_as_rfc_7089_wants_it() {
    let dir = tempfile::tempdir().unwrap();
    let web = Edited::serve(&[("/?q=a%20b&r=http://x.example/", page(PEAS))]);
    let (data, file) = (dir.path().join("data"), dir.path().join("a.warc"));
    let url = web.url("/?q=a%20b&r=http://x.example/");
    let (roses, tulips) = (page(ROSES), page(TULIPS));
    warc(&file, &[(&url, "2019-03-01T10:00:00Z", &roses), (&url, "2021-03-01T10:00:00Z", &tulips)]);
    told(vernal(&data).args(["import", "warc"]).arg(&file));
    visit(&data, &url);
    let Serving { main, archive, _running } = serving(&data, &url, &[]);

    let gate = |date: &str| {
        let field = if date.is_empty() { String::new() } else { format!("Accept-Datetime: {date}\r\n") };
        ask(&main, &format!("/timegate/{url}"), &field)
    };
    for (date, digits) in [
        ("Thu, 01 Jan 1998 00:00:00 GMT", "20190301100000"),
        ("Fri, 01 Mar 2019 10:00:00 GMT", "20190301100000"),
        ("Mon, 01 Feb 2021 00:00:00 GMT", "20210301100000"),
    ] {
        let (status, head, _) = gate(date);
        assert_eq!((status, field(&head, "vary")), (302, "accept-datetime"), "{head}");
        assert_eq!(field(&head, "location"), format!("http://{main}/memento/{digits}/{url}"), "{date}");
        assert!(!head.contains("memento-datetime"), "a TimeGate is no memento");
        for part in
            [format!("<{url}>; rel=\"original\""), "rel=\"timemap\"".into(), "rel=\"first".into(), "rel=\"last".into()]
        {
            assert!(field(&head, "link").contains(&part), "{part} in {head}");
        }
    }
    assert!(!field(&gate("").1, "location").contains("/2021"), "without a date it is the newest");
    for date in ["yesterday", "2019-03-01", "Fri, 01 Mar 2019 10:00:00 CET"] {
        assert_eq!(gate(date).0, 400, "{date}");
    }
    assert_eq!(ask(&main, "/timegate/http://unknown.example/", "").0, 404);
    assert_eq!(ask(&main, "/timegate/file:///etc/passwd", "").0, 400);

    let (status, head, list) = ask(&main, &format!("/timemap/link/{url}"), "");
    assert_eq!((status, field(&head, "content-type")), (200, "application/link-format"));
    assert_eq!(list.matches("memento\"; datetime=").count(), 3, "{list}");
    let (_, _, text) = ask(&main, &format!("/timemap/json/{url}"), "");
    let map: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&map["total"], &map["mementos"][1]["version"]), (&3.into(), &2.into()));
    assert_eq!(ask(&main, &format!("/timemap/link/2/{url}"), "").0, 404, "there is no second page");

    let (status, head, _) = ask(&main, &format!("/memento/20190301100000/{url}"), "");
    let memento = format!("/20190301100000/{url}");
    assert_eq!((status, field(&head, "location")), (302, &*format!("http://{archive}{memento}")));
    let (status, head, body) = ask(&archive, &memento, "");
    assert_eq!((status, field(&head, "memento-datetime")), (200, "fri, 01 mar 2019 10:00:00 gmt"));
    assert!(field(&head, "link").contains("rel=\"timegate\"") && body.contains(ROSES));

    let (_, _, changes) = ask(&main, "/resourcesync/changelist/0.xml", "");
    assert!(changes.contains("change=\"created\" datetime=\"2019-03-01"), "{changes}");
    assert!(ask(&main, "/resourcesync/capabilitylist.xml", "").2.contains("/resourcesync/changelist.xml</loc>"));
    assert_eq!(ask(&main, "/resourcesync/changelist/99.xml", "").0, 404);
    judged_by_a_client(&main, &url);
}

/// The client of the Memento project, where it is there.
fn judged_by_a_client(main: &str, url: &str) {
    let python = std::env::var_os("VERNAL_JUDGES").map(|folder| PathBuf::from(folder).join("python"));
    let has_client = |python: &PathBuf| {
        let mut asks = Command::new(python);
        asks.args(["-c", "import memento_client"]).stderr(Stdio::null());
        asks.status().is_ok_and(|status| status.success())
    };
    let Some(python) = python.filter(has_client) else {
        assert!(std::env::var_os("CI").is_none(), "memento_client must be there");
        eprintln!("skipped: VERNAL_JUDGES does not name a folder with memento_client");
        return;
    };
    let program = format!(
        "import datetime, memento_client\n\
         client = memento_client.MementoClient(timegate_uri='http://{main}/timegate/', check_native_timegate=False)\n\
         info = client.get_memento_info('{url}', datetime.datetime(2020, 1, 1))['mementos']\n\
         print(info['closest']['datetime'], info['closest']['http_status_code'], info['first']['datetime'], len(info))"
    );
    let said = told(Command::new(python).args(["-c", &program]));
    assert_eq!(said.trim(), "2019-03-01 10:00:00 200 2019-03-01 10:00:00 4");
}
