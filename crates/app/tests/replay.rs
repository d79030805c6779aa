//! Archived pages are shown on an origin of their own, and nothing of them runs there.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::browser::{browsed, chromium};
use common::edited::Edited;
use common::serving::{Serving, ask, field, serving};
use common::{ask_port, refused, told, vernal, wait_until};

const PEAS: &str = "<html><body><p>Peas climb along a fence of wire.</p></body></html>";

#[test]
fn archived_bytes_are_shown_on_their_own_origin_and_only_there() {
    let dir = tempfile::tempdir().unwrap();
    let held = "<html><head><link rel=stylesheet href=/s.css></head><body><img src=/i.png><a href=/next?a=1&amp;b=2>n</a>\
                <a href=/secret>s</a></body></html>";
    let secret = "<html><head><meta name=robots content=noarchive></head><body>Not for archives.</body></html>";
    let web = Edited::serve(&[
        ("/", held.to_owned()),
        ("/next?a=1&b=2", PEAS.to_owned()),
        ("/secret", secret.to_owned()),
        ("/s.css", "body{background:url(/bg.png)}".to_owned()),
    ]);
    let (data, url) = (dir.path().join("data"), web.url("/"));
    told(vernal(&data).args(["run", "-q", "--allow-private", "--delay", "2ms", "--no-serve", "--until-idle"]).args([
        "--requisites",
        "site",
        &url,
    ]));
    let Serving { main, archive, _running } = serving(&data, &url, &[]);
    let (_, head, _) = ask(&main, &format!("/timegate/{url}"), "");
    let digits = field(&head, "location").split('/').nth(4).unwrap().to_owned();

    let (status, head, body) = ask(&archive, &format!("/{digits}/{url}"), "");
    assert_eq!(status, 200, "{body}");
    let root = url.trim_end_matches('/');
    for led in [
        format!("href=\"/{digits}/{root}/s.css\""),
        format!("src=\"/{digits}/{root}/i.png\""),
        format!("/{digits}/{root}/next?a=1&amp;b=2"),
    ] {
        assert!(body.contains(&led), "{led} in {body}");
    }
    let policy = field(&head, "content-security-policy");
    assert!(
        policy.starts_with("sandbox ") && policy.contains("script-src 'none'") && policy.contains("connect-src 'none'")
    );
    assert!(!policy.contains("allow-scripts") && !policy.contains("allow-same-origin"));
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "cross-origin"),
        ("x-robots-tag", "noindex, nofollow"),
    ] {
        assert_eq!(field(&head, name), value);
    }
    assert!(!head.contains("set-cookie"));
    let scripts = ask(&archive, &format!("/{digits}/{url}?scripts=1"), "").1;
    let policy = field(&scripts, "content-security-policy");
    assert!(
        policy.contains("allow-scripts") && policy.contains("connect-src 'none'") && !policy.contains("same-origin")
    );

    assert_eq!(ask(&archive, &format!("/{digits}id_/{url}"), "").2, held, "the bytes as they came");
    let (_, head, raw) = ask(&archive, &format!("/{digits}raw_/{url}"), "");
    assert_eq!((field(&head, "content-type"), &*raw), ("text/plain; charset=utf-8", held));
    let (_, head, _) = ask(&archive, &format!("/2019/{root}/s.css"), "");
    let sheet = ask(&archive, field(&head, "location"), "").2;
    assert!(sheet.contains(&format!("/{root}/bg.png\")")), "{sheet}");

    let (status, _, body) = ask(&archive, &format!("/{digits}/{root}/none"), "");
    assert!(status == 404 && body.contains("is not held"), "{body}");
    assert_eq!(ask(&archive, &format!("/{digits}/{root}/secret"), "").0, 451);
    for target in ["/", "/favicon.ico", "/api/v1/status", "/healthz", "/metrics"] {
        assert_eq!(ask(&archive, target, "").0, 404, "{target}");
    }
    assert_eq!(ask(&main, &format!("/{digits}/{url}"), "").0, 404, "the main origin shows no archived bytes");
    let foreign = "GET / HTTP/1.1\r\nHost: evil.example\r\n";
    assert!(
        ask_port(&archive, foreign).starts_with("HTTP/1.1 400")
            || ask_port(&archive, foreign).starts_with("HTTP/1.1 403")
    );
    let worker = ask(&archive, &format!("/{digits}/{url}"), "Service-Worker: script\r\n");
    assert_eq!(worker.0, 403);
    let (code, complaint) =
        refused(vernal(&dir.path().join("other")).args(["run", "--archive-listen", "0.0.0.0:0", "http://a.example/"]));
    assert!(code == 2 && complaint.contains("needs a token"), "{complaint}");
}

/// A listener that counts who comes.
struct Canary {
    address: String,
    hits: Arc<AtomicUsize>,
}

impl Canary {
    fn new() -> Canary {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, hits) = (listener.local_addr().unwrap().to_string(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&hits);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                counted.fetch_add(1, Ordering::Relaxed);
                drop(stream);
            }
        });
        Canary { address, hits }
    }

    fn hits(&self) -> usize {
        self.hits.load(Ordering::Relaxed)
    }
}

/// Everything that a page may try to run, to send or to fetch.
fn hostile(canary: &str) -> Vec<(&'static str, String)> {
    let c = format!("http://{canary}");
    let all = format!(
        "<!doctype html><html><head><title>quiet</title>\
         <meta http-equiv=Content-Security-Policy content=\"default-src * data: 'unsafe-inline'\">\
         <link rel=preconnect href=\"{c}/1\"><link rel='dns-prefetch prefetch' href=\"{c}/2\">\
         <link rel=stylesheet href=\"{c}/3.css\"><link rel=stylesheet href=/hostile.css><link rel=icon href=\"{c}/4\">\
         <script src=\"{c}/5.js\"></script><script>document.title='ran'; new Image().src='{c}/6';</script>\
         <style>@import \"{c}/7.css\"; body{{background:\\75rl(\"{c}/8\")}} p{{background:image-set(\"{c}/9\" 1x)}}</style></head>\
         <body onload=\"document.title='ran'\"><p>words</p><img src=\"{c}/10\" onerror=\"document.title='ran'\">\
         <img/src=\"{c}/11\"><img src=x src=\"{c}/12\"><img srcset=\"{c}/13 1x\"><video poster=\"{c}/14\" src=\"{c}/15\"></video>\
         <svg onload=\"document.title='ran'\"><image href=\"{c}/16\" /><use href=\"{c}/17#x\" /></svg>\
         <object data=\"{c}/18\"></object><embed src=\"{c}/19\"><iframe src=\"{c}/20\"></iframe>\
         <iframe src=\"javascript:top.document.title='ran'\"></iframe>\
         <iframe srcdoc=\"<script>top.document.title='ran'</script><img src='{c}/21'>\"></iframe>\
         <iframe src=/refresh></iframe><iframe src=/picture.svg></iframe><iframe src=/based></iframe>\
         <form action=\"{c}/22\" id=f><input autofocus onfocus=\"document.title='ran'\"></form>\
         <a href=\"{c}/23\" ping=\"{c}/24\">x</a><table background=\"{c}/25\"></table>\
         <math><mtext><img src=\"{c}/26\"></mtext></math><noscript><img src=\"{c}/27\"></noscript></body></html>"
    );
    let refresh = format!("<html><head><meta http-equiv=refresh content=\"0;url={c}/30\"></head><body>r</body></html>");
    let picture =
        format!("<html><body><svg><script>document.title='ran'</script><image href='{c}/31'/></svg></body></html>");
    let based = format!("<html><head><base href=\"{c}/deep/\"></head><body><img src=32.png></body></html>");
    let sheet = format!("@import url({c}/33.css); body {{ background: url(\"{c}/34\") }}");
    vec![("/", all), ("/refresh", refresh), ("/picture.svg", picture), ("/based", based), ("/hostile.css", sheet)]
}

#[test]
fn nothing_of_a_hostile_page_runs_or_reaches_anyone() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let canary = Canary::new();
    let pages = hostile(&canary.address);
    let web = Edited::serve(&pages.iter().map(|(path, body)| (*path, body.clone())).collect::<Vec<_>>());
    let (data, url, profile) = (dir.path().join("data"), web.url("/"), dir.path().join("profile"));
    told(vernal(&data).args(["run", "-q", "--allow-private", "--delay", "2ms", "--no-serve", "--until-idle"]).args([
        "--requisites",
        "site",
        &url,
    ]));
    assert_eq!(canary.hits(), 0, "the crawl itself stays in its scope");
    // The page is as hostile as it seems: in a browser of its own it does all this.
    let dom = browsed(&chromium, &profile, &url);
    assert!(dom.contains("<title>ran</title>") && canary.hits() > 0, "{} hits", canary.hits());

    let often = ["--refresh-min", "1s", "--budget", "1000000/s"];
    let Serving { main, archive, _running } = serving(&data, &url, &often);
    let before = canary.hits();
    let memento = format!("http://{archive}/2099/{url}");
    let dom = browsed(&chromium, &profile, &memento);
    assert!(dom.contains("<title>quiet</title>") && dom.contains("words"), "no script ran: {dom}");
    assert_eq!(canary.hits(), before, "nothing left the archive");

    // With scripts, on request, they run in an origin of their own, which cannot read what the API says.
    let reader = format!(
        "<html><head><title>quiet</title></head><body><script>document.title='ran'; \
         fetch('http://{main}/api/v1/status').then(r => r.text()).then(t => document.title='read', () => document.title='refused'); \
         fetch('http://{}/40'); navigator.sendBeacon('http://{}/41', 'x'); \
         try {{ localStorage.x = 1; document.title = 'stored'; }} catch (e) {{}}</script></body></html>",
        canary.address, canary.address
    );
    web.edit("/", reader);
    let newest = || ask(&archive, field(&ask(&archive, &format!("/2099/{url}"), "").1, "location"), "").2;
    wait_until("the page was read again", || newest().contains("sendBeacon"));
    let dom = browsed(&chromium, &profile, &format!("http://{archive}/2099/{url}?scripts=1"));
    assert!(dom.contains("<title>refused</title>"), "{dom}");
    assert_eq!(canary.hits(), before, "a script of the archive connects to nobody");
}
