//! The Atom feed of a watch, and every feed before an outside judge: the schema of RFC 4287.
//!
//! `VERNAL_JUDGES` names the `bin` folder of a Python environment with lxml. Without it the judge is skipped, and that is said;
//! where `CI` is set its absence is a failure.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::edited::{Edited, visit};
use common::{Running, ask_port, json_lines, run, told, vernal};
use serde_json::Value;

/// Titles that break careless writers of XML, HTML and JSON.
const TITLES: [&str; 7] = [
    "plain",
    "&lt;b&gt; &amp;amp; ]]&gt; &quot;quoted&quot; 'too'",
    "&#1;&#8;&#27;&#xFFFF;&#xFFFE;&#0; controls",
    "\u{202e}right to left\u{202c} 日本語 \u{1f600}",
    "<!-- no comment --> <![CDATA[ none ]]>",
    "   ",
    "%s {{title}} \\u0000 \u{feff}",
];

fn page(number: usize, edition: usize) -> String {
    format!(
        "<html lang=\"e_n!\"><head><title>{}</title></head><body><main><p>What stays on page {number}.</p>\
         <p>The {} of page {number} is {} coins &lt;&amp;&#11; today.</p></main></body></html>",
        TITLES[number % TITLES.len()],
        if number == 0 { "price" } else { "fee" },
        10 * edition
    )
}

fn web() -> Edited {
    let links: String = (0..TITLES.len()).map(|number| format!("<a href=\"/{number}\">{number}</a> ")).collect();
    let web = Edited::serve(&[("/", format!("<html><body><p>All pages: {links}</p></body></html>"))]);
    edit(&web, 1);
    web
}

fn edit(web: &Edited, edition: usize) {
    (0..TITLES.len()).for_each(|number| web.edit(&format!("/{number}"), page(number, edition)));
}

fn serve(data: &Path) -> (Running, String) {
    let mut command = vernal(data);
    command.args(["run", "--allow-private", "--listen", "127.0.0.1:0", "--budget", "1/day", "--refresh-min", "1000d"]);
    let mut running = Running::start(&mut command, data);
    let at = running.listening();
    (running, at)
}

fn feed(at: &str, path: &str) -> (u16, String) {
    let answer = ask_port(at, &format!("GET {path} HTTP/1.1\r\n"));
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// Id and date of each entry.
fn entries(text: &str) -> Vec<(String, String)> {
    let inside = |entry: &str, name: &str| {
        let rest = entry.split(&format!("<{name}>")).nth(1).unwrap();
        rest.split(&format!("</{name}>")).next().unwrap().to_owned()
    };
    text.split("<entry>").skip(1).map(|entry| (inside(entry, "id"), inside(entry, "updated"))).collect()
}

fn visit_again(data: &Path, web: &Edited) {
    told(run(data).args(["--until-idle", "--refresh-min", "0s", "--budget", "1000000/s", &web.url("/")]));
}

#[test]
fn what_a_watch_tells_is_in_its_feed_and_an_entry_never_changes() {
    let (dir, web) = (tempfile::tempdir().unwrap(), web());
    let data = dir.path();
    visit(data, &web.url("/"));
    let site = web.address.to_string();
    let added = told(vernal(data).args([
        "watch",
        "add",
        "Prices",
        "--site",
        &site,
        "--word",
        "price",
        "--in",
        "paragraph",
        "--to",
        "atom",
    ]));
    assert!(added.lines().any(|line| line == "/feed.atom?watch=w1"), "{added}");
    told(vernal(data).args(["watch", "add", "--site", &site]));
    edit(&web, 2);
    visit_again(data, &web);
    let (running, at) = serve(data);
    let (status, first) = feed(&at, "/feed.atom?watch=w1");
    assert_eq!(status, 200, "{first}");
    let mut changed = json_lines(&told(vernal(data).args(["changes", "--json", "--event", "changed"])));
    // The only page with a price.
    changed.retain(|event| event["url"].as_str().unwrap().ends_with("/0"));
    let wanted: Vec<(String, String)> = changed
        .iter()
        .map(|event| (event["id"].as_str().unwrap().to_owned(), event["seen_different"].as_str().unwrap().to_owned()))
        .collect();
    let own = entries(&first);
    assert_eq!((own.len(), wanted.len()), (1, 1), "{first}");
    assert!(own[0].0.ends_with(&format!("/{}", wanted[0].0)) && own[0].1 == wanted[0].1, "{own:?} {wanted:?}");
    let of_all = entries(&feed(&at, "/feed.atom").1);
    assert!(of_all.contains(&own[0]), "the id and the date are those of the feed of everything");
    assert!(first.contains("<title>Prices</title>") && first.contains("&lt;ins&gt;"), "{first}");
    let address = format!("http://{at}/feed.atom?watch=w1");
    assert!(first.contains(&format!("href=\"{address}\"")), "{first}");
    let shown = told(vernal(data).args(["watch", "list", "--json"]));
    assert!(shown.contains(&address), "{shown}");
    let deliveries = json_lines(&told(vernal(data).args(["watch", "deliveries", "--json"])));
    assert!(deliveries.iter().all(|one| one["state"] == "sent" && one["route"] == "atom"), "{deliveries:?}");
    for (path, code, says) in [
        ("/feed.atom?watch=w2", 404, "w2"),
        ("/feed.atom?watch=w9", 404, "w9"),
        ("/feed.atom?watch=w1&amp;site=x", 400, "site"),
        ("/feed.atom?watch=w1&site=x", 400, "site"),
        ("/api/v1/changes?watch=w1", 400, "watch"),
    ] {
        let (status, body) = feed(&at, path);
        assert!(status == code && body.contains(says), "{path}: {status} {body}");
    }
    assert_eq!(running.stop(), Some(0));
    edit(&web, 3);
    visit_again(data, &web);
    let (running, at) = serve(data);
    let again = entries(&feed(&at, "/feed.atom?watch=w1").1);
    assert_eq!(again.len(), 2);
    assert_eq!(again[1], own[0], "the newest comes first, and the older one is as it was");
    assert_eq!(entries(&feed(&at, "/feed.atom?watch=w1&limit=1").1), again[..1]);
    assert_eq!(running.stop(), Some(0));
}

fn judge() -> Option<PathBuf> {
    let python = std::env::var_os("VERNAL_JUDGES").map(|folder| Path::new(&folder).join("python"));
    let has_lxml = python.as_ref().is_some_and(|python| {
        let asked = Command::new(python).args(["-c", "import lxml.etree"]).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    });
    assert!(has_lxml || std::env::var_os("CI").is_none(), "VERNAL_JUDGES must have lxml here");
    if !has_lxml {
        eprintln!("skipped: VERNAL_JUDGES has no lxml");
    }
    python.filter(|_| has_lxml)
}

/// What the schema finds wrong.
fn faults(python: &Path, text: &str) -> Vec<String> {
    let script = "import json, sys\nfrom lxml import etree\n\
        schema = etree.RelaxNG(etree.parse(sys.argv[1]))\n\
        schema.validate(etree.fromstring(sys.stdin.buffer.read()))\n\
        print(json.dumps([str(fault) for fault in schema.error_log]))";
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/atom.rng");
    let mut judge = Command::new(python);
    let mut judge =
        judge.args(["-c", script]).arg(schema).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    judge.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let said = judge.wait_with_output().unwrap();
    assert!(said.status.success(), "it is no XML: {text}");
    let faults: Value = serde_json::from_slice(&said.stdout).unwrap();
    faults.as_array().unwrap().iter().map(Value::to_string).collect()
}

#[test]
fn the_schema_of_atom_finds_nothing_wrong_whatever_pages_are_called() {
    let Some(python) = judge() else { return };
    let (dir, web) = (tempfile::tempdir().unwrap(), web());
    let data = dir.path();
    visit(data, &web.url("/"));
    let page = web.url("/0");
    told(vernal(data).args(["watch", "add", "<odd> & \"name\"", "--url", &page, "--to", "atom=hourly"]));
    told(vernal(data).args(["watch", "add", "--url", &page, "--to", "atom"]));
    edit(&web, 2);
    visit_again(data, &web);
    // A page that is gone is told at once, as something that is no event of its words.
    web.edit("/0", String::new());
    visit_again(data, &web);
    let (running, at) = serve(data);
    let paths = [
        "/feed.atom",
        "/feed.atom?limit=3",
        "/feed.atom?site=nobody.example",
        "/feed.atom?words=%22the%20fee%22&in=either",
        "/feed.atom?watch=w1",
        "/feed.atom?watch=w2",
    ];
    for path in paths {
        let (status, text) = feed(&at, path);
        assert_eq!(status, 200, "{path}: {text}");
        assert_eq!(faults(&python, &text), [""; 0], "{path}: {text}");
    }
    let (_, text) = feed(&at, "/feed.atom");
    assert!(entries(&text).len() > TITLES.len(), "{text}");
    for (what, wrong) in
        [("<updated>", "<updated>yesterday "), ("<id>", "<id/><id>"), ("type=\"html\"", "tipe=\"html\"")]
    {
        assert!(!faults(&python, &text.replace(what, wrong)).is_empty(), "the judge sees {wrong}");
    }
    assert_eq!(running.stop(), Some(0));
}
