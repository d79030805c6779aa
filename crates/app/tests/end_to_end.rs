//! The real binary against a small web on loopback, stopped and running.

mod common;

use std::collections::BTreeSet;

use common::{Running, crawl_until_idle, json_lines, refused, run, small_web, told, vernal};
use serde_json::Value;
use vernal_simulator::serve::Served;

fn wanted(served: &Served) -> BTreeSet<String> {
    served.web().truth().into_iter().filter(|page| page.must_be_held()).map(|page| page.url).collect()
}

fn held(data: &std::path::Path) -> BTreeSet<String> {
    let pages = json_lines(&told(vernal(data).args(["pages", "--json", "--state", "held"])));
    pages.iter().map(|page| page["url"].as_str().expect("a page has a URL").to_owned()).collect()
}

fn status(data: &std::path::Path) -> Value {
    serde_json::from_str(&told(vernal(data).args(["status", "--json"]))).expect("the status is JSON")
}

#[test]
fn until_idle_holds_every_page_once_and_a_second_run_keeps_no_second_body() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    assert_eq!(held(&data), wanted(&served));
    let first = status(&data);
    assert_eq!(first["held"], first["versions"]);
    assert_eq!(first["crawl"], Value::Null);
    told(run(&data).args(["--until-idle", "--refresh-min", "0s", "--budget", "1000000/s"]));
    assert_eq!(status(&data)["versions"], first["versions"]);
    assert!(served.counts().not_modified > 0, "a second look costs conditional requests only");
    let verdict: Value = serde_json::from_str(&told(vernal(&data).args(["verify", "--json"]))).unwrap();
    assert_eq!((&verdict["sound"], &verdict["politeness_breaches"]), (&true.into(), &0.into()), "{verdict}");
    assert_eq!((&verdict["tables_compared"], &verdict["journal_faults"]), (&true.into(), &0.into()), "{verdict}");
}

/// A row of a site without what is believed of its pages: that is of the moment at which it is asked, and of the policy that runs.
fn without_belief(row: &str) -> String {
    const OF_THE_MOMENT: [&str; 6] =
        ["as_of", "freshness_believed", "believed_by", "freshness_measured", "freshness_samples", "mean_age_days"];
    let mut row: Value = serde_json::from_str(row).expect("a row is JSON");
    let measures = row["measures"].as_object_mut().expect("a site has measures");
    for name in OF_THE_MOMENT {
        assert!(measures.remove(name).is_some(), "{name}");
    }
    format!("{row}\n")
}

#[test]
fn every_question_has_the_same_answer_stopped_and_running() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    let front = served.seeds()[0].clone();
    let site = front.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let questions: Vec<Vec<&str>> = vec![
        vec!["sites"],
        vec!["sites", "--sort", "-visits", "--limit", "1"],
        vec!["pages"],
        vec!["pages", "--site", &site, "--sort", "url", "--limit", "3"],
        vec!["page", &front],
        vec!["history", &front],
        vec!["cat", &front],
        vec!["links", &front],
        vec!["links", &front, "--back"],
        vec!["changes"],
        vec!["changes", "--kind", "content", "--limit", "2"],
        vec!["seeds", "list"],
        vec!["export", "cdxj", "--out", "-"],
    ];
    let ask = |question: &Vec<&str>| {
        // The hours of a refresh time are those that the budget pays for, so that both have the same one.
        let answer = told(vernal(&data).env("VERNAL_BUDGET", "1/week").args(question).arg("--json"));
        if question[0] == "sites" { answer.lines().map(without_belief).collect() } else { answer }
    };
    // A start is a deed, and tables that change are not held against the journal: these fields may differ.
    let verify = || {
        let mut verdict: Value = serde_json::from_str(&told(vernal(&data).args(["verify", "--json"]))).unwrap();
        let fields = verdict.as_object_mut().unwrap();
        fields.retain(|name, _| name != "tables_compared" && !name.starts_with("journal_"));
        verdict
    };
    let (stopped, verdict): (Vec<String>, Value) = (questions.iter().map(ask).collect(), verify());
    let running = Running::start(run(&data).args(["--budget", "1/week"]), &data);
    for (question, expected) in questions.iter().zip(&stopped) {
        assert_eq!(&ask(question), expected, "{question:?}");
    }
    assert_eq!(verify(), verdict);
    assert!(status(&data)["crawl"]["process"].is_number());
    assert_eq!(running.stop(), Some(0));
    assert_eq!(status(&data)["crawl"], Value::Null);
}

#[test]
fn a_second_run_exits_1_and_names_the_first() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    let running = Running::start(run(&data).args(served.seeds()), &data);
    let (code, complaint) = refused(&mut run(&data));
    assert_eq!(code, 1, "{complaint}");
    assert!(complaint.contains(&running.0.id().to_string()), "{complaint}");
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
    let socket = std::fs::metadata(data.join("vernal.sock")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&socket.permissions()) & 0o777, 0o600);
    assert_eq!(running.stop(), Some(0));
}

#[test]
fn a_crawl_is_spoken_of_by_its_own_settings_while_it_runs_and_afterwards() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    let running = Running::start(run(&data).args(["--budget", "7/week"]).args(served.seeds()), &data);
    let rows = json_lines(&told(vernal(&data).args(["config", "--json"])));
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap()["value"].clone();
    assert_eq!((row("budget"), row("allow_private")), ("7/week".into(), "true".into()));
    assert_eq!(running.stop(), Some(0));
    assert_eq!(status(&data)["budget"], "7/week");
    let check: Value =
        serde_json::from_str(&told(vernal(&data).args(["check", "--json", &served.seeds()[0]]))).unwrap();
    assert_eq!(check["guard"], "open");
    let (code, complaint) = refused(vernal(&data).args(["run", "--no-serve", "--until-idle"]));
    assert_eq!((code, complaint.contains("--allow-private")), (2, true), "{complaint}");
}

#[test]
fn a_site_that_cannot_be_reached_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    // The port of a listener that is gone: nobody answers there.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{gone}/");
    let running = Running::start(run(&data).arg(&url), &data);
    common::wait_until("the trouble is told", || {
        let sites = json_lines(&told(vernal(&data).args(["sites", "--json"])));
        sites.iter().any(|site| site["trouble"].as_str().is_some_and(|why| why.starts_with("connect")))
    });
    assert_eq!(running.stop(), Some(0));
    for verb in ["page", "check"] {
        let said: Value = serde_json::from_str(&told(vernal(&data).args([verb, "--json", &url]))).unwrap();
        assert!(said["trouble"].as_str().unwrap().starts_with("connect"), "{said}");
        assert!(said["robots_visit"]["outcome"].as_str().unwrap().starts_with("could not be fetched"), "{said}");
    }
}

#[test]
fn a_run_ends_with_its_summary_as_json() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    let said = json_lines(&told(run(&data).args(["--json", "--until-idle"]).args(served.seeds())));
    assert_eq!((said.len(), &said[0]["ended"]), (1, &"idle".into()));
    assert_eq!(said[0]["held"], wanted(&served).len());
}

#[test]
fn acts_reach_a_running_crawl_at_once_and_survive_it() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    let seeds = served.seeds();
    let running = Running::start(run(&data).arg(&seeds[0]), &data);
    told(vernal(&data).arg("pause"));
    assert_eq!(status(&data)["paused"], true);
    let added: Value =
        serde_json::from_str(&told(vernal(&data).args(["seeds", "add", "--json", "--tag", "two", &seeds[1]]))).unwrap();
    assert_eq!((&added["new"], &added["known"]), (&1.into(), &0.into()));
    assert_eq!(running.stop(), Some(0));
    assert_eq!(status(&data)["paused"], true);
    told(vernal(&data).arg("resume"));
    assert_eq!(status(&data)["paused"], false);
    let tagged = json_lines(&told(vernal(&data).args(["seeds", "list", "--json", "--tag", "two"])));
    assert_eq!(tagged.len(), 1);
    told(run(&data).arg("--until-idle"));
    assert_eq!(held(&data), wanted(&served));
    let (code, _) = refused(vernal(&data).args(["block", "unknown.example"]));
    assert_eq!(code, 1);
}

#[test]
fn the_feed_tells_each_new_page_once_and_goes_on_from_its_cursor() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    let events = json_lines(&told(vernal(&data).args(["changes", "--json"])));
    let urls: BTreeSet<String> = events.iter().map(|event| event["url"].as_str().unwrap().to_owned()).collect();
    assert_eq!(urls, wanted(&served));
    assert_eq!(events.len(), urls.len());
    let fields = [
        "id",
        "cursor",
        "event",
        "url",
        "site",
        "tags",
        "title",
        "language",
        "content_type",
        "version",
        "previous",
        "seen_same",
        "seen_different",
        "kinds",
        "magnitude",
        "flapping",
        "decided_by",
        "paragraphs",
    ];
    for event in &events {
        assert!(event["event"] != "new" || event["decided_by"].is_null(), "{event}");
        assert!(fields.iter().all(|field| event.get(field).is_some()), "{event}");
        assert!(event["id"].as_str().unwrap().starts_with('e') && event["cursor"].as_str().unwrap().starts_with('c'));
    }
    let third = events[2]["cursor"].as_str().unwrap();
    let rest = json_lines(&told(vernal(&data).args(["changes", "--json", "--since", third])));
    assert_eq!(rest, events[3..]);
    // Nothing crawls, so that following ends with what is there.
    let followed = json_lines(&told(vernal(&data).args(["changes", "--json", "--follow", "--since", third])));
    assert_eq!(followed, rest);
}

#[test]
fn a_body_comes_back_as_it_was_written() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    let front = &served.seeds()[0];
    let body = told(vernal(&data).args(["cat", front]));
    assert!(body.contains("<html"), "{}", &body[..body.len().min(200)]);
    let (code, complaint) = refused(vernal(&data).args(["cat", front, "--at", "2001-01-01"]));
    assert_eq!(code, 1, "{complaint}");
    let (code, complaint) = refused(vernal(&data).args(["cat", front, "--at", "yesterday"]));
    assert_eq!(code, 2, "{complaint}");
    let (code, complaint) = refused(vernal(&data).args(["cat", "http://127.0.0.1:9/never"]));
    assert_eq!(code, 1, "{complaint}");
}

#[test]
fn plans_checks_and_exports_answer_stopped_and_running() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    let front = served.seeds()[0].clone();
    let ask = |warc: &str| {
        let check: Value = serde_json::from_str(&told(vernal(&data).args(["check", &front, "--json"]))).unwrap();
        assert_eq!((&check["in_scope"], &check["state"]), (&true.into(), &"held".into()), "{check}");
        let why: Value = serde_json::from_str(&told(vernal(&data).args(["why", &front, "--json"]))).unwrap();
        let names: Vec<&str> =
            why["reasons"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
        assert!(!names.is_empty(), "{why}");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{why}");
        let settings = told(vernal(&data).args(["config", "--for", &front]));
        assert!(settings.contains(&format!("seed {front}")), "{settings}");
        let warc = dir.path().join(warc);
        told(vernal(&data).args(["export", "warc", "--out"]).arg(&warc));
        let streamed = common::output(vernal(&data).args(["export", "warc", "--out", "-"])).stdout;
        assert!(streamed.starts_with(&[0x1f, 0x8b]));
        assert_eq!(std::fs::read(&warc).unwrap(), streamed);
    };
    ask("stopped.warc.gz");
    let running = Running::start(run(&data).args(["--budget", "1/week"]), &data);
    ask("running.warc.gz");
    assert_eq!(running.stop(), Some(0));
}

#[test]
fn the_listener_asks_for_the_token_and_for_a_loopback_name() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let (data, token) = (dir.path().join("data"), dir.path().join("token"));
    std::fs::write(&token, "s3cret\n").unwrap();
    let mut command = vernal(&data);
    command.args(["run", "--allow-private", "--delay", "2ms", "--listen", "127.0.0.1:0", "--token-file"]).arg(&token);
    let mut running = Running::start(command.args(served.seeds()), &data);
    let address = running.listening();
    let ask = |request: &str| http_status(&address, request);
    assert_eq!(ask("GET /healthz HTTP/1.1\r\nHost: localhost\r\n"), 200);
    assert_eq!(ask("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n"), 403);
    assert_eq!(ask("GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n"), 401);
    let bearer = "Host: localhost\r\nAuthorization: Bearer s3cret\r\n";
    for path in ["/", "/metrics", "/plan", "/api/v1/status", "/api/v1/openapi.json", "/api/v1/sites"] {
        assert_eq!(ask(&format!("GET {path} HTTP/1.1\r\n{bearer}")), 200, "{path}");
        assert_eq!(ask(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n")), 401, "{path}");
    }
    let write = format!("POST /api/v1/pause HTTP/1.1\r\n{bearer}Content-Length: 0\r\n");
    assert_eq!(ask(&format!("{write}Origin: http://evil.example\r\n")), 403);
    assert_eq!(ask(&write), 200);
    assert_eq!(status(&data)["paused"], true);
    assert_eq!(running.stop(), Some(0));
}

/// One request by hand; the status of its answer.
fn http_status(address: &str, head: &str) -> u16 {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).expect("it listens");
    stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).expect("it hears");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.contains("x-content-type-options: nosniff") || answer.contains(" 40"), "{answer}");
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("an answer has a status")
}

#[test]
fn visits_end_where_they_are_told_to() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    told(run(&data).args(["--visits", "5"]).args(served.seeds()));
    assert_eq!(served.counts().requests, 5);
    assert_eq!(status(&data)["visits"], 5);
    told(run(&data).arg("--until-idle"));
    assert_eq!(held(&data), wanted(&served));
}
