//! Alerts of the real binary, with receivers on loopback: nothing that matched is missed, whatever happens to the process.
//!
//! `VERNAL_JUDGES` names the `bin` folder of a Python environment with aiosmtpd 1.4.6, which takes a mail as other people's
//! servers do. Without it that test is skipped, and that is said; where `CI` is set its absence is a failure.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use common::edited::{Edited, visit};
use common::{Running, json_lines, refused, run, told, vernal, wait_until};
use serde_json::Value;
use vernal_model::Chance;

/// A request that arrived.
#[derive(Clone)]
struct Got {
    id: String,
    signature: Option<String>,
    body: Value,
}

/// A webhook receiver that takes everything.
struct Receiver {
    url: String,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Receiver {
    fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook/XYZZY", listener.local_addr().unwrap());
        let got: Arc<Mutex<Vec<Got>>> = Arc::default();
        let kept = Arc::clone(&got);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // A sender that was killed hangs up in the middle.
                if let Ok(request) = take(&stream) {
                    kept.lock().unwrap().push(request);
                    let _ = (&stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                }
            }
        });
        Receiver { url, got }
    }

    fn ids(&self) -> BTreeSet<String> {
        self.got.lock().unwrap().iter().map(|got| got.id.clone()).collect()
    }

    fn count(&self) -> usize {
        self.got.lock().unwrap().len()
    }
}

fn take(stream: &TcpStream) -> std::io::Result<Got> {
    let mut reader = BufReader::new(stream);
    let (mut id, mut signature, mut length) = (String::new(), None, 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        match line.trim().split_once(": ") {
            None if line.trim().is_empty() => break,
            Some(("webhook-id", value)) => id = value.to_owned(),
            Some(("webhook-signature", value)) => signature = Some(value.to_owned()),
            Some(("Content-Length", value)) => length = value.parse().unwrap(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Got { id, signature, body: serde_json::from_slice(&body)? })
}

fn page(number: usize, edition: usize) -> String {
    format!(
        "<html><head><title>Page {number}</title></head><body><main><p>The price of {number} is € {edition} today.</p></main></body></html>"
    )
}

/// A front page that links to all others.
fn web(pages: usize) -> Edited {
    let links: String = (0..pages).map(|number| format!("<a href=\"/{number}\">{number}</a> ")).collect();
    let paths: Vec<String> = (0..pages).map(|number| format!("/{number}")).collect();
    let mut all = vec![("/", format!("<html><body><p>All pages: {links}</p></body></html>"))];
    all.extend(paths.iter().enumerate().map(|(number, path)| (path.as_str(), page(number, 1))));
    Edited::serve(&all)
}

fn watch(data: &Path, arguments: &[&str]) -> String {
    told(vernal(data).arg("watch").args(arguments))
}

fn visit_telling(data: &Path, url: &str) {
    told(run(data).args([
        "--until-idle",
        "--refresh-min",
        "0s",
        "--budget",
        "1000000/s",
        "--allow-private-routes",
        url,
    ]));
}

#[test]
fn a_change_is_posted_signed_and_no_secret_is_ever_shown() {
    let (dir, web, receiver) = (tempfile::tempdir().unwrap(), web(3), Receiver::start());
    let (data, site) = (dir.path(), web.address.to_string());
    visit(data, &web.url("/"));
    let secret = watch(data, &["route", "add", "press", "--webhook", &receiver.url]);
    assert!(secret.starts_with("whsec_"), "{secret}");
    watch(data, &["add", "Prices", "--site", &site, "--word", "€ 2", "--to", "press"]);
    web.edit("/1", page(1, 2));
    web.edit("/2", page(2, 3));
    visit_telling(data, &web.url("/"));
    let got = receiver.got.lock().unwrap().clone();
    assert_eq!(got.len(), 1, "only what matches");
    assert!(got[0].signature.as_ref().unwrap().starts_with("v1,") && got[0].id.ends_with("/press"));
    assert_eq!(got[0].body["events"][0]["url"], web.url("/1"));
    assert!(got[0].body["line"].as_str().unwrap().contains("€ 2"), "{}", got[0].body);
    for command in [
        &["watch", "list"][..],
        &["watch", "show", "w1"],
        &["watch", "route", "list"],
        &["watch", "deliveries"],
        &["config"],
    ] {
        for json in [&["--json"][..], &[]] {
            let shown = told(vernal(data).args(command).args(json));
            assert!(!shown.contains(&secret.trim()[6..20]) && !shown.contains("XYZZY"), "{command:?}: {shown}");
        }
    }
    let sent = json_lines(&watch(data, &["deliveries", "--json"]));
    assert_eq!((&sent[0]["state"], &sent[0]["latest"][0]["status"]), (&"sent".into(), &200.into()));
    let tested = json_lines(&watch(data, &["test", "w1", "--json"]));
    assert_eq!(
        (tested[0]["matches"].as_u64(), tested.len(), receiver.count()),
        (Some(1), 2, 1),
        "a test sends nothing"
    );
}

#[test]
fn a_saved_search_watches_its_hits_and_those_that_were() {
    let (dir, web, receiver) = (tempfile::tempdir().unwrap(), web(4), Receiver::start());
    let data = dir.path();
    web.edit("/3", page(3, 1).replace("price", "fee"));
    visit(data, &web.url("/"));
    watch(data, &["route", "add", "press", "--webhook", &receiver.url]);
    watch(data, &["add", "--search", "price", "--to", "press"]);
    web.edit("/1", page(1, 2));
    web.edit("/2", page(2, 1).replace("price", "value"));
    web.edit("/3", page(3, 2).replace("price", "fee"));
    visit_telling(data, &web.url("/"));
    let told: BTreeSet<String> = receiver
        .got
        .lock()
        .unwrap()
        .iter()
        .map(|got| got.body["events"][0]["url"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(told, BTreeSet::from([web.url("/1"), web.url("/2")]));
}

#[test]
fn a_private_address_is_not_asked_unless_it_is_allowed_and_the_delivery_waits() {
    let (dir, web, receiver) = (tempfile::tempdir().unwrap(), web(1), Receiver::start());
    let data = dir.path();
    visit(data, &web.url("/"));
    watch(data, &["route", "add", "press", "--webhook", &receiver.url]);
    watch(data, &["add", "--url", &web.url("/0"), "--to", "press"]);
    web.edit("/0", page(0, 2));
    visit(data, &web.url("/"));
    let waiting = json_lines(&watch(data, &["deliveries", "--json", "--state", "waiting"]));
    assert!(waiting[0]["latest"][0]["answer"].as_str().unwrap().contains("--allow-private-routes"), "{waiting:?}");
    assert_eq!(receiver.count(), 0);
    let (code, said) = refused(vernal(data).args(["watch", "route", "test", "press"]));
    assert!(code == 1 && said.contains("--allow-private-routes") && !said.contains("XYZZY"), "{said}");
}

#[test]
fn a_running_crawl_and_a_stopped_folder_answer_alike_and_wrong_input_gets_one_line() {
    let (dir, web, receiver) = (tempfile::tempdir().unwrap(), web(2), Receiver::start());
    let data = dir.path();
    visit(data, &web.url("/"));
    watch(data, &["route", "add", "press", "--webhook", &receiver.url]);
    watch(data, &["add", "Prices", "--prefix", &web.url("/"), "--to", "press=daily 07:00", "--silent-for", "7d"]);
    let questions = [&["list"][..], &["show", "w1"], &["route", "list"], &["deliveries"], &["test", "w1"]];
    let asked = || questions.map(|question| watch(data, &[question, &["--json"]].concat()));
    let stopped = asked();
    let running = Running::start(run(data).args(["--refresh-min", "1h"]), data);
    assert_eq!(asked()[..4], stopped[..4]);
    for (wrong, code) in [
        (&["add", "--site", "a.example", "--to", "nowhere"][..], 1),
        (&["add", "--site", "a.example", "--regex", "("], 2),
        (&["add", "--site", "a.example", "--tag", "b"], 2),
        (&["add", "--site", "a.example", "--min", "huge"], 2),
        (&["add", "--search", "(((", "--to", "press"], 2),
        (&["show", "w9"], 1),
        (&["again", "w1/e1-1/press"], 1),
        (&["acknowledge", "w1"], 2),
        (&["route", "add", "x", "--webhook", "ftp://a.example/"], 2),
        (&["route", "add", "x", "--mail-to", "a@b.example"], 2),
        (&["route", "remove", "press"], 2),
    ] {
        let (found, said) = refused(vernal(data).arg("watch").args(wrong));
        assert!(found == code && !said.contains("panicked"), "{wrong:?}: {found} {said}");
    }
    for act in ["pause", "resume", "remove"] {
        watch(data, &[act, "w1"]);
    }
    watch(data, &["route", "remove", "press"]);
    assert!(watch(data, &["list", "--json"]).is_empty());
    running.stop();
    assert!(watch(data, &["list", "--json"]).is_empty(), "what a running crawl was told stays");
}

#[test]
fn a_program_of_the_settings_takes_deliveries_and_no_request_makes_one() {
    let (dir, web) = (tempfile::tempdir().unwrap(), web(1));
    let data = dir.path();
    let script = data.join("take.sh");
    visit(&data.join("data"), &web.url("/"));
    let data = data.join("data");
    std::fs::write(&script, format!("cat >> {}", dir.path().join("got").display())).unwrap();
    let route = format!("pager=/bin/sh {}", script.display());
    let with_route = |command: &mut Command| told(command.env("VERNAL_COMMAND_ROUTE", &route));
    with_route(vernal(&data).args(["watch", "add", "--url", &web.url("/0"), "--to", "pager"]));
    web.edit("/0", page(0, 2));
    with_route(run(&data).args(["--until-idle", "--refresh-min", "0s", "--budget", "1000000/s", &web.url("/")]));
    let got: Value = serde_json::from_str(&std::fs::read_to_string(dir.path().join("got")).unwrap()).unwrap();
    assert_eq!(got["events"][0]["url"], web.url("/0"));
}

/// The example of docs/alerts.md as it stands there.
fn documented_settings() -> String {
    let guide = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/alerts.md")).unwrap();
    let (_, rest) = guide.split_once("```toml\n").expect("the guide has an example of the file");
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_example_of_the_guide_is_loaded_and_shown_with_its_source() {
    let (dir, web) = (tempfile::tempdir().unwrap(), web(1));
    let data = dir.path().join("data");
    std::fs::write(dir.path().join("vernal.toml"), documented_settings()).unwrap();
    visit(&data, &web.url("/"));
    let watches = json_lines(&watch(&data, &["list", "--json"]));
    assert!(watches.len() >= 2 && watches.iter().all(|watch| watch["from"] == "vernal.toml"), "{watches:#?}");
    let routes = json_lines(&watch(&data, &["route", "list", "--json"]));
    assert!(routes.iter().any(|route| route["kind"] == "command"), "{routes:#?}");
    let is_built_in = |route: &&Value| route["name"] == "atom";
    assert!(routes.iter().filter(|route| !is_built_in(route)).all(|route| route["from"].is_string()), "{routes:#?}");
    let settings = json_lines(&told(vernal(&data).args(["config", "--json"])));
    let row = |name: &str| settings.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(row("watches")["source"], "vernal.toml");
    let shown = row("routes")["value"].to_string();
    assert!(shown.contains("press") && !shown.contains("url") && !shown.contains("https:"), "{shown}");
}

#[test]
fn watches_of_the_file_are_as_the_file_says_after_each_start_and_keep_their_history() {
    let (dir, web, receiver) = (tempfile::tempdir().unwrap(), web(3), Receiver::start());
    let data = dir.path().join("data");
    let file = |text: &str| std::fs::write(dir.path().join("vernal.toml"), text).unwrap();
    let route = format!("[[routes]]\nname = 'press'\nto.webhook = {{ url = '{}' }}\n", receiver.url);
    let prices = format!("[[watches]]\nname = 'Prices'\nover.site = '{}'\nto = [{{ route = 'press' }}]\n", web.address);
    visit(&data, &web.url("/"));
    watch(&data, &["add", "By hand", "--url", &web.url("/0")]);
    file(&format!("{route}{prices}"));
    web.edit("/1", page(1, 2));
    visit_telling(&data, &web.url("/"));
    assert_eq!(receiver.count(), 1);
    // Nobody changes it elsewhere.
    for act in [&["pause", "w2"][..], &["remove", "w2"], &["route", "remove", "press"]] {
        let (code, said) = refused(vernal(&data).arg("watch").args(act));
        assert!(code == 1 && said.contains("is one of vernal.toml: change it there"), "{act:?}: {said}");
    }
    told(vernal(&data).args(["watch", "pause", "w1"]));
    // What was narrowed in the file goes on from where it was, with another question.
    file(&format!("{route}{prices}when.words = ['€ 7']\n"));
    web.edit("/1", page(1, 3));
    web.edit("/2", page(2, 7));
    visit_telling(&data, &web.url("/"));
    assert_eq!(receiver.count(), 2, "{:?}", receiver.ids());
    assert!(receiver.ids().iter().all(|id| id.starts_with("w2/")));
    let sent = json_lines(&watch(&data, &["deliveries", "--json", "--watch", "w2"]));
    assert_eq!(sent.len(), 2, "the history is one");
    // What is no more in the file is no more.
    file("");
    visit_telling(&data, &web.url("/"));
    let left = json_lines(&watch(&data, &["list", "--json"]));
    assert_eq!((left.len(), &left[0]["name"], &left[0]["enabled"]), (1, &"By hand".into(), &false.into()));
    let routes = json_lines(&watch(&data, &["route", "list", "--json"]));
    assert_eq!((routes.len(), &routes[0]["name"]), (1, &"atom".into()), "the one that is built in");

    // What cannot be is refused before anything is visited.
    for (text, wanted) in [
        (format!("{route}{prices}when.word = ['x']\n"), "vernal.toml: line 8: `when.word`: unknown field `word`"),
        (prices.clone(), "vernal.toml: the watch `Prices` tells the route `press`, which there is not"),
        (format!("{route}{route}"), "vernal.toml: the route `press` is named twice"),
    ] {
        file(&text);
        let (code, said) = refused(run(&data).args(["--until-idle", &web.url("/")]));
        assert!(code == 2 && said.contains(wanted), "{text}\n{said}");
    }
}

/// Rounds of edits, in each of which the process is killed once while it crawls and delivers.
#[test]
fn after_kill_9_at_random_every_change_was_delivered_and_repeats_have_the_same_id() {
    const ROUNDS: usize = 6;
    const PAGES: usize = 12;
    let (dir, web, receiver) = (tempfile::tempdir().unwrap(), web(PAGES), Receiver::start());
    let data = dir.path();
    visit(data, &web.url("/"));
    watch(data, &["route", "add", "press", "--webhook", &receiver.url]);
    watch(data, &["add", "--site", &web.address.to_string(), "--to", "press"]);
    let mut chance = Chance::new(7);
    for round in 0..ROUNDS {
        (0..PAGES).for_each(|number| web.edit(&format!("/{number}"), page(number, round + 2)));
        let before = receiver.count();
        let mut running = Running::start(
            run(data).args(["--refresh-min", "0s", "--budget", "1000000/s", "--allow-private-routes"]),
            data,
        );
        let wanted = before + 1 + chance.below(PAGES as u64 - 1) as usize;
        wait_until("some deliveries arrive", || receiver.count() >= wanted);
        running.0.kill().unwrap();
        running.0.wait().unwrap();
    }
    visit_telling(data, &web.url("/"));
    let changed = json_lines(&told(vernal(data).args(["changes", "--json", "--event", "changed,template"])));
    let wanted: BTreeSet<String> =
        changed.iter().map(|event| format!("w1/{}/press", event["id"].as_str().unwrap())).collect();
    assert!(wanted.len() >= PAGES, "{} changes", wanted.len());
    assert_eq!(wanted.difference(&receiver.ids()).next(), None, "nothing is missed");
    let waiting = json_lines(&watch(data, &["deliveries", "--json", "--state", "waiting"]));
    assert!(waiting.is_empty(), "{waiting:?}");
}

fn judges() -> Option<PathBuf> {
    match std::env::var_os("VERNAL_JUDGES") {
        Some(folder) => Some(folder.into()),
        None if std::env::var_os("CI").is_some() => panic!("VERNAL_JUDGES must name the judges here"),
        None => {
            eprintln!("skipped: VERNAL_JUDGES does not name a folder with aiosmtpd");
            None
        }
    }
}

/// Takes one mail as aiosmtpd and the parser of Python read it, and prints it as JSON.
const MAIL_SERVER: &str = r#"
import asyncio, email, email.policy, json
from aiosmtpd.smtp import SMTP
class Take:
    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        parts = {part.get_content_type(): part.get_content() for part in mail.iter_parts()}
        print(json.dumps({"from": envelope.mail_from, "to": envelope.rcpt_tos, "parts": parts,
            "headers": {name: str(value) for name, value in mail.items()}, "defects": [str(d) for d in mail.defects]}), flush=True)
        return "250 taken"
async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(Take(), loop=loop), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"#;

#[test]
fn a_mail_reads_as_it_was_meant_in_another_server() {
    let Some(judges) = judges() else { return };
    let server = Command::new(judges.join("python3"))
        .args(["-c", MAIL_SERVER])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    let mut server = server.unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let port = lines.next().unwrap().unwrap();
    let (dir, web) = (tempfile::tempdir().unwrap(), web(1));
    let data = dir.path();
    let title = |edition: &str| {
        format!(
            "<html><head><title>Preise &amp; \u{202e}Zölle 价格</title></head><body><main><p>Es kostet {edition} &lt;b&gt;.</p></main></body></html>"
        )
    };
    web.edit("/0", title("neun"));
    visit(data, &web.url("/"));
    let smtp = format!("smtp://127.0.0.1:{}", port.trim());
    watch(
        data,
        &[
            "route",
            "add",
            "mail",
            "--mail-to",
            "press@desk.example",
            "--mail-from",
            "Vernal <v@crawl.example>",
            "--smtp",
            &smtp,
            "--plain",
        ],
    );
    watch(data, &["add", "Zölle", "--url", &web.url("/0"), "--to", "mail"]);
    web.edit("/0", title("zwölf"));
    visit_telling(data, &web.url("/"));
    let mail: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    let (headers, parts) = (&mail["headers"], &mail["parts"]);
    assert_eq!((&mail["from"], &mail["to"][0]), (&"v@crawl.example".into(), &"press@desk.example".into()));
    assert!(headers["Subject"].as_str().unwrap().starts_with("Preise & Zölle 价格: "), "{headers}");
    assert!(
        headers["Message-ID"].as_str().unwrap().starts_with("<w1.e")
            && headers["List-Id"] == "<w1.vernal.crawl.example>"
    );
    assert!(parts["text/plain"].as_str().unwrap().contains("+ Es kostet zwölf <b>."), "{parts}");
    assert!(parts["text/html"].as_str().unwrap().contains("zwölf &lt;b&gt;."), "{parts}");
    assert_eq!(mail["defects"], serde_json::json!([]));
}
