//! What meets somebody who uses the binary for the first time: errors that say what to do, files that fit together, and answers
//! that do not contradict each other.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use common::{Running, crawl_until_idle, json_lines, output, refused, run, small_web, told, vernal};
use serde_json::Value;

/// Answers by path: the head after the status line, and the body. What is not there is missing.
type Answers = HashMap<&'static str, (&'static str, String)>;

/// A site of a few answers that a test changes, with a count of requests.
struct Site {
    address: SocketAddr,
    answers: Arc<Mutex<Answers>>,
    asked: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Site {
    fn serve(pages: &[(&'static str, &str)]) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let pages = pages.iter().map(|(path, body)| (*path, ("200 OK", (*body).to_owned())));
        let mut site = Site {
            address: listener.local_addr().unwrap(),
            answers: Arc::new(Mutex::new(pages.collect())),
            asked: Arc::default(),
            stop: Arc::default(),
            thread: None,
        };
        let (answers, asked, stop) = (Arc::clone(&site.answers), Arc::clone(&site.asked), Arc::clone(&site.stop));
        site.thread = Some(std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                // A crawler that hangs up early is no fault of the site.
                let _ = answer(stream, &answers, &asked);
            }
        }));
        site
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn answers(&self, path: &'static str, status: &'static str, body: &str) {
        self.answers.lock().unwrap().insert(path, (status, body.to_owned()));
    }

    fn times_asked(&self, path: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| *asked == path).count()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn answer(stream: TcpStream, answers: &Mutex<Answers>, asked: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut lines = BufReader::new(&stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let found = answers.lock().unwrap().get(path.as_str()).cloned();
    asked.lock().unwrap().push(path);
    let (status, body) = found.unwrap_or(("404 Not Found", String::new()));
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    (&stream).write_all(format!("{head}{body}").as_bytes())
}

fn visit(data: &Path, url: &str) {
    told(run(data).args(["--until-idle", "--refresh-min", "0s", "--budget", "1000000/s", url]));
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// An address that refuses connections.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/", listener.local_addr().unwrap())
}

#[test]
fn a_seed_that_cannot_be_reached_ends_the_run_soon_with_its_name_the_reason_and_exit_1() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let url = nobody();
    let (code, said) = refused(run(&data).args(["--until-idle", &url]));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains(&format!("the seed {url} could not be reached: connect: ")), "{said}");
    let site = Site::serve(&[("/", "<title>There</title><p>Somebody is there.</p>")]);
    let both = output(run(&data).args(["--until-idle", "--for", "1m", "--json", &site.url("/")]));
    assert_eq!(both.status.code(), Some(1), "{}", complaint(&both));
    let summary: Value = serde_json::from_slice(&both.stdout).unwrap();
    assert_eq!((&summary["ended"], &summary["held"]), (&"idle".into(), &1.into()), "{summary}");
    assert_eq!(summary["seeds_unreached"][0]["url"], url);
    told(vernal(&data).args(["seeds", "remove", &url]));
    told(run(&data).arg("--until-idle"));
}

#[test]
fn a_page_that_is_too_large_is_asked_for_once_and_again_when_larger_bodies_are_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let site = Site::serve(&[("/", "<title>Front</title><p>The front page.</p><a href=/large>large</a>")]);
    site.answers("/large", "200 OK", &format!("<title>Large</title><p>{}</p>", "many words ".repeat(20_000)));
    let seed = site.url("/");
    for _ in 0..2 {
        told(run(&data).args(["--until-idle", "--body-max", "100kB", &seed]));
        assert_eq!(site.times_asked("/large"), 1);
    }
    let pages = json_lines(&told(vernal(&data).args(["pages", "--json", "--state", "failed"])));
    assert_eq!(pages.len(), 1);
    let large = told(vernal(&data).args(["page", &site.url("/large")]));
    assert!(large.contains("body too large: --body-max allows no more"), "{large}");
    told(run(&data).args(["--until-idle", "--body-max", "1MB"]));
    assert_eq!(site.times_asked("/large"), 2);
    assert_eq!(json_lines(&told(vernal(&data).args(["pages", "--json", "--state", "held"]))).len(), 2);
}

#[test]
fn letters_that_turn_the_direction_of_text_reach_no_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let words = |last: &str| format!("<title>In\u{202e}voice</title><p>Total \u{2066}one\u{200f}, as {last} said.</p>");
    let site = Site::serve(&[("/", &words("Ann"))]);
    let url = site.url("/");
    visit(&data, &url);
    site.answers("/", "200 OK", &words("Bob"));
    visit(&data, &url);
    let commands: [&[&str]; 6] =
        [&["page", &url], &["pages"], &["changes"], &["diff", &url], &["blame", &url], &["changes", "--json"]];
    for command in commands {
        let said = told(vernal(&data).args(command));
        assert!(!said.contains(['\u{202e}', '\u{2066}', '\u{200f}']), "{command:?}: {said}");
    }
    let events = told(vernal(&data).args(["changes", "--json"]));
    assert!(events.contains("\\u202e"), "{events}");
    assert_eq!(json_lines(&events)[0]["title"], "In\u{202e}voice", "JSON means what the page says");
}

#[test]
fn an_empty_list_says_what_was_not_found_and_a_block_says_that_the_site_is_blocked() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    let said = |arguments: &[&str]| {
        let output = output(vernal(&data).args(arguments));
        assert!(output.status.success(), "{}", complaint(&output));
        complaint(&output)
    };
    assert!(said(&["pages", "--state", "gone"]).contains("no pages with state gone"));
    assert!(said(&["noise", "list"]).contains("no rules about noise yet"));
    assert!(said(&["changes", "--kind", "behaviour"]).contains("no changes with kind behaviour"));
    let front = served.seeds()[0].clone();
    let site = front.trim_start_matches("http://").trim_end_matches('/');
    let blocked = said(&["block", &format!("{front}some/page.html")]);
    assert!(blocked.contains(&format!("blocked the whole site {site}")), "{blocked}");
    assert!(blocked.contains(&format!("vernal resume {site}")), "{blocked}");
    let resumed: Value = serde_json::from_str(&told(vernal(&data).args(["resume", &front, "--json"]))).unwrap();
    assert_eq!((&resumed["done"], &resumed["site"]), (&true.into(), &site.into()));
}

#[test]
fn tables_show_urls_that_can_be_read_and_given_back_and_json_the_canonical_ones() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let site = Site::serve(&[("/", "<title>Front</title><p>The front page.</p><a href=/große/你好%2F%20x>more</a>")]);
    site.answers("/gro%C3%9Fe/%E4%BD%A0%E5%A5%BD%2F%20x", "200 OK", "<title>More</title><p>More words.</p>");
    visit(&data, &site.url("/"));
    let readable = site.url("/große/你好%2F%20x");
    let pages = told(vernal(&data).arg("pages"));
    assert!(pages.contains(&readable), "{pages}");
    let canonical = site.url("/gro%C3%9Fe/%E4%BD%A0%E5%A5%BD%2F%20x");
    let page: Value = serde_json::from_str(&told(vernal(&data).args(["page", "--json", &readable]))).unwrap();
    assert_eq!((page["url"].as_str(), page["state"].as_str()), (Some(canonical.as_str()), Some("held")));
    assert!(json_lines(&told(vernal(&data).args(["pages", "--json"]))).iter().any(|page| page["url"] == canonical));
}

#[test]
fn the_whole_page_of_a_diff_as_json_has_its_unchanged_paragraphs() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let body = |price: &str| {
        format!(
            "<title>Plan</title><h1>Plan</h1><p>A plan for everybody who reads.</p><p>It costs {price} a month.</p>"
        )
    };
    let site = Site::serve(&[]);
    let url = site.url("/");
    for price in ["€9.99", "€12.99"] {
        site.answers("/", "200 OK", &body(price));
        visit(&data, &url);
    }
    let diff = |full: bool| -> Vec<(String, Option<String>, Value)> {
        let mut command = vernal(&data);
        command.args(["diff", &url, "--json"]);
        if full {
            command.arg("--full");
        }
        let diff: Value = serde_json::from_str(&told(&mut command)).unwrap();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let row = |one: &Value| (text(&one["op"]).unwrap(), text(&one["after"]), one["id"].clone());
        diff["paragraphs"].as_array().unwrap().iter().map(row).collect()
    };
    let changed = diff(false);
    assert_eq!(changed.len(), 1, "{changed:?}");
    let whole = diff(true);
    let ops: Vec<&str> = whole.iter().map(|(op, ..)| op.as_str()).collect();
    assert_eq!(ops, ["same", "same", "same", "edited"], "{whole:?}");
    assert_eq!(whole[2].1.as_deref(), Some("A plan for everybody who reads."));
    assert!(whole.iter().all(|(_, _, id)| id.is_string()), "each has its number: {whole:?}");
    assert_eq!(whole[3], changed[0]);
}

#[test]
fn a_decision_may_be_posted_as_a_json_object_or_in_the_query() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let site = Site::serve(&[("/", "<title>Front</title><p>The front page.</p>")]);
    visit(&data, &site.url("/"));
    let mut command = vernal(&data);
    command.args(["run", "--allow-private", "--budget", "1/week", "--listen", "127.0.0.1:0"]);
    let mut running = Running::start(&mut command, &data);
    let listening = running.listening();
    let post = |path: &str, body: &str| {
        let mut stream = TcpStream::connect(&listening).unwrap();
        let head = format!("POST {path} HTTP/1.1\r\nHost: {listening}\r\nConnection: close\r\n");
        let typed = format!(
            "{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            common::local_token(&data),
            body.len()
        );
        stream.write_all(format!("{head}{typed}").as_bytes()).unwrap();
        std::io::read_to_string(stream).unwrap()
    };
    let name = site.address.to_string();
    let rule = serde_json::json!({ "site": name, "word": "add", "words": "Views: *", "reason": "a counter" });
    let added = post("/api/v1/noise", &rule.to_string());
    assert!(added.starts_with("HTTP/1.1 200") && added.contains("\"id\":1"), "{added}");
    let forgotten = post(&format!("/api/v1/noise?site={name}"), "{\"word\":\"forget\",\"id\":1}");
    assert!(forgotten.starts_with("HTTP/1.1 200"), "{forgotten}");
    let wrong = post("/api/v1/noise", "{\"site\":\"a.example\",\"wrod\":\"add\"}");
    assert!(wrong.starts_with("HTTP/1.1 400") && wrong.contains("wrod"), "{wrong}");
    let paused = post("/api/v1/pause", &serde_json::json!({ "site": site.url("/x") }).to_string());
    assert!(paused.starts_with("HTTP/1.1 200") && paused.contains(&format!("\"site\":\"{name}\"")), "{paused}");
    assert_eq!(running.stop(), Some(0));
}

#[test]
fn what_the_api_gives_as_a_trace_can_be_replayed() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let site = Site::serve(&[("/", "<title>Front</title><p>The front page.</p><a href=/a>a</a>")]);
    for round in 0..3 {
        site.answers("/a", "200 OK", &format!("<title>A</title><p>Round {round} has words of its own, really.</p>"));
        visit(&data, &site.url("/"));
    }
    let mut command = vernal(&data);
    command.args(["run", "--allow-private", "--budget", "1/week", "--listen", "127.0.0.1:0"]);
    let mut running = Running::start(&mut command, &data);
    let listening = running.listening();
    let mut stream = TcpStream::connect(&listening).unwrap();
    write!(stream, "GET /api/v1/trace HTTP/1.0\r\nHost: {listening}\r\nConnection: close\r\n\r\n").unwrap();
    let answer = std::io::read_to_string(stream).unwrap();
    assert_eq!(running.stop(), Some(0));
    let lines: String = answer.lines().filter(|line| line.starts_with('{')).map(|line| format!("{line}\n")).collect();
    let (from_api, exported) = (dir.path().join("trace.jsonl"), dir.path().join("trace.csv"));
    std::fs::write(&from_api, &lines).unwrap();
    told(vernal(&data).args(["export", "trace", "--out"]).arg(&exported));
    let replayed = |trace: &Path| {
        let output = output(vernal(&data).args(["lab", "replay", "--policies", "round-robin", "--trace"]).arg(trace));
        let said = complaint(&output);
        assert!(!said.contains("a trace begins with the line"), "{said}");
        // The recording took seconds, which may be too short for a trial; both files must say the same.
        (output.status.code(), said.replace("trace.jsonl", "T").replace("trace.csv", "T"))
    };
    assert_eq!(replayed(&from_api), replayed(&exported));
    assert_eq!(lines.lines().count(), 4, "{lines}");
}

#[test]
fn an_index_and_an_export_of_one_site_name_the_same_files_and_places() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    let front = served.seeds()[0].clone();
    let site = front.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let exported = dir.path().join("exported");
    let index = |extra: &[&str]| -> Vec<Value> {
        let text = told(vernal(&data).args(["export", "cdxj", "--out", "-"]).args(extra));
        text.lines().map(|line| serde_json::from_str(&line[line.find('{').unwrap()..]).unwrap()).collect()
    };
    told(vernal(&data).args(["export", "warc", "--site", &site, "--out"]).arg(exported.join("")));
    let rows = index(&["--site", &site]);
    assert!(!rows.is_empty() && rows.len() < index(&[]).len());
    for row in rows {
        assert!(row["url"].as_str().unwrap().starts_with(&front), "{row}");
        let file = std::fs::read(exported.join(row["filename"].as_str().unwrap())).unwrap();
        let number = |name: &str| row[name].as_str().unwrap().parse::<usize>().unwrap();
        let member = &file[number("offset")..number("offset") + number("length")];
        let mut record = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(member), &mut record).unwrap();
        let record = String::from_utf8_lossy(&record);
        assert!(record.contains(&format!("WARC-Target-URI: {}\r\n", row["url"].as_str().unwrap())), "{row}");
    }
    let one = index(&["--warc", "all.warc.gz"]);
    assert!(one.iter().all(|row| row["filename"] == "all.warc.gz"));
    let (code, said) = refused(vernal(&data).args(["export", "warc", "--out", "-", "--warc", "x"]));
    assert!(code == 2 && said.contains("--warc is for cdxj"), "{said}");
}

#[test]
fn a_login_is_a_wall_whose_end_is_told_and_a_refusal_is_no_wall_against_robots() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let words = "<title>Report</title><p>The yearly report of the society.</p>";
    let site = Site::serve(&[("/", words)]);
    let url = site.url("/");
    let events = || -> Vec<(String, String)> {
        let events = json_lines(&told(vernal(&data).args(["changes", "--json"])));
        let text = |event: &Value, name: &str| event[name].as_str().unwrap().to_owned();
        events.iter().map(|event| (text(event, "event"), text(event, "detail"))).collect()
    };
    visit(&data, &url);
    site.answers("/", "302 Found\r\nLocation: /user/login?next=%2F", "");
    visit(&data, &url);
    let page: Value = serde_json::from_str(&told(vernal(&data).args(["page", "--json", &url]))).unwrap();
    assert_eq!((&page["state"], &page["newest"]["number"]), (&"held".into(), &1.into()), "{page}");
    assert_eq!(events()[1].0, "blocked");
    assert!(events()[1].1.starts_with("login wall: status 302 to http://"), "{:?}", events());
    assert_eq!(site.times_asked("/user/login?next=%2F"), 0, "a login is not crawled");
    let forbidden = Site::serve(&[]);
    forbidden.answers("/", "403 Forbidden", "<title>403 Forbidden</title><h1>Forbidden</h1>");
    told(run(&data).args(["--until-idle", &forbidden.url("/")]));
    let refused = told(vernal(&data).args(["page", &forbidden.url("/")]));
    assert!(refused.contains("forbidden: status 403") && !refused.contains("bot wall"), "{refused}");
}
