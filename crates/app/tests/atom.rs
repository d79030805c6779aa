//! The feed on every transport: Atom, filters, and a follower that outlives the crawls that it follows.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use common::edited::{Edited, visit};
use common::{Running, json_lines, output, refused, run, told, vernal, wait_until};
use serde_json::Value;
use vernal_model::Chance;

const PAGES: usize = 8;

fn page(number: usize, edition: usize) -> String {
    let word = if edition.is_multiple_of(2) { "price" } else { "fee" };
    format!(
        "<html lang=en><head><title>Page {number} &lt;of&gt; &amp;c</title></head><body><main><p>What stays on page {number} is this.</p>\
         <p>Edition {edition} of page {number} has a {word} of {} coins &lt;script&gt;alert({number})&lt;/script&gt;.</p></main></body></html>",
        100 * number + edition
    )
}

fn web() -> Edited {
    let links: String = (0..PAGES).map(|number| format!("<a href=\"/page-{number}\">{number}</a> ")).collect();
    let web = Edited::serve(&[("/", format!("<html><body><p>All pages: {links}</p></body></html>"))]);
    edit(&web, 0);
    web
}

fn edit(web: &Edited, edition: usize) {
    (0..PAGES).for_each(|number| web.edit(&format!("/page-{number}"), page(number, edition)));
}

fn changes(data: &Path, extra: &[&str]) -> Vec<Value> {
    json_lines(&told(vernal(data).args(["changes", "--json"]).args(extra)))
}

/// The status, the head and the body of an answer.
fn get(at: &str, path: &str, head: &str) -> (u16, BTreeMap<String, String>, String) {
    let mut stream = TcpStream::connect(at).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n{head}\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let fields = head.lines().filter_map(|line| line.split_once(": "));
    (status, fields.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect(), body.to_owned())
}

/// What stands between each pair of tags.
fn elements<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    text.split(&open).skip(1).map(|rest| rest.split(&close).next().unwrap()).collect()
}

fn link(text: &str, relation: &str) -> Option<String> {
    let rest = text.split(&format!("<link rel=\"{relation}\"")).nth(1)?;
    let address = rest.split("href=\"").nth(1)?.split('"').next()?;
    Some(address.replace("&amp;", "&"))
}

fn path_of(address: &str) -> &str {
    &address[address.find("://").unwrap() + 3..][address[address.find("://").unwrap() + 3..].find('/').unwrap()..]
}

struct Served {
    _dir: tempfile::TempDir,
    data: PathBuf,
    web: Edited,
    _running: Running,
    at: String,
}

/// Three editions of each page, and the API of a crawl that has nothing more to do.
fn served() -> Served {
    let (dir, web) = (tempfile::tempdir().unwrap(), web());
    let data = dir.path().join("data");
    for edition in 0..3 {
        edit(&web, edition);
        visit(&data, &web.url("/"));
    }
    let mut command = vernal(&data);
    command.args(["run", "--allow-private", "--listen", "127.0.0.1:0", "--budget", "1/day", "--refresh-min", "1000d"]);
    let mut running = Running::start(&mut command, &data);
    let at = running.listening();
    Served { _dir: dir, data, web, _running: running, at }
}

fn judge() -> Option<PathBuf> {
    let python = std::env::var_os("VERNAL_JUDGES").map(|folder| Path::new(&folder).join("python"));
    let has_feedparser = python.as_ref().is_some_and(|python| {
        let asked = Command::new(python).args(["-c", "import feedparser"]).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    });
    assert!(has_feedparser || std::env::var_os("CI").is_none(), "VERNAL_JUDGES must have feedparser here");
    if !has_feedparser {
        eprintln!("skipped: VERNAL_JUDGES has no feedparser");
    }
    python.filter(|_| has_feedparser)
}

#[test]
fn the_atom_feed_has_every_event_once_on_its_pages_and_says_when_nothing_is_new() {
    let Served { data, at, .. } = &served();
    let listed = changes(data, &[]);
    let (mut ids, mut dates, mut next) = (Vec::new(), Vec::new(), Some("/feed.atom?limit=5".to_owned()));
    let mut pages = 0;
    while let Some(path) = next {
        let (status, fields, text) = get(at, &path, "");
        assert_eq!((status, &*fields["content-type"]), (200, "application/atom+xml; charset=utf-8"));
        assert_eq!(path_of(&link(&text, "self").unwrap()), path);
        let entries = elements(&text, "entry");
        assert!(!entries.is_empty() && entries.len() <= 5);
        for entry in entries {
            ids.push(elements(entry, "id")[0].rsplit('/').next().unwrap().to_owned());
            dates.push(elements(entry, "updated")[0].to_owned());
        }
        assert!(!text.contains("<script") && !text.contains("alert(0)</"), "what a page writes is no markup");
        next = link(&text, "next").map(|address| path_of(&address).to_owned());
        pages += 1;
    }
    assert_eq!(pages, listed.len().div_ceil(5));
    let newest_first = |field: &str| -> Vec<String> {
        listed.iter().rev().map(|event| event[field].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((ids, dates), (newest_first("id"), newest_first("seen_different")));
    let (_, fields, text) = get(at, "/feed.atom", "");
    let known = format!("If-None-Match: {}\r\n", fields["etag"]);
    let (status, again, body) = get(at, "/feed.atom", &known);
    assert_eq!((status, &*body, &again["etag"]), (304, "", &fields["etag"]));
    let dated = format!("If-Modified-Since: {}\r\n", fields["last-modified"]);
    assert_eq!(get(at, "/feed.atom", &dated).0, 304);
    let other = format!("If-None-Match: \"0\"\r\n{dated}");
    assert_eq!(get(at, "/feed.atom", &other).0, 200, "a tag decides before a date");
    assert_eq!(elements(&text, "id")[0].matches('/').count(), 1);
    for (path, wanted) in
        [("/feed.atom?order=newest", "order"), ("/feed.atom?before=x", "`x`"), ("/feed.atom?limit=a", "limit")]
    {
        let (status, _, body) = get(at, path, "");
        assert!(status == 400 && body.contains(wanted), "{path}: {status} {body}");
    }
    assert_eq!(elements(&get(at, "/feed.atom?site=nobody.example", "").2, "entry").len(), 0);
}

#[test]
fn a_reader_of_feeds_understands_the_atom_feed() {
    let Some(python) = judge() else { return };
    let Served { at, .. } = &served();
    let script = "import feedparser, json, sys\n\
        feed = feedparser.parse(sys.stdin.buffer.read())\n\
        print(json.dumps({'bozo': bool(feed.bozo), 'version': feed.version, 'id': feed.feed.id, 'title': feed.feed.title,\n\
            'links': [l.rel for l in feed.feed.links],\n\
            'entries': [{'id': e.id, 'title': e.title, 'link': e.link, 'updated': e.updated, 'html': e.content[0].value, 'tags': [t.term for t in e.tags]} for e in feed.entries]}))";
    for path in ["/feed.atom", "/feed.atom?limit=3", "/feed.atom?words=price&in=added", "/feed.atom?search=edition"] {
        let (_, _, text) = get(at, path, "");
        let mut reader = Command::new(&python);
        let mut reader = reader.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        reader.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let read: Value = serde_json::from_slice(&reader.wait_with_output().unwrap().stdout).unwrap();
        assert_eq!((&read["bozo"], &read["version"]), (&Value::Bool(false), &Value::from("atom10")), "{path}: {read}");
        let entries = read["entries"].as_array().unwrap();
        assert!(!entries.is_empty(), "{path}");
        for entry in entries.iter().filter(|entry| entry["tags"][0] == "changed") {
            assert!(entry["title"].as_str().unwrap().contains(" <of> &c"), "{entry}");
            let html = entry["html"].as_str().unwrap();
            assert!(html.contains("&lt;script&gt;") && html.contains("<ins>") && !html.contains("<script"), "{entry}");
        }
    }
}

#[test]
fn every_transport_has_the_same_filters() {
    let Served { data, at, web, .. } = &served();
    let filters = [
        "event=changed",
        "min=slight",
        "min=0.01&kind=content",
        "min=total",
        "words=price&in=added",
        "words=%22a%20fee%22&in=removed&event=changed",
        "words=script",
        "words=nowhere",
        "role=main",
        "prefix=PAGE",
        "until=2000-01-01",
    ];
    for filter in filters {
        let filter = filter.replace("PAGE", &web.url("/page-3").replace(':', "%3A").replace('/', "%2F"));
        let list = json_lines(
            &get(at, &format!("/api/v1/changes?{filter}"), "")
                .2
                .replace("\r\n", "\n")
                .lines()
                .filter(|line| line.starts_with('{'))
                .collect::<Vec<_>>()
                .join("\n"),
        );
        let by_id = |rows: &[Value]| rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
        let arguments: Vec<String> = filter
            .split('&')
            .map(|pair| {
                format!("--{}", pair.replace("%22", "\"").replace("%20", " ").replace("%3A", ":").replace("%2F", "/"))
            })
            .collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        assert_eq!(by_id(&changes(data, &arguments)), by_id(&list), "{filter}");
        let atom = get(at, &format!("/feed.atom?limit=200&{filter}"), "").2;
        let mut ids: Vec<String> = elements(&atom, "entry")
            .iter()
            .map(|entry| elements(entry, "id")[0].rsplit('/').next().unwrap().to_owned())
            .collect();
        ids.reverse();
        assert_eq!(ids, by_id(&list), "{filter}");
        let counted: Value = json(&get(at, &format!("/api/v1/changes/count?by=event&{filter}"), "").2);
        assert_eq!(counted["total"].as_u64(), Some(list.len() as u64), "{filter}");
        let expected = match &*filter {
            "event=changed" | "min=slight" | "min=0.01&kind=content" | "role=main" => Some(2 * PAGES),
            "words=price&in=added" => Some(2 * PAGES),
            "words=%22a%20fee%22&in=removed&event=changed" => Some(PAGES),
            "min=total" | "words=nowhere" | "until=2000-01-01" => Some(0),
            prefix if prefix.starts_with("prefix") => Some(3),
            _ => None,
        };
        assert!(
            expected.is_none_or(|expected| expected == list.len()) || filter == "role=main",
            "{filter}: {}",
            list.len()
        );
        for event in list.iter().take(2) {
            let one = json(&get(at, &format!("/api/v1/changes/{}", event["id"].as_str().unwrap()), "").2);
            assert_eq!((&one["id"], &one["url"], &one["cursor"]), (&event["id"], &event["url"], &event["cursor"]));
        }
    }
    assert_eq!(get(at, "/api/v1/changes/e1-99999", "").0, 404);
    assert_eq!(get(at, "/api/v1/changes/what", "").0, 400);
    for wrong in ["--min=tiny", "--words=\"open", "--until=never", "--prefix=::"] {
        assert_eq!(refused(vernal(data).args(["changes", wrong])).0, 2, "{wrong}");
    }
}

fn json(body: &str) -> Value {
    let line = body.lines().find(|line| line.starts_with('{')).unwrap();
    serde_json::from_str(line).unwrap()
}

#[test]
fn the_newest_come_first_where_asked_and_go_on_before_a_cursor() {
    let Served { at, data, .. } = &served();
    let listed = changes(data, &[]);
    let (mut told, mut before) = (Vec::new(), String::new());
    loop {
        let body = get(at, &format!("/api/v1/changes?order=newest&limit=4{before}"), "").2;
        let mut rows: Vec<Value> =
            body.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap()).collect();
        // The last line says where the list goes on.
        rows.retain(|row| row.get("after").is_none());
        let Some(last) = rows.last() else { break };
        before = format!("&before={}", last["cursor"].as_str().unwrap());
        told.extend(rows);
    }
    told.reverse();
    assert_eq!(told, listed);
    assert_eq!(get(at, "/api/v1/changes?before=c9", "").0, 400);
}

#[test]
fn a_stream_goes_on_behind_the_last_event_that_it_gave() {
    let (dir, web) = (tempfile::tempdir().unwrap(), web());
    let data = dir.path().join("data");
    visit(&data, &web.url("/"));
    edit(&web, 1);
    let mut crawl = vernal(&data);
    crawl.args([
        "run",
        "--allow-private",
        "--listen",
        "127.0.0.1:0",
        "--delay",
        "2ms",
        "--refresh-min",
        "0s",
        "--budget",
        "1000/s",
    ]);
    let mut running = Running::start(&mut crawl, &data);
    let at = running.listening();
    wait_until("every page has changed", || changes(&data, &["--event", "changed"]).len() >= PAGES);
    let whole = changes(&data, &[]);
    let ids = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.strip_prefix("id: ")).map(str::to_owned).collect()
    };
    let read = |last: &str, limit: usize| {
        let head = if last.is_empty() { String::new() } else { format!("Last-Event-ID: {last}\r\n") };
        ids(&get(&at, &format!("/api/v1/changes/stream?since=c0&limit={limit}"), &head).2)
    };
    let (mut told, mut last) = (Vec::new(), String::new());
    while told.len() < whole.len() {
        let limit = 3.min(whole.len() - told.len());
        told.extend(read(&last, limit));
        last = told.last().unwrap().clone();
    }
    let cursors: Vec<String> = whole.iter().map(|event| event["cursor"].as_str().unwrap().to_owned()).collect();
    assert_eq!(told, cursors);
}

/// `changes --follow` writing into a file.
struct Follower {
    child: Child,
    file: PathBuf,
}

impl Follower {
    fn start(data: &Path, file: PathBuf, since: &str) -> Follower {
        let mut command = vernal(data);
        command.args(["changes", "--json", "--follow", "--since", since]);
        let out = File::create(&file).unwrap();
        let child = command.stdin(Stdio::null()).stdout(out).stderr(Stdio::null()).spawn().unwrap();
        Follower { child, file }
    }

    /// The whole lines that it wrote.
    fn told(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.file).unwrap();
        json_lines(&text[..text.rfind('\n').map_or(0, |end| end + 1)])
    }

    fn kill(mut self) -> Vec<Value> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.told()
    }
}

#[test]
fn a_follower_misses_and_repeats_nothing_though_crawl_and_follower_are_killed() {
    const ROUNDS: usize = 10;
    let (dir, web) = (tempfile::tempdir().unwrap(), web());
    let data = dir.path().join("data");
    visit(&data, &web.url("/"));
    let start = || {
        let mut crawl = run(&data);
        crawl.args(["--refresh-min", "0s", "--budget", "1000/s"]);
        Running::start(&mut crawl, &data)
    };
    let mut chance = Chance::new(25);
    let mut crawl = start();
    let mut followed: Vec<Value> = Vec::new();
    let mut follower = Follower::start(&data, dir.path().join("followed-0"), "c0");
    for round in 1..=ROUNDS {
        edit(&web, round);
        let enough = follower.told().len() + chance.below(PAGES as u64) as usize;
        wait_until("some of it is told", || follower.told().len() >= enough);
        // Dropping it is `kill -9`.
        drop(crawl);
        if chance.happens(0.4) {
            followed.extend(follower.kill());
            let since = followed.last().map_or("c0", |event| event["cursor"].as_str().unwrap()).to_owned();
            crawl = start();
            follower = Follower::start(&data, dir.path().join(format!("followed-{round}")), &since);
        } else {
            crawl = start();
        }
    }
    let last = format!("Edition {ROUNDS} of page");
    let is_last = |event: &&Value| {
        event["paragraphs"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["after"].as_str().is_some_and(|text| text.starts_with(&last)))
    };
    wait_until("the last edition of every page is told", || follower.told().iter().filter(is_last).count() == PAGES);
    assert_eq!(crawl.stop(), Some(0));
    let whole = changes(&data, &[]);
    wait_until("the rest is told", || followed.len() + follower.told().len() >= whole.len());
    followed.extend(follower.kill());
    assert_eq!(followed, whole);
}

#[test]
fn the_history_counts_every_visit_and_has_nothing_where_nothing_was_counted() {
    let (dir, web) = (tempfile::tempdir().unwrap(), web());
    let data = dir.path().join("data");
    for edition in 0..2 {
        edit(&web, edition);
        visit(&data, &web.url("/"));
    }
    let series = |extra: &[&str]| -> Value {
        serde_json::from_str(&told(vernal(&data).args(["series", "--json"]).args(extra))).unwrap()
    };
    let sum = |answer: &Value, place: usize| -> f64 {
        answer["rows"].as_array().unwrap().iter().filter_map(|row| row[1][place].as_f64()).sum()
    };
    let status: Value = serde_json::from_str(&told(vernal(&data).args(["status", "--json"]))).unwrap();
    let site = web.url("/").replace("http://", "");
    let site = site.trim_end_matches('/');
    for of in [vec![], vec!["--site", site]] {
        let answer = series(&[vec!["visits", "changed", "new", "held", "--from", "3d"], of].concat());
        assert_eq!(sum(&answer, 0), status["visits"].as_f64().unwrap(), "{answer}");
        assert_eq!((sum(&answer, 1), sum(&answer, 2)), (PAGES as f64, 1.0 + PAGES as f64), "{answer}");
        let rows = answer["rows"].as_array().unwrap();
        assert!(rows[0][1].as_array().unwrap().iter().all(Value::is_null), "a missing hour is null: {answer}");
    }
    let shown = told(vernal(&data).args(["series"]));
    assert!(shown.contains("visits") && shown.contains('▁'), "{shown}");
    for wrong in [["series", "vists"], ["series", "--step=90s"], ["series", "--from=2030-01-01"]] {
        let (code, complaint) = refused(vernal(&data).args(wrong));
        assert!(code == 2 && complaint.lines().count() == 1, "{wrong:?}: {complaint}");
    }
    assert!(output(vernal(&data).args(["series", "--site", "nobody.example"])).status.success());
}
