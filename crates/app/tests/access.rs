//! Who may ask a crawl beyond loopback, from end to end: every route of the API with every role, tokens that come and go
//! while the crawl runs, TLS, and limits of requests.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use common::edited::{Edited, visit};
use common::{
    Running, ask_port, crawl_until_idle, json_lines, local_token, refused, small_web, told, vernal, wait_until,
};
use serde_json::Value;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

const ROLES: [&str; 3] = ["read", "operate", "admin"];

/// A folder with a small crawl in it.
fn crawled() -> (tempfile::TempDir, std::path::PathBuf) {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    (dir, data)
}

/// A crawl that serves and visits nothing more.
fn serving(data: &Path, more: &[&str]) -> Command {
    let mut command = vernal(data);
    command.args(["run", "--allow-private", "--budget", "1/week"]).args(more);
    command
}

/// Makes a token and gives its text.
fn token(data: &Path, name: &str, role: &str) -> String {
    let made: Value =
        serde_json::from_str(&told(vernal(data).args(["token", "add", name, "--role", role, "--json"]))).unwrap();
    assert_eq!((&made["name"], &made["role"]), (&name.into(), &role.into()));
    made["token"].as_str().unwrap().to_owned()
}

/// The status of one request; its answer is not waited for, because some have no end.
fn status(address: &str, method: &str, path: &str, token: Option<&str>) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    let bearer = token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\n{bearer}Content-Length: 0\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut line = [0; 12];
    stream.read_exact(&mut line).unwrap();
    String::from_utf8_lossy(&line[9..]).parse().unwrap()
}

fn body(answer: &str) -> Value {
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1.trim()).unwrap()
}

/// Method, path and needed role of every operation that the API describes; no role where none is needed.
fn operations(address: &str, token: &str) -> Vec<(String, String, Option<String>)> {
    let asked = format!("GET /api/v1/openapi.json HTTP/1.1\r\nAuthorization: Bearer {token}\r\n");
    let described = body(&ask_port(address, &asked));
    let mut operations = Vec::new();
    for (path, methods) in described["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let role = operation["security"][0]["token"][0].as_str().map(str::to_owned);
            operations.push((method.to_uppercase(), path.clone(), role));
        }
    }
    operations
}

/// A path that can be asked: what is in braces is some page, or some name.
fn some_path(path: &str) -> String {
    let segments = path.split('/').map(|segment| match segment {
        "{url}" => "http%3A%2F%2Fa.example%2F",
        _ if segment.starts_with('{') => "nobody",
        _ => segment,
    });
    segments.collect::<Vec<_>>().join("/")
}

#[test]
fn beyond_loopback_every_route_wants_a_token_whose_role_is_large_enough() {
    let (_dir, data) = crawled();
    let tokens = ROLES.map(|role| token(&data, role, role));
    let mut running = Running::start(&mut serving(&data, &["--listen", "0.0.0.0:0"]), &data);
    let address = running.listening().replace("0.0.0.0", "127.0.0.1");
    let operations = operations(&address, &tokens[0]);
    let role_of = |method: &str, path: &str| {
        operations.iter().find(|(m, p, _)| m == method && p == path).and_then(|(_, _, role)| role.as_deref())
    };
    assert_eq!(role_of("GET", "/api/v1/status"), Some("read"));
    assert_eq!(role_of("POST", "/api/v1/pause"), Some("operate"));
    assert_eq!(role_of("DELETE", "/api/v1/tokens/{name}"), Some("admin"));
    assert!(operations.len() > 40);
    for (method, path, needed) in &operations {
        let asked = |token: Option<&str>| status(&address, method, &some_path(path), token);
        let Some(needed) = needed else {
            assert_eq!((path.as_str(), asked(None)), ("/healthz", 200), "nothing else is open");
            continue;
        };
        let needed = ROLES.iter().position(|role| role == needed).unwrap();
        assert_eq!(asked(None), 401, "{method} {path}");
        for (place, token) in tokens.iter().enumerate() {
            let status = asked(Some(token));
            match place < needed {
                true => assert_eq!(status, 403, "{method} {path} as {}", ROLES[place]),
                false => assert!(![401, 403, 429, 503].contains(&status), "{method} {path}: {status}"),
            }
        }
    }
    for path in ["/", "/plan", "/indexnow?url=http://a.example/", "/websub", "/nowhere", "/api/v1/nowhere"] {
        assert_eq!(status(&address, "GET", path, None), 401, "{path}");
    }
    // Guessing gets slower, and those who share the address of whoever guesses are let in all the same.
    let guesses: Vec<u16> = (0..15).map(|_| status(&address, "GET", "/api/v1/status", Some("vernal_wrong"))).collect();
    assert!(guesses.starts_with(&[401; 10]) && guesses.ends_with(&[429]), "{guesses:?}");
    assert_eq!(status(&address, "GET", "/api/v1/status", Some(&tokens[0])), 200);
    assert_eq!(running.stop(), Some(0));
}

#[test]
fn tokens_come_and_go_at_once_in_a_running_crawl_and_in_a_stopped_folder() {
    let (_dir, data) = crawled();
    let first = token(&data, "first", "read");
    let mut running = Running::start(&mut serving(&data, &["--listen", "127.0.0.1:0"]), &data);
    let address = running.listening();
    let pause = |token: &str| status(&address, "POST", "/api/v1/pause", Some(token));
    assert_eq!(pause(&first), 403);
    let late = token(&data, "late", "operate");
    assert_eq!(pause(&late), 200);
    let list = || told(vernal(&data).args(["token", "list", "--json"]));
    let while_running = list();
    let rows = json_lines(&while_running);
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["first", "late"]);
    assert!(rows.iter().all(|row| row["last_used"].is_string() && row["expires"].is_null() && row["expired"] == false));
    assert!(
        !while_running.contains(&first[10..]) && !while_running.contains(&late[10..]),
        "texts are never shown again"
    );
    told(vernal(&data).args(["token", "revoke", "late"]));
    assert_eq!((pause(&late), status(&address, "GET", "/api/v1/status", Some(&late))), (401, 401));
    let (code, line) = refused(vernal(&data).args(["token", "revoke", "late"]));
    assert_eq!((code, line.trim()), (1, "vernal: there is no token late"));
    let (code, line) = refused(vernal(&data).args(["token", "revoke", "../seeds?url=x"]));
    assert_eq!((code, line.trim()), (1, "vernal: there is no token ../seeds?url=x"));
    let (code, line) = refused(vernal(&data).args(["token", "add", "first", "--role", "admin"]));
    assert!(code == 1 && line.contains("there is a token first already"), "{line}");
    // The owner makes tokens through the port too, and nobody else does.
    let by_port = |name: &str, bearer: &str| {
        let asked = format!("POST /api/v1/tokens?name={name}&role=read HTTP/1.1\r\n{bearer}Content-Length: 0\r\n");
        ask_port(&address, &asked)
    };
    let made = by_port("ported", &local_token(&data));
    assert!(body(&made)["token"].as_str().unwrap().starts_with("vernal_"), "{made}");
    assert!(by_port("more", &format!("Authorization: Bearer {first}\r\n")).starts_with("HTTP/1.1 403"));
    assert!(by_port("more", "").starts_with("HTTP/1.1 401"));
    let before = list();
    assert_eq!(running.stop(), Some(0));
    assert_eq!(list(), before, "a stopped folder gives the same answer");
    told(vernal(&data).args(["token", "revoke", "first"]));
    told(vernal(&data).args(["token", "revoke", "ported"]));
    assert_eq!(list(), "");
    let (code, line) = refused(&mut serving(&data, &["--listen", "0.0.0.0:0"]));
    assert!(code == 2 && line.contains("needs a token"), "{line}");
}

#[test]
fn a_damaged_file_of_tokens_is_told_and_lets_nobody_in() {
    let (_dir, data) = crawled();
    let admin = token(&data, "admin", "admin");
    let path = data.join("tokens");
    let good = fs::read(&path).unwrap();
    let mut bad = good.clone();
    bad[30] ^= 1;
    fs::write(&path, &bad).unwrap();
    for act in [&["token", "list"][..], &["token", "revoke", "admin"], &["token", "add", "b", "--role", "read"]] {
        let (code, line) = refused(vernal(&data).args(act));
        assert!(code == 1 && line.contains("tokens is damaged at byte"), "{act:?}: {line}");
    }
    let (code, line) = refused(&mut serving(&data, &["--listen", "0.0.0.0:0"]));
    assert!(code == 1 && line.contains("no token opens anything"), "{line}");
    let mut running = Running::start(&mut serving(&data, &["--listen", "127.0.0.1:0"]), &data);
    let address = running.listening();
    assert_eq!(status(&address, "POST", "/api/v1/pause", Some(&admin)), 500);
    assert_eq!(status(&address, "GET", "/api/v1/status", None), 200, "reading on loopback needs none");
    assert_eq!(fs::read(&path).unwrap(), bad, "the file is left for its owner");
    fs::write(&path, &good).unwrap();
    assert_eq!(status(&address, "POST", "/api/v1/pause", Some(&admin)), 200, "a restored file counts at once");
    running.stop();
}

#[test]
fn a_token_and_an_address_may_ask_so_often_and_are_told_when_to_come_again() {
    let (_dir, data) = crawled();
    let reader = token(&data, "reader", "read");
    let mut running = Running::start(&mut serving(&data, &["--listen", "127.0.0.1:0", "--api-rate", "0.1"]), &data);
    let address = running.listening();
    let ask = |token: Option<&str>| {
        let bearer = token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
        ask_port(&address, &format!("GET /api/v1/seeds HTTP/1.1\r\n{bearer}"))
    };
    for token in [None, Some(&*reader)] {
        assert!(ask(token).starts_with("HTTP/1.1 200"));
        let refused = ask(token);
        assert!(refused.starts_with("HTTP/1.1 429") && refused.contains("retry-after: "), "{refused}");
    }
    assert!(told(vernal(&data).args(["seeds", "list", "--json"])).lines().count() > 0, "the socket has no such limit");
    running.stop();
}

#[test]
fn only_pages_of_listed_origins_may_ask_from_browsers() {
    let (_dir, data) = crawled();
    let origin = ["--listen", "127.0.0.1:0", "--cors-origin", "https://board.example"];
    let mut running = Running::start(&mut serving(&data, &origin), &data);
    let address = running.listening();
    let from = |origin: &str, method: &str, more: &str| {
        let asked =
            format!("{method} /api/v1/seeds HTTP/1.1\r\nOrigin: {origin}\r\nSec-Fetch-Site: cross-site\r\n{more}");
        ask_port(&address, &asked).to_lowercase()
    };
    let asks = "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\n";
    let before = from("https://board.example", "OPTIONS", asks);
    assert!(
        before.starts_with("http/1.1 204") && before.contains("access-control-allow-headers: authorization"),
        "{before}"
    );
    let answer = from("https://board.example", "GET", "");
    assert!(answer.starts_with("http/1.1 200"), "{answer}");
    assert!(answer.contains("access-control-allow-origin: https://board.example\r\n"), "{answer}");
    for answer in [from("https://evil.example", "OPTIONS", asks), from("https://evil.example", "GET", "")] {
        assert!(answer.starts_with("http/1.1 403") && !answer.contains("access-control-allow"), "{answer}");
    }
    running.stop();
    let (code, line) = refused(&mut serving(&data, &["--cors-origin", "*"]));
    assert!(code == 2 && line.contains("`*` is no origin"), "{line}");
}

/// A certificate for localhost that signs itself, written with its key as PEM; gives the certificate.
fn renew(dir: &Path) -> rcgen::CertifiedKey<rcgen::KeyPair> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    for (name, text) in [("key.pem", made.signing_key.serialize_pem()), ("cert.pem", made.cert.pem())] {
        fs::write(dir.join("new"), text).unwrap();
        fs::rename(dir.join("new"), dir.join(name)).unwrap();
    }
    made
}

/// One request over TLS by whoever trusts this certificate alone.
fn ask_over_tls(address: &str, head: &str, trusted: &rcgen::CertifiedKey<rcgen::KeyPair>) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(connection, TcpStream::connect(address)?);
    write!(stream, "{head}Host: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[test]
fn the_listener_stands_alone_over_tls_and_takes_renewed_certificates() {
    let (dir, data) = crawled();
    let reader = token(&data, "reader", "read");
    let first = renew(dir.path());
    let (cert, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    let (cert, key) = (cert.to_str().unwrap(), key.to_str().unwrap());
    let tls = ["--listen", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key];
    let mut running = Running::start(&mut serving(&data, &tls), &data);
    let address = running.listening().replace("0.0.0.0", "127.0.0.1");
    let asked = format!("GET /api/v1/status HTTP/1.1\r\nAuthorization: Bearer {reader}\r\n");
    let answer = ask_over_tls(&address, &asked, &first).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && body(&answer)["crawl"].is_object(), "{answer}");
    let answer = ask_over_tls(&address, "GET /api/v1/status HTTP/1.1\r\n", &first).unwrap();
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    let feed = ask_over_tls(&address, &asked.replace("/api/v1/status", "/feed.atom"), &first).unwrap();
    assert!(
        feed.contains("href=\"https://localhost/feed.atom\""),
        "links in a feed lead to where it was asked: {feed}"
    );
    let closed = ask_over_tls(&address, "GET /feed.atom?watch=w1 HTTP/1.1\r\n", &first).unwrap();
    assert!(closed.starts_with("HTTP/1.1 401"), "{closed}");
    assert!(!ask_port(&address, "GET /healthz HTTP/1.1\r\n").starts_with("HTTP/1.1"), "plain HTTP gets no answer");
    let second = renew(dir.path());
    wait_until("the renewed certificate is shown", || {
        ask_over_tls(&address, "GET /healthz HTTP/1.1\r\n", &second).is_ok()
    });
    assert!(ask_over_tls(&address, "GET /healthz HTTP/1.1\r\n", &first).is_err());
    running.stop();
    let (code, line) = refused(&mut serving(&data, &["--tls-cert", cert]));
    assert!(code == 2 && line.contains("tls-cert needs tls-key"), "{line}");
    let (code, line) = refused(&mut serving(&data, &["--tls-cert", cert, "--tls-key", cert]));
    assert!(code == 2 && line.contains("there is no private key in it"), "{line}");
}

#[test]
fn the_archive_is_shown_over_tls_to_whoever_may_ask_and_leads_there() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let web = Edited::serve(&[("/", "<html><body><p>Peas climb.</p><a href=/next>n</a></body></html>".into())]);
    visit(&data, &web.url("/"));
    let reader = token(&data, "reader", "read");
    let made = renew(dir.path());
    let (cert, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    let mut command = serving(&data, &["--listen", "0.0.0.0:0", "--archive-listen", "0.0.0.0:0"]);
    command.arg("--tls-cert").arg(&cert).arg("--tls-key").arg(&key);
    let mut running = Running(command.stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(running.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut next = |words: &str| {
        let said = lines.find_map(|line| Some(line.split_once(words)?.1.trim_end_matches('/').to_owned()));
        said.expect("it says where it serves").replace("0.0.0.0", "127.0.0.1")
    };
    let (main, archive) = (next("serving on https://"), next("archived pages on https://"));
    std::thread::spawn(move || lines.for_each(drop));
    let bearer = format!("Authorization: Bearer {reader}\r\n");
    let asked = |address: &str, target: &str| {
        ask_over_tls(address, &format!("GET {target} HTTP/1.1\r\n{bearer}"), &made).unwrap()
    };
    // The main origin leads to the archive by https, which leads to the version.
    let memento = asked(&main, &format!("/memento/20990101000000/{}", web.url("/")));
    let location =
        memento.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("location: ").map(str::to_owned));
    let location = location.unwrap_or_else(|| panic!("{memento}"));
    let port = archive.rsplit_once(':').unwrap().1;
    assert!(location.starts_with("https://") && location.contains(&format!(":{port}/")), "{location}");
    let moved = asked(&archive, &format!("/2099/{}", web.url("/")));
    assert!(moved.starts_with("HTTP/1.1 302"), "{moved}");
    let path = moved.lines().find_map(|line| line.strip_prefix("location: ")).unwrap_or_else(|| panic!("{moved}"));
    let shown = asked(&archive, path);
    assert!(shown.starts_with("HTTP/1.1 200") && shown.contains("Peas climb."), "{shown}");
    assert!(shown.contains("content-security-policy: sandbox") && !shown.contains("http://127.0.0.1:8376"), "{shown}");
    // Nobody without a token sees anything, and plain HTTP gets no answer.
    let unknown = ask_over_tls(&archive, &format!("GET {path} HTTP/1.1\r\n"), &made).unwrap();
    assert!(unknown.starts_with("HTTP/1.1 401") && !unknown.contains("Peas"), "{unknown}");
    assert!(!ask_port(&archive, &format!("GET {path} HTTP/1.1\r\n")).starts_with("HTTP/1.1"));
    // A renewed certificate is that of both.
    let second = renew(dir.path());
    wait_until("the archive shows the renewed certificate", || {
        ask_over_tls(&archive, &format!("GET {path} HTTP/1.1\r\n"), &second).is_ok()
    });
}
