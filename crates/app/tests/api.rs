//! The API as programs meet it: problems, tags, parts of lists, packing, and what other people's tools find in it.
//!
//! `VERNAL_JUDGES` names the `bin` folder of a Python environment with schemathesis 4.32.5. Without it the judge is skipped, and
//! that is said; where `CI` is set its absence is a failure.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Running, ask_port, crawl_until_idle, json_lines, output, small_web, told, vernal};
use serde_json::Value;
use vernal_simulator::serve::Served;

/// A crawl that has nothing left to do, and serves.
struct Api {
    running: Running,
    address: String,
    data: PathBuf,
    _served: Served,
    _dir: tempfile::TempDir,
}

impl Api {
    fn serves() -> Api {
        let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
        let data = dir.path().join("data");
        crawl_until_idle(&data, &served);
        let mut command = vernal(&data);
        command.args(["run", "--allow-private", "--budget", "1/week", "--listen", "127.0.0.1:0"]);
        let mut running = Running::start(&mut command, &data);
        let address = running.listening();
        Api { running, address, data, _served: served, _dir: dir }
    }

    /// The head of an answer, with names in small letters, and its body.
    fn asked(&self, method: &str, path: &str, headers: &str) -> (String, String) {
        let (head, body) = self.asked_raw(method, path, headers);
        let is_plain = head.contains("chunked") && !head.contains("content-encoding");
        let body = if is_plain { unchunked(&body) } else { body };
        (head, body)
    }

    /// The same with the body as it comes.
    fn asked_raw(&self, method: &str, path: &str, headers: &str) -> (String, String) {
        let answer = ask_port(&self.address, &format!("{method} {path} HTTP/1.1\r\n{headers}"));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let line = |line: &str| match line.split_once(':') {
            Some((name, value)) => format!("{}:{value}\n", name.to_ascii_lowercase()),
            None => format!("{line}\n"),
        };
        (head.lines().map(line).collect(), body.to_owned())
    }

    fn token(&self) -> String {
        std::fs::read_to_string(self.data.join("local-token")).unwrap().trim().to_owned()
    }

    fn stop(self) {
        assert_eq!(self.running.stop(), Some(0));
    }
}

/// The lines of a body that came in chunks: each line of JSON is whole in them.
fn unchunked(body: &str) -> String {
    let mut rest = body;
    let mut whole = String::new();
    while let Some((size, behind)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            break;
        }
        whole.push_str(&behind[..size]);
        rest = behind[size..].trim_start_matches("\r\n");
    }
    whole
}

/// A path with something in the place of each name in braces.
fn some_path(path: &str) -> String {
    let segments = path.split('/').map(|segment| if segment.starts_with('{') { "x" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[test]
fn a_refusal_is_a_problem_that_scripts_still_read() {
    let api = Api::serves();
    let token = format!("Authorization: Bearer {}\r\nContent-Length: 0\r\n", api.token());
    for (method, path, status) in [
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/api/v1/page", 400),
        ("GET", "/api/v1/page?url=nonsense", 400),
        ("GET", "/api/v1/pages?limit=-1", 400),
        ("GET", "/api/v1/pages?after=b1", 400),
        ("DELETE", "/api/v1/status", 405),
        ("POST", "/api/v1/compact", 409),
    ] {
        let (head, body) = api.asked(method, path, &token);
        let problem: Value = serde_json::from_str(&body).unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {path}: {head}");
        assert_eq!(field(&head, "content-type"), Some("application/problem+json"), "{method} {path}");
        assert_eq!(
            (problem["status"].as_u64(), &problem["error"]),
            (Some(status), &problem["detail"]),
            "{method} {path}"
        );
        assert!(problem["title"].is_string() && problem["type"] == "about:blank", "{problem}");
    }
    assert_eq!(field(&api.asked("DELETE", "/api/v1/status", &token).0, "allow"), Some("GET,HEAD"));
    api.stop();
}

#[test]
fn what_is_stable_is_tagged_and_a_head_is_a_get_without_its_body() {
    let api = Api::serves();
    let (head, body) = api.asked("GET", "/api/v1/openapi.json", "");
    let tag = field(&head, "etag").unwrap();
    assert_eq!(field(&head, "cache-control"), Some("private, no-cache"));
    let (known, nothing) = api.asked("GET", "/api/v1/openapi.json", &format!("If-None-Match: {tag}\r\n"));
    assert!(known.starts_with("HTTP/1.1 304 ") && nothing.is_empty() && field(&known, "etag") == Some(tag), "{known}");
    let (packed, bytes) = api.asked("GET", "/api/v1/openapi.json", "Accept-Encoding: gzip\r\n");
    assert!(field(&packed, "content-encoding") == Some("gzip") && bytes.len() < body.len());
    let (list, _) = api.asked("GET", "/api/v1/pages", "");
    // Packed lists end as others do.
    let (empty, _) = api.asked("GET", "/api/v1/hints", "Accept-Encoding: gzip\r\n");
    assert_eq!(field(&empty, "content-encoding"), Some("gzip"));
    let (head, whole) = api.asked_raw("GET", "/api/v1/pages", "Accept-Encoding: gzip\r\n");
    assert!(field(&head, "content-encoding") == Some("gzip") && whole.ends_with("0\r\n\r\n"), "{head}");
    assert_eq!((field(&list, "etag"), field(&list, "cache-control")), (None, Some("no-store")));
    let (stream, _) = api.asked("GET", "/api/v1/changes/stream?limit=3", "Accept-Encoding: gzip\r\n");
    assert_eq!((field(&stream, "content-encoding"), field(&stream, "etag")), (None, None), "{stream}");
    let described: Value = serde_json::from_str(&body).unwrap();
    for (path, methods) in described["paths"].as_object().unwrap() {
        if methods["get"].is_object() {
            let (head, body) = api.asked("HEAD", &some_path(path), "");
            assert!(
                body.is_empty() && !head.starts_with("HTTP/1.1 5") && !head.starts_with("HTTP/1.1 405"),
                "{path}: {head}"
            );
        }
    }
    api.stop();
}

#[test]
fn router_and_description_name_the_same_routes() {
    let api = Api::serves();
    let token = format!("Authorization: Bearer {}\r\nContent-Length: 0\r\n", api.token());
    let described: Value = serde_json::from_str(&api.asked("GET", "/api/v1/openapi.json", "").1).unwrap();
    for (path, methods) in described["paths"].as_object().unwrap() {
        for method in ["GET", "POST", "DELETE", "PUT", "PATCH"] {
            // What is described would be done; here it is only asked whether it is there.
            let is_described = methods[method.to_ascii_lowercase()].is_object();
            if is_described && method != "GET" {
                continue;
            }
            let (head, body) = api.asked(method, &format!("{}?no=such", some_path(path)), &token);
            let is_there = !head.starts_with("HTTP/1.1 405") && !body.contains("there is nothing at");
            assert_eq!(is_there, is_described, "{method} {path}: {head} {body}");
        }
    }
    api.stop();
}

#[test]
fn a_list_in_parts_is_the_whole_list_and_commands_show_rows_alone() {
    let api = Api::serves();
    for noun in
        ["pages", "pages?sort=-visits", "sites", "seeds", "changes", "settings", "hints", "names", "noise", "topics"]
    {
        let with =
            |noun: &str, more: &str| format!("/api/v1/{noun}{}{more}", if noun.contains('?') { "&" } else { "?" });
        let whole = json_lines(&api.asked("GET", &format!("/api/v1/{noun}"), "").1);
        assert!(whole.iter().all(|row| row["after"].is_null()), "{noun}: nobody gave a limit");
        if noun == "settings" {
            continue;
        }
        let (mut parts, mut after) = (Vec::new(), String::new());
        loop {
            let rows = json_lines(&api.asked("GET", &with(noun, &format!("limit=3&after={after}")), "").1);
            let (rest, rows): (Vec<Value>, Vec<Value>) = rows.into_iter().partition(|row| !row["after"].is_null());
            assert!(rows.len() <= 3 && rest.len() <= 1, "{noun}");
            parts.extend(rows);
            let Some(rest) = rest.first() else { break };
            after = rest["after"].as_str().unwrap().to_owned();
        }
        assert_eq!(parts, whole, "{noun}");
    }
    let rows = json_lines(&told(vernal(&api.data).args(["pages", "--limit", "2", "--json"])));
    assert!(rows.len() == 2 && rows.iter().all(|row| row["url"].is_string()));
    let table = told(vernal(&api.data).args(["changes", "--event", "new", "--limit", "2"]));
    assert_eq!(table.lines().count(), 3, "{table}");
    api.stop();
}

#[test]
fn several_budgets_may_be_given_in_two_ways() {
    let api = Api::serves();
    let budgets = |query: &str| {
        let plan: Value = serde_json::from_str(&api.asked("GET", &format!("/api/v1/plan?{query}"), "").1).unwrap();
        plan["forecasts"].as_array().unwrap().iter().map(|one| one["budget"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(budgets("budget=5/day&for=1d&budget=9/day"), budgets("budget=5/day,9/day&for=1d"));
    assert_eq!(budgets("budget=5/day&budget=9/day").len(), 2);
    api.stop();
}

fn judges() -> Option<PathBuf> {
    let folder = std::env::var_os("VERNAL_JUDGES").map(PathBuf::from);
    match folder.filter(|folder| folder.join("schemathesis").exists()) {
        Some(folder) => Some(folder),
        None if std::env::var_os("CI").is_some() => panic!("VERNAL_JUDGES must name a folder with schemathesis here"),
        None => {
            eprintln!("skipped: VERNAL_JUDGES does not name a folder with schemathesis");
            None
        }
    }
}

fn judged(command: &mut Command) -> String {
    let output = output(command);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    out.into_owned()
}

#[test]
fn every_answer_is_as_its_schema_says_and_schemathesis_finds_nothing() {
    let Some(judges) = judges() else { return };
    let api = Api::serves();
    let page = json_lines(&told(vernal(&api.data).args(["pages", "--limit", "1", "--json"]))).remove(0);
    let (url, site) = (page["url"].as_str().unwrap(), page["site"].as_str().unwrap());
    let base = format!("http://{}", api.address);
    let held =
        judged(
            Command::new(judges.join("python"))
                .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers.py"))
                .args([&base, url, site, &api.token()]),
        );
    let held: Value = serde_json::from_str(held.lines().last().unwrap()).unwrap();
    assert!(held["held"].as_u64() > Some(200), "{held}");
    let token = format!("Authorization: Bearer {}", api.token());
    let said = judged(
        Command::new(judges.join("schemathesis"))
            .arg(format!("--config-file={}/tests/schemathesis.toml", env!("CARGO_MANIFEST_DIR")))
            .args(["run", &format!("{base}/api/v1/openapi.json"), "-H", &token])
            // These have no end while the crawl runs (an export with `follow`); tests of their own read them.
            .args(["--exclude-path", "/api/v1/changes/stream", "--exclude-path", "/api/v1/export"])
            // On loopback reading needs no token; `access.rs` asks every route with every role.
            .args(["--exclude-checks", "ignored_auth,missing_required_header"])
            .args(["--phases", "examples,coverage,fuzzing", "--max-examples", "8", "--seed", "20261119"])
            .args(["--no-shrink", "--request-timeout", "20", "--max-time", "90"])
            .env("SCHEMATHESIS_HOOKS", "schemathesis_hooks")
            .env("PYTHONPATH", Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(api.data.parent().unwrap()),
    );
    assert!(!said.contains("FAILURES"), "{said}");
    assert!(told(vernal(&api.data).args(["status", "--json"])).contains("\"crawl\":{"), "the crawl still runs");
    api.stop();
}
