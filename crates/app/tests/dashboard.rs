//! The dashboard of the real binary, in a real browser: every screen in both themes on a wide and a small window, work done by
//! keyboard, and pages of sites that try to run something in it.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::path::{Path, PathBuf};

use common::browser::{Browser, View, axe, chromium};
use common::edited::{Edited, visit};
use common::serving::{Serving, ask, serving};
use common::{Running, ask_port, local_token, refused, vernal};

const VIEWS: [View; 4] = [
    View { width: 1280, is_dark: false },
    View { width: 1280, is_dark: true },
    View { width: 390, is_dark: false },
    View { width: 390, is_dark: true },
];

/// What hostile pages say, the same as in the tests of the room itself.
fn hostile() -> Vec<String> {
    let lines = include_str!("../../dashboard/tests/hostile.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;").replace('\0', "&#xFFFD;")
}

/// A page that says hostile things wherever a page can say something.
fn hostile_page(texts: &[String], again: bool) -> String {
    let all: Vec<String> = texts.iter().map(|text| escaped(text)).collect();
    let first = all.first().cloned().unwrap_or_default();
    let mut body = format!("<h1>{first}</h1>");
    for (place, text) in all.iter().enumerate() {
        let word = if again { "later" } else { "first" };
        body += &format!(
            "<p>{text} was said {word} by somebody number {place}.</p><h2>{text}</h2><a href=\"/next?q={text}\">{text}</a>"
        );
    }
    let lang = escaped(&texts[texts.len() / 2]);
    format!("<!doctype html><html lang=\"{lang}\"><head><title>{first}</title></head><body>{body}</body></html>")
}

fn harbour(fee: &str, hours: u32) -> String {
    let rules: String =
        (1..9).map(|rule| format!("<p>Rule {rule} of the harbour says what it always said.</p>")).collect();
    format!(
        "<!doctype html><html lang=\"en\"><head><title>Mooring terms</title></head><body><h1>Mooring terms</h1>\
         <h2>Before you arrive</h2><p>Visiting vessels must give notice at least {hours} hours ahead.</p>{rules}\
         <h2>Fees</h2><p>The fee for one night is {fee} euros for each metre.</p></body></html>"
    )
}

const REMOVED: &str = "<p>Boats that take part in the summer regatta pay no fee for two nights.</p>";

/// A folder with three versions of ordinary pages and of hostile ones.
struct World {
    _dir: tempfile::TempDir,
    data: PathBuf,
    web: Edited,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        let hostile = hostile();
        let chunks: Vec<&[String]> = hostile.chunks(10).collect();
        let links: String = (0..chunks.len()).map(|place| format!("<a href=\"/h{place}\">h</a> ")).collect();
        let front = format!(
            "<html lang=en><head><title>Port</title></head><body><a href=/mooring.html>m</a>{links}</body></html>"
        );
        let paths: Vec<String> = (0..chunks.len()).map(|place| format!("/h{place}")).collect();
        let mut pages = vec![("/", front), ("/mooring.html", harbour("1.85", 24) + REMOVED)];
        pages.extend(paths.iter().zip(&chunks).map(|(path, texts)| (&**path, hostile_page(texts, false))));
        let web = Edited::serve(&pages);
        let data = dir.path().join("data");
        visit(&data, &web.url("/"));
        web.edit("/mooring.html", harbour("2.25", 24));
        paths.iter().zip(&chunks).for_each(|(path, texts)| web.edit(path, hostile_page(texts, true)));
        visit(&data, &web.url("/"));
        web.edit("/mooring.html", harbour("2.25", 48));
        visit(&data, &web.url("/"));
        World { _dir: dir, data, web }
    }

    fn page(&self, path: &str) -> String {
        percent(&self.web.url(path))
    }

    fn screens(&self) -> Vec<(&'static str, String)> {
        let (page, hostile) = (self.page("/mooring.html"), self.page("/h1"));
        let site = percent(&self.web.address.to_string());
        vec![
            ("overview", "/".into()),
            ("plan", "/plan".into()),
            ("changes", "/changes".into()),
            ("changes-new", "/changes?event=all".into()),
            ("changes-none", "/changes?q=nowhere".into()),
            ("page", format!("/page?url={page}")),
            ("page-hostile", format!("/page?url={hostile}")),
            ("diff", format!("/diff?url={page}")),
            ("diff-side", format!("/diff?url={page}&view=side")),
            ("diff-text", format!("/diff?url={hostile}&view=text")),
            ("diff-source", format!("/diff?url={hostile}&view=source")),
            ("diff-none", format!("/diff?url={}", self.page("/"))),
            ("blame", format!("/blame?url={page}")),
            ("blame-hostile", format!("/blame?url={hostile}")),
            ("sites", "/sites".into()),
            ("site", format!("/sites/{site}")),
            ("login", "/login".into()),
            ("more", "/more".into()),
            ("search", "/search?q=harbour".into()),
            ("search-removed", "/search?q=regatta&in=removed".into()),
            ("watches", "/watches".into()),
            ("watches-new", format!("/watches/new?url={page}")),
            ("deliveries", "/deliveries".into()),
            ("lab", "/lab".into()),
            ("lab-papers", "/lab/papers".into()),
            ("operations", "/operations".into()),
            ("operations-seeds", "/operations/seeds".into()),
            ("operations-settings", "/operations/settings".into()),
            ("operations-noise", "/operations/noise".into()),
            ("operations-exports", "/operations/exports".into()),
            ("operations-log", "/operations/log".into()),
            ("help", "/help".into()),
            ("links", format!("/links?url={hostile}")),
            ("evidence", format!("/evidence?url={hostile}")),
            ("as-it-was", format!("/as-it-was?url={page}")),
            ("wrong", "/page?url=http%3A%2F%2Fnowhere.example%2F".into()),
        ]
    }
}

fn percent(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// The folder as `vernal serve` shows it, and where.
fn shown(data: &Path) -> (Running, String) {
    let mut command = vernal(data);
    command.args(["serve", "--listen", "127.0.0.1:0"]).stderr(std::process::Stdio::piped());
    let mut running = Running(command.spawn().unwrap());
    let address = running.listening();
    (running, address)
}

/// Where pictures are put, for people to look at.
fn pictures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/screens")
}

/// Whether something of a page ran, or became a part of a screen.
const RAN: &str = "typeof ran !== 'undefined' || !document.title.endsWith(' · Vernal') \
                   || !!document.querySelector('main :is(xss-el, script, style, iframe, img, object, embed, video, marquee)')";

#[test]
fn every_screen_is_sound_in_a_browser_and_the_work_is_done_by_keyboard() {
    let (Some(chromium), Some(axe)) = (chromium(), axe()) else { return };
    let world = World::new();
    let (_running, address) = shown(&world.data);
    let base = format!("http://{address}");
    let mut browser = Browser::start(&chromium);
    let mut wrong = Vec::new();
    for (name, path) in world.screens() {
        browser.look_as(VIEWS[0]);
        browser.open(&format!("{base}{path}"));
        browser.brings(&axe);
        for view in VIEWS {
            browser.look_as(view);
            let what = format!("{name} {view:?}");
            wrong.extend(browser.violations().iter().map(|one| format!("{what}: {one}")));
            let wide = browser.run("document.documentElement.scrollWidth - innerWidth");
            if wide.as_i64().unwrap() > 0 {
                wrong.push(format!("{what}: {wide} pixels too wide"));
            }
            let theme = if view.is_dark { "dark" } else { "light" };
            browser.picture(&pictures().join(format!("{name}-{}-{theme}.png", view.width)));
        }
        if browser.run(RAN) == true {
            wrong.push(format!("{name}: words of a page ran or made an element"));
        }
        // A browser tells in its console of a page that answers 404, as it should here.
        let faults = std::mem::take(&mut browser.faults);
        wrong.extend(faults.iter().filter(|_| name != "wrong").map(|fault| format!("{name}: {fault}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    keyboard(&mut browser, &base, &world);
}

/// Finds a change, looks at it in all views, and goes on to blame and history, without a mouse.
fn keyboard(browser: &mut Browser, base: &str, world: &World) {
    let place = |browser: &mut Browser| browser.run("location.pathname").as_str().unwrap().to_owned();
    browser.look_as(VIEWS[0]);
    browser.open(&format!("{base}/"));
    for (key, path) in [("c", "/changes"), ("s", "/sites"), ("o", "/"), ("c", "/changes")] {
        browser.press("g");
        browser.press(key);
        browser.settle();
        assert_eq!(place(browser), path, "g {key}");
    }
    browser.press("j");
    browser.press("j");
    browser.press("k");
    let chosen =
        browser.run("[...document.querySelectorAll('[data-row]')].findIndex(row => row.getAttribute('aria-current'))");
    assert_eq!(chosen, 0);
    browser.press("Enter");
    browser.settle();
    assert!(place(browser).starts_with("/changes/e"), "{}", place(browser));
    browser.press("h");
    browser.settle();
    assert_eq!(place(browser), "/page");
    browser.open(&format!("{base}/diff?url={}", world.page("/mooring.html")));
    browser.press("2");
    browser.settle();
    assert_eq!(browser.run("new URL(location).searchParams.get('view')"), "side");
    browser.press(",");
    browser.settle();
    assert!(browser.run("document.body.textContent.includes('2.25')") == true, "the change before this one");
    browser.press("b");
    browser.settle();
    assert_eq!(place(browser), "/blame");
    assert!(browser.run("document.body.textContent.includes('summer regatta')") == true, "what was removed is told");
    browser.press("?");
    assert_eq!(browser.run("document.querySelector('#keys').open"), true);
    browser.press("Escape");
    browser.run("document.querySelector('#keys').open && document.querySelector('#keys').close()");
    // In a field a key is a letter.
    browser.press("/");
    browser.press("g");
    browser.press("c");
    assert_eq!(browser.run("document.activeElement.id + document.activeElement.value"), "jumpgc");
    assert!(browser.faults.is_empty(), "{:?}", browser.faults);
}

#[test]
fn what_is_new_is_announced_while_one_looks_and_rows_stay_where_they_are() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (data, web) = (dir.path().join("data"), Edited::serve(&[("/", harbour("1.85", 24))]));
    visit(&data, &web.url("/"));
    web.edit("/", harbour("2.25", 24));
    visit(&data, &web.url("/"));
    let Serving { main, _running, .. } =
        serving(&data, &web.url("/"), &["--refresh-min", "1s", "--budget", "1000000/s"]);
    let mut browser = Browser::start(&chromium);
    browser.look_as(VIEWS[0]);
    browser.open(&format!("http://{main}/changes"));
    let rows = "document.querySelectorAll('[data-rows] [data-row]').length";
    let before = browser.run(rows);
    assert_eq!((before.as_u64(), browser.run("document.querySelector('[data-new]').hidden")), (Some(1), true.into()));
    browser.run("new Promise(done => { const feed = new EventSource('/live?since=' + document.querySelector('#main').dataset.cursor); \
                 feed.onopen = () => { feed.close(); done(true); }; })");
    web.edit("/", harbour("2.25", 48));
    browser.run(
        "new Promise(done => { const line = document.querySelector('[data-new]'); \
                 const look = () => line.hidden ? requestAnimationFrame(look) : done(true); look(); })",
    );
    assert_eq!(browser.run(rows), before, "rows never move under the pointer");
    browser.run("document.querySelector('[data-new]').click()");
    browser.settle();
    assert_eq!(browser.run(rows).as_u64(), Some(2));
    // Light and dark change at once and are kept by the server.
    browser.run("document.querySelector('[data-theme-next]').click()");
    assert_eq!(browser.run("document.documentElement.dataset.theme"), "dark");
    browser.run("fetch('/theme', { method: 'POST', body: new URLSearchParams({ theme: 'dark', back: '/' }), redirect: 'manual' }).then(() => true)");
    browser.open(&format!("http://{main}/sites"));
    assert_eq!(browser.run("document.documentElement.dataset.theme"), "dark");
    assert!(browser.faults.is_empty(), "{:?}", browser.faults);
}

#[test]
fn without_script_every_link_and_form_of_a_screen_leads_somewhere() {
    let world = World::new();
    let (_running, address) = shown(&world.data);
    let mut seen = std::collections::BTreeSet::new();
    for (_, path) in world.screens() {
        let (_, _, html) = ask(&address, &path, "");
        assert!(html.contains("</html>"), "{path}");
        for part in html.split(" href=\"").skip(1) {
            let link = part.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
            let link = link.split('#').next().unwrap().to_owned();
            seen.insert(link);
        }
    }
    // What other screens are made for has its own tests.
    let own = [
        "/",
        "/plan",
        "/changes",
        "/page",
        "/diff",
        "/blame",
        "/sites",
        "/login",
        "/more",
        "/assets",
        "/api",
        "/feed.atom",
        "/metrics",
    ];
    let is_own = |link: &&String| {
        own.iter()
            .any(|own| *link == own || link.starts_with(&format!("{own}?")) || link.starts_with(&format!("{own}/")))
    };
    let links: Vec<&String> = seen.iter().filter(is_own).collect();
    assert!(links.len() > 40, "{}", links.len());
    for link in links {
        let (status, _, _) = ask(&address, link, "");
        assert!([200, 404].contains(&status), "{link}: {status}");
        let is_of_page = link.starts_with("/page") || link.starts_with("/diff");
        assert!(status == 200 || is_of_page, "{link}: {status}");
    }
}

#[test]
fn a_stopped_folder_is_shown_and_cannot_be_changed() {
    let world = World::new();
    let (running, address) = shown(&world.data);
    let (status, _, html) = ask(&address, "/", "");
    assert!(status == 200 && html.contains("Nothing crawls here") && html.contains("cannot be changed"), "{html}");
    let origin = format!("Origin: http://{address}\r\n");
    let write = ask_port(&address, &format!("POST /api/v1/pause HTTP/1.1\r\n{origin}Content-Length: 0\r\n"));
    assert!(write.starts_with("HTTP/1.1 401") || write.starts_with("HTTP/1.1 409"), "{write}");
    assert_eq!(running.stop(), Some(0));
    common::assert_sound(&world.data);
}

#[test]
fn serve_shows_no_folder_that_is_none_and_none_that_is_crawled() {
    let dir = tempfile::tempdir().unwrap();
    let (code, line) = refused(vernal(&dir.path().join("none")).arg("serve"));
    assert!(code == 1 && line.contains("holds no repository"), "{line}");
    let web = Edited::serve(&[("/", harbour("1", 1))]);
    let data = dir.path().join("data");
    let mut command = vernal(&data);
    command.args(["run", "--allow-private", "--delay", "2ms", "--listen", "127.0.0.1:0", &web.url("/")]);
    let mut running = Running::start(&mut command, &data);
    let address = running.listening();
    let (code, line) = refused(vernal(&data).arg("serve"));
    assert!(code == 1 && line.contains("a crawl runs in"), "{line}");
    // The token of the folder opens a session by the address that a terminal can show.
    let token = local_token(&data).trim().rsplit(' ').next().unwrap().to_owned();
    let (status, head, _) = ask(&address, &format!("/login?token={token}"), "");
    assert!(status == 303 && head.contains("set-cookie: vernal-session=") && !head.contains(&token), "{head}");
    let cookie = head.split("vernal-session=").nth(1).unwrap().split(';').next().unwrap();
    let (_, _, html) = ask(&address, "/", &format!("Cookie: vernal-session={cookie}\r\n"));
    assert!(html.contains("action=\"/logout\""), "{html}");
    assert_eq!(running.stop(), Some(0));
}

#[test]
fn pictures_of_the_demonstration_are_taken_for_the_documents() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut command = vernal(&data);
    command.env_remove("VERNAL_HINTS").args(["demo", "--sites", "6", "--pages", "20", "--listen", "127.0.0.1:0"]);
    let mut running = Running::start(&mut command, &data);
    let address = running.listening();
    let changes = || {
        let (_, _, body) = ask(&address, "/api/v1/status", "");
        serde_json::from_str::<serde_json::Value>(&body).map_or(0, |status| status["changes"].as_u64().unwrap_or(0))
    };
    common::wait_until("the demonstration has found enough to see", || changes() > 400);
    let mut browser = Browser::start(&chromium);
    browser.look_as(VIEWS[0]);
    let base = format!("http://{address}");
    let diff = "/changes?kind=structure&event=changed&min=moderate";
    for (name, path) in [("overview", "/"), ("inbox", "/changes")] {
        browser.open(&format!("{base}{path}"));
        browser.picture(&pictures().join(format!("{name}.png")));
    }
    browser.open(&format!("{base}{diff}"));
    let link = browser.run("document.querySelector('[data-event] a[href^=\"/diff\"]').href + '&view=side'");
    browser.open(link.as_str().unwrap());
    browser.picture(&pictures().join("diff.png"));
    assert!(browser.faults.is_empty(), "{:?}", browser.faults);
    assert_eq!(running.stop(), Some(0));
    // They stand in the README; whoever changes how screens look copies them there.
    for name in ["overview", "inbox", "diff"] {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/{name}.png"));
        assert!(kept.is_file(), "{} is missing; copy it from {}", kept.display(), pictures().display());
    }
}
