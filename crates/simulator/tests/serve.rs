//! Laws of the server: what goes over the wire is what the web answers, misbehaviour included.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may fail as tests do")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use vernal_model::{Moment, Span};
use vernal_simulator::scenario::Scenario;
use vernal_simulator::serve::{Clock, ServeOptions, Served, serve, standalone};
use vernal_simulator::web::{Behaviour, Class, Expected, PageNumber, Request, Web, WebSettings, Writing};

fn still_clock(now: Moment) -> Clock {
    Arc::new(move || now)
}

fn served(settings: WebSettings, options: &ServeOptions) -> (Served, Moment) {
    let web = Web::new(settings).unwrap();
    let now = web.settings().origin + Span::from_days(20);
    (serve(&web, still_clock(now), options).unwrap(), now)
}

/// What came back: status, head, body; read to the framing's end.
struct Got {
    status: u16,
    head: String,
    body: Vec<u8>,
}

fn send(stream: &mut TcpStream, path: &str, more: &str) {
    // In one write: in pieces, each request would wait for an acknowledgement.
    let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\n{more}\r\n");
    stream.write_all(head.as_bytes()).unwrap();
}

fn receive(stream: &mut TcpStream) -> Got {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let status = head[9..12].parse().unwrap();
    let mut body = Vec::new();
    if head.contains("Transfer-Encoding: chunked") {
        loop {
            let size = usize::from_str_radix(&line(stream), 16).unwrap();
            let mut chunk = vec![0; size + 2];
            stream.read_exact(&mut chunk).unwrap();
            body.extend(&chunk[..size]);
            if size == 0 {
                break;
            }
        }
    } else if let Some(length) = length(&head) {
        body.resize(length, 0);
        stream.read_exact(&mut body).unwrap();
    }
    Got { status, head, body }
}

fn length(head: &str) -> Option<usize> {
    head.split("Content-Length: ").nth(1)?.split('\r').next()?.parse().ok()
}

fn line(stream: &mut TcpStream) -> String {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        line.push(byte[0]);
    }
    String::from_utf8_lossy(&line).trim().to_owned()
}

#[test]
fn every_served_answer_equals_the_answer_of_the_web() {
    let (served, now) = served(WebSettings::realistic(3, 60), &ServeOptions::default());
    let web = served.web();
    for site in 0..web.sites() {
        let mut stream = TcpStream::connect(served.addresses()[site].1).unwrap();
        for page in web.pages_of(site).filter(|&page| web.class(page) != Class::Huge) {
            for (accepts_gzip, header) in
                [(false, ""), (true, "Accept-Encoding: gzip\r\n"), (true, "Accept-Encoding: gzip, br\r\n")]
            {
                send(&mut stream, web.path(page), header);
                let got = receive(&mut stream);
                let request = Request { site, path_and_query: web.path(page), accepts_gzip, ..Request::default() };
                let answer = web.answer(&request, now);
                assert_eq!(got.status, answer.status);
                assert!(got.body == answer.body, "{}", web.url(page));
                for (name, value) in &answer.headers {
                    assert!(got.head.contains(&format!("{name}: {value}\r\n")), "{name} of {}", got.head);
                }
            }
        }
    }
    assert_eq!(served.counts().connections, 3);
    served.stop();
}

#[test]
fn spread_sites_have_addresses_of_their_own_and_link_to_each_other_by_them() {
    let options = ServeOptions { spread_addresses: true, ..ServeOptions::default() };
    let mut settings = WebSettings::plain(3, 20);
    settings.share.links_away = 0.5;
    let (served, _) = served(settings, &options);
    let addresses: Vec<String> = served.addresses().iter().map(|(_, address)| address.ip().to_string()).collect();
    assert_eq!(addresses, ["127.0.1.1", "127.0.1.2", "127.0.1.3"]);
    let mut stream = TcpStream::connect(served.addresses()[0].1).unwrap();
    send(&mut stream, "/", "");
    let body = String::from_utf8(receive(&mut stream).body).unwrap();
    assert!(served.seeds()[1..].iter().any(|seed| body.contains(&format!("\"{seed}\""))));
}

#[test]
fn the_log_tells_what_was_asked_and_which_requests_were_conditional() {
    let (served, now) = served(WebSettings::plain(1, 5), &ServeOptions::default());
    let mut stream = TcpStream::connect(served.addresses()[0].1).unwrap();
    send(&mut stream, "/", "");
    let etag = receive(&mut stream).head.split("ETag: ").nth(1).unwrap().split('\r').next().unwrap().to_owned();
    send(&mut stream, "/", &format!("If-None-Match: {etag}\r\n"));
    assert_eq!(receive(&mut stream).status, 304);
    send(&mut stream, "/nothing", "Connection: close\r\n");
    assert_eq!(receive(&mut stream).status, 404);
    // The connection ends after the log was written.
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    let log: Vec<(String, u16, bool)> =
        served.log().into_iter().map(|entry| (entry.path.into(), entry.status, entry.conditional)).collect();
    assert_eq!(log, [("/".into(), 200, false), ("/".into(), 304, true), ("/nothing".into(), 404, false)]);
    assert!(served.log().iter().all(|entry| entry.started == now && entry.finished == now));
    let counts = served.counts();
    assert_eq!((counts.requests, counts.conditional, counts.not_modified, counts.at_once_max), (3, 1, 1, 1));
}

#[test]
fn two_requests_sent_at_once_are_answered_in_order() {
    let (served, now) = served(WebSettings::plain(1, 5), &ServeOptions::default());
    let web = served.web();
    let mut stream = TcpStream::connect(served.addresses()[0].1).unwrap();
    send(&mut stream, "/robots.txt", "");
    send(&mut stream, "/", "");
    let answer = |path_and_query| web.answer(&Request { path_and_query, ..Request::default() }, now);
    assert_eq!(receive(&mut stream).body, answer("/robots.txt").body);
    assert_eq!(receive(&mut stream).body, answer("/").body);
}

#[test]
fn a_head_request_gets_no_body_and_others_are_refused() {
    let (served, _) = served(WebSettings::plain(1, 5), &ServeOptions::default());
    let mut stream = TcpStream::connect(served.addresses()[0].1).unwrap();
    stream.write_all(b"HEAD / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\n\r\n").unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    assert!(all.starts_with("HTTP/1.1 200 OK\r\n") && length(&all).unwrap() > 0);
    assert!(!all.contains("<html") && all.contains("\r\n\r\nHTTP/1.1 405 "), "{all}");
}

#[test]
fn nonsense_and_endless_heads_are_refused() {
    let (served, _) = served(WebSettings::plain(1, 5), &ServeOptions::default());
    for (head, status) in [(b"\x00\x01nonsense\r\n\r\n".to_vec(), "400"), (nested_head(), "431")] {
        let mut stream = TcpStream::connect(served.addresses()[0].1).unwrap();
        stream.write_all(&head).unwrap();
        let mut got = vec![0; 12];
        stream.read_exact(&mut got).unwrap();
        assert_eq!(String::from_utf8_lossy(&got), format!("HTTP/1.1 {status}"));
    }
}

fn nested_head() -> Vec<u8> {
    let mut head = b"GET / HTTP/1.1\r\nX: ".to_vec();
    head.resize(36 << 10, b'x');
    head
}

#[test]
fn misbehaviour_goes_over_the_wire_as_told() {
    let (served, now) = served(WebSettings::hostile(2, 300), &ServeOptions::default());
    let web = served.web();
    let mut met = 0;
    for truth in web.truth().into_iter().filter(|page| page.class.expected() == Expected::Failed) {
        let request = Request { site: truth.site, path_and_query: &truth.path, ..Request::default() };
        let answer = web.answer(&request, now);
        let mut stream = TcpStream::connect(served.addresses()[truth.site].1).unwrap();
        send(&mut stream, &truth.path, "");
        // Each of these is read as far as it can be told from an honest answer.
        match answer.behaviour {
            Behaviour::CutOff { after } => {
                let mut all = Vec::new();
                stream.read_to_end(&mut all).unwrap();
                assert!(
                    all.ends_with(&answer.body[..after]) && length(&String::from_utf8_lossy(&all)).unwrap() > after
                );
            }
            Behaviour::LyingLength { declared } => {
                let mut all = Vec::new();
                stream.read_to_end(&mut all).unwrap();
                assert_eq!(length(&String::from_utf8_lossy(&all)), Some(declared as usize));
                assert!(all.ends_with(&answer.body));
            }
            Behaviour::Endless => {
                let mut much = vec![0; answer.body.len() * 20];
                stream.read_exact(&mut much).unwrap();
            }
            Behaviour::Huge { bytes } => {
                let mut some = vec![0; 1 << 20];
                stream.read_exact(&mut some).unwrap();
                assert_eq!(length(&String::from_utf8_lossy(&some[..1_000])), Some(bytes as usize));
            }
            Behaviour::Drip { bytes } => {
                let mut some = Vec::new();
                while !some.ends_with(&answer.body[..bytes]) {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    some.push(byte[0]);
                }
            }
            Behaviour::Silent => {
                stream.set_nonblocking(true).unwrap();
                assert_eq!(stream.read(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
            }
            _ => continue,
        }
        met += 1;
    }
    assert!(met >= 10);
}

#[test]
fn a_standalone_web_begins_with_the_clock_and_moves_with_it() {
    let seconds = Arc::new(AtomicI64::new(1_800_000_000));
    let clock: Clock = {
        let seconds = Arc::clone(&seconds);
        Arc::new(move || Moment::from_secs(seconds.load(Relaxed)))
    };
    let served = standalone(&Scenario::by_name("plain").unwrap(), None, clock).unwrap();
    let web = served.web();
    let start = Moment::from_secs(1_800_000_000);
    assert_eq!(web.settings().origin, start);
    let changing =
        web.pages_of(0).find(|&page| web.changes_between(page, start, start + Span::from_days(90)) > 0).unwrap();
    let mut stream = TcpStream::connect(served.addresses()[0].1).unwrap();
    let mut body = || {
        send(&mut stream, web.path(changing), "");
        receive(&mut stream).body
    };
    let first = body();
    assert_eq!(body(), first);
    seconds.fetch_add(90 * 86_400, Relaxed);
    assert_ne!(body(), first);
}

#[test]
fn named_sites_keep_their_names_in_links_and_are_found_at_their_addresses() {
    let settings = WebSettings { writing: Writing::Sentences, ..WebSettings::plain(10, 12).still() };
    let (served, _) = served(settings, &ServeOptions { named: true, ..ServeOptions::default() });
    let roots: Vec<&str> = served.addresses().iter().map(|(root, _)| root.as_str()).collect();
    assert_eq!(roots[..3], ["http://garden.example", "http://news.example", "http://shop.example"]);
    assert_eq!(roots[8], "http://garden2.example", "no two sites have one name");
    assert_eq!(served.web().url(PageNumber(0)), "http://garden.example/");
    let (_, address) = served.addresses()[1];
    let mut stream = TcpStream::connect(address).unwrap();
    send(&mut stream, "/", "");
    let body = String::from_utf8(receive(&mut stream).body).unwrap();
    assert!(body.contains("The Valley Courier") && !body.contains("127.0.0.1"), "{body}");
}
