//! Hints from end to end: a site's sitemap is read as a page, trust is shown, and pushes come through their own door.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::io::{Read, Write};

use common::{Running, assert_sound, invented, json_lines, run, told, vernal};
use vernal_simulator::web::{SitemapManner, WebSettings};

fn ask(address: &str, head: &str, body: &str) -> String {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    write!(stream, "{head}Host: {address}\r\nConnection: close\r\n{length}\r\n{body}").unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

#[test]
fn a_sitemap_is_a_page_and_what_it_says_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let served = invented(WebSettings { sitemaps: SitemapManner::Lying, ..WebSettings::plain(2, 24).still() });
    told(run(&data).args(["--hints", "on", "--until-idle"]).args(served.seeds()));
    let hints = json_lines(&told(vernal(&data).args(["hints", "--json"])));
    assert_eq!(hints.len(), 2, "{hints:?}");
    for row in &hints {
        assert_eq!((row["source"].as_str(), row["files"][0]["entries"].as_u64()), (Some("sitemap"), Some(24)), "{row}");
    }
    let muted = hints.iter().filter_map(|row| row["muted"].as_str()).next();
    assert!(muted.is_none_or(|why| why.contains("24 of 24 pages")), "{muted:?}");
    let file = hints[0]["files"][0]["url"].as_str().unwrap();
    let page: serde_json::Value = serde_json::from_str(&told(vernal(&data).args(["page", file, "--json"]))).unwrap();
    let seen = (page["state"].as_str(), page["document"]["content_type"].as_str());
    assert_eq!(seen, (Some("held"), Some("application/xml")), "{page}");
    assert!(page["hints"].is_null(), "a list does not speak of itself: {page}");
    let sites = json_lines(&told(vernal(&data).args(["sites", "--json"])));
    assert!(sites.iter().all(|site| site["hints"][0]["source"] == "sitemap"), "{sites:?}");
    let why = told(vernal(&data).args(["why", &served.seeds()[0]]).env("VERNAL_HINTS", "on"));
    assert!(why.contains("trust in sitemap"), "{why}");
    assert!(told(vernal(&data).args(["hints"])).contains("sitemap"));
    assert_sound(&data);
}

#[test]
fn a_push_needs_its_key_and_becomes_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let (data, token) = (folder.path().join("data"), folder.path().join("token"));
    std::fs::write(&token, "s3cret").unwrap();
    let served = invented(WebSettings::plain(1, 6).still());
    let seed = served.seeds()[0].clone();
    told(run(&data).args(["--hints", "on", "--until-idle", &seed]));
    let mut command = vernal(&data);
    command.args(["run", "--allow-private", "--hints", "on", "--budget", "1/week", "--listen", "127.0.0.1:0"]);
    command.args(["--indexnow-keys", "k3y", "--websub-secret", "pssst", "--token-file"]).arg(&token);
    let mut running = Running::start(&mut command, &data);
    let address = running.listening();
    let push = |key: &str| ask(&address, &format!("GET /indexnow?url={seed}&key={key} HTTP/1.1\r\n"), "");
    assert!(push("wrong").starts_with("HTTP/1.1 403"), "{}", push("wrong"));
    let taken = push("k3y");
    assert!(taken.starts_with("HTTP/1.1 200") && taken.contains("\"hinted\":1"), "{taken}");
    let host = seed.trim_start_matches("http://").trim_end_matches('/');
    let body = format!("{{\"host\":\"{host}\",\"key\":\"k3y\",\"urlList\":[\"{seed}\",\"{seed}new\"]}}");
    let post = "POST /indexnow HTTP/1.1\r\nContent-Type: application/json\r\n";
    let taken = ask(&address, post, &body);
    assert!(taken.contains("\"hinted\":1") && taken.contains("\"found\":1"), "{taken}");
    let foreign = body.replace(&format!("{seed}new"), "http://elsewhere.example/");
    assert!(ask(&address, post, &foreign).starts_with("HTTP/1.1 422"));
    let unsigned = ask(&address, &format!("POST /websub?topic={seed} HTTP/1.1\r\n"), "<rss/>");
    assert!(unsigned.starts_with("HTTP/1.1 403"), "{unsigned}");
    assert!(ask(&address, "GET /api/v1/hints HTTP/1.1\r\n", "").starts_with("HTTP/1.1 401"));
    let hints = json_lines(&told(vernal(&data).args(["hints", "--json"])));
    let row = hints.iter().find(|row| row["source"] == "indexnow").unwrap();
    assert_eq!(row["heard"], 2, "{row}");
    let page: serde_json::Value = serde_json::from_str(&told(vernal(&data).args(["page", &seed, "--json"]))).unwrap();
    assert_eq!(page["hints"]["pending"].as_array().map(Vec::len), Some(1), "a second word adds nothing: {page}");
    assert_eq!(running.stop(), Some(0));
}
