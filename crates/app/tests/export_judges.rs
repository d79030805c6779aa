//! Outside judges read what is exported: wacz, pywb, cdxj-indexer, pyarrow, DuckDB and trafilatura.
//!
//! `VERNAL_JUDGES` names the `bin` folder of a Python environment with them; `need_judges` in `./x` has their versions. Without it the
//! judges are skipped, and that is said; where `CI` is set their absence is a failure.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::browser::{browsed, chromium};
use common::edited::{Edited, shared_pairs};
use common::replay::Replay;
use common::{json_lines, output, run, told, vernal};
use serde_json::Value;
use tempfile::TempDir;
use vernal_document::{Input, MarkdownOptions, markdown};
use vernal_model::{Digest, Url};

fn judges() -> Option<PathBuf> {
    match std::env::var_os("VERNAL_JUDGES") {
        Some(folder) => Some(folder.into()),
        None if std::env::var_os("CI").is_some() => panic!("VERNAL_JUDGES must name the judges here"),
        None => {
            eprintln!("skipped: VERNAL_JUDGES does not name a folder with wacz, pyarrow, DuckDB and trafilatura");
            None
        }
    }
}

/// Standard output of a judge that is content.
fn judged(command: &mut Command) -> String {
    let output = output(command);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    out.into_owned()
}

fn python(judges: &Path, script: &str, arguments: &[&Path]) -> Value {
    let told = judged(Command::new(judges.join("python")).args(["-c", script]).args(arguments));
    serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}"))
}

/// A fast hour, so that no two visits to a page share a second of the archive's time.
const CRAWL: [&str; 7] = ["--until-idle", "--refresh-min", "0s", "--budget", "1000000/s", "--time-scale", "600"];

/// A web of two versions: something was added, edited, moved and removed.
struct Crawled {
    folder: TempDir,
    data: PathBuf,
    web: Edited,
}

impl Crawled {
    fn new() -> Crawled {
        let page = |title: &str, paragraphs: &[&str]| {
            let body: String = paragraphs.iter().map(|text| format!("<p>{text}</p>")).collect();
            format!("<html lang=en><head><title>{title}</title></head><body><main>{body}</main></body></html>")
        };
        let roses = "The roses by the gate were planted in March and need water in the evening.";
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let web = Edited::serve(&[
            (
                "/",
                page(
                    "Start",
                    &["The way into <a href=/garden>the garden</a> and <a href='/shop?id=1'>the shop, “Ünïque”</a>."],
                ),
            ),
            (
                "/garden",
                page("Garden", &[roses, "Opening hours are from nine to five.", "Closed on Mondays in winter."]),
            ),
            ("/shop?id=1", page("Shop", &["Tulips cost three euros each, and five of them cost twelve."])),
        ]);
        let crawl = || told(run(&data).args(CRAWL).arg(web.url("/")));
        crawl();
        web.edit("/garden", page("Garden", &["A new gate was built.", roses, "Opening hours are from ten to five."]));
        crawl();
        Crawled { folder, data, web }
    }

    fn export(&self, arguments: &[&str], out: &str) -> PathBuf {
        let path = self.folder.path().join(out);
        told(vernal(&self.data).arg("export").args(arguments).arg("--out").arg(&path));
        path
    }
}

#[test]
fn a_wacz_is_valid_and_replays() {
    let Some(judges) = judges() else { return };
    let crawled = Crawled::new();
    for flags in [&["wacz"][..], &["wacz", "--text"]] {
        let wacz = crawled.export(flags, &format!("a{}.wacz", flags.len()));
        judged(Command::new(judges.join("wacz")).arg("validate").arg("-f").arg(&wacz));
        let unpacked = python(
            &judges,
            "import json,sys,zipfile\nz=zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None\nz.extractall(sys.argv[2])\n\
             print(json.dumps(z.namelist()))",
            &[&wacz, &crawled.folder.path().join("unpacked")],
        );
        assert!(unpacked.as_array().unwrap().contains(&"datapackage.json".into()), "{unpacked}");
    }
    let unpacked = crawled.folder.path().join("unpacked");
    let theirs =
        judged(Command::new(judges.join("cdxj-indexer")).arg("-s").arg(unpacked.join("archive/data-001.warc.gz")));
    let ours = std::fs::read_to_string(unpacked.join("indexes/index.cdx")).unwrap();
    let captures = |index: &str| -> Vec<(String, BTreeMap<String, Value>)> {
        let line = |line: &str| {
            let place = line.find('{').unwrap();
            (line[..place].to_owned(), serde_json::from_str(&line[place..]).unwrap())
        };
        index.lines().map(line).collect()
    };
    assert_eq!(captures(&ours), captures(&theirs));
    let pages = json_lines(&std::fs::read_to_string(unpacked.join("pages/pages.jsonl")).unwrap());
    assert!(
        pages.iter().any(|page| page["url"] == crawled.web.url("/garden") && page["title"] == "Garden"),
        "{pages:?}"
    );
    assert!(
        pages.iter().any(|page| page["text"].as_str().is_some_and(|text| text.contains("A new gate"))),
        "{pages:?}"
    );

    // What we put beside the records is the feed of these pages.
    let ours = json_lines(&std::fs::read_to_string(unpacked.join("vernal/changes.jsonl")).unwrap());
    let feed = json_lines(&told(vernal(&crawled.data).args(["changes", "--json"])));
    let told_of = |events: &[Value]| -> Vec<String> {
        let fields = ["id", "event", "url", "version", "seen_same", "seen_different", "degree", "left"];
        let mut told: Vec<String> =
            events.iter().map(|event| fields.map(|name| event[name].to_string()).join(" ")).collect();
        told.sort();
        told
    };
    assert_eq!(told_of(&ours), told_of(&feed));
    let edited = ours.iter().find(|event| event["event"] == "changed").unwrap()["paragraphs"].as_array().unwrap();
    assert!(edited.iter().any(|one| one["after"] == "A new gate was built."), "{edited:?}");
    let package: Value =
        serde_json::from_str(&std::fs::read_to_string(unpacked.join("datapackage.json")).unwrap()).unwrap();
    let listed = package["resources"].as_array().unwrap().iter().any(|one| one["path"] == "vernal/changes.jsonl");
    assert!(listed && package["vernal"]["events"] == ours.len(), "{package:#}");

    // pywb takes the file as it is and finds the newest version of the page in it.
    let home = crawled.folder.path();
    judged(Command::new(judges.join("wb-manager")).args(["init", "kept"]).current_dir(home));
    let add = ["add", "--unpack-wacz", "kept", "a1.wacz"];
    judged(Command::new(judges.join("wb-manager")).args(add).current_dir(home));
    let url = crawled.web.url("/garden");
    let visits = json_lines(&told(vernal(&crawled.data).args(["history", &url, "--json"])));
    let replay = Replay::start(&judges, home);
    for visit in &visits {
        let words = if visit["version"]["number"] == 1 { "Closed on Mondays" } else { "A new gate was built." };
        let (_, body) = replay.ask(visit["started"].as_str().unwrap(), &url);
        assert!(String::from_utf8_lossy(&body).contains(words), "{visit}");
    }
}

/// A page that says in its title, once all of it was loaded, how wide its image is, what colour its style sheet gives it, and
/// how many parts could not be loaded.
const SELF_TOLD: &str = "<html><head><title>waiting</title><script>var lost = 0; \
    addEventListener('error', function () { lost += 1; }, true); \
    addEventListener('load', function () { document.title = [document.images[0].naturalWidth, \
    getComputedStyle(document.body).color, lost].join(' '); });</script><link rel=stylesheet href=/s.css></head>\
    <body><h1>Peas</h1><p>Peas climb along a fence of wire.</p><img src=/pea.image alt=Pea></body></html>";
const SHEET: &str = "body { color: rgb(1, 2, 3) }";
const IMAGE: &str =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"37\" height=\"11\"><rect width=\"37\" height=\"11\"/></svg>";

#[test]
fn a_browser_shows_a_wacz_with_its_image_and_its_style_sheet() {
    let (Some(judges), Some(chromium)) = (judges(), chromium()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (home, data) = (folder.path(), folder.path().join("data"));
    let url = {
        let pages = [("/", SELF_TOLD), ("/s.css", SHEET), ("/pea.image", IMAGE)];
        let web = Edited::serve(&pages.map(|(path, body)| (path, body.to_owned())));
        let url = web.url("/");
        told(run(&data).args(CRAWL).args(["--requisites", "site", &url]));
        url
    };
    // The web is gone: whatever the browser shows comes from the file.
    told(vernal(&data).args(["export", "wacz", "--out"]).arg(home.join("a.wacz")));
    judged(Command::new(judges.join("wb-manager")).args(["init", "kept"]).current_dir(home));
    judged(Command::new(judges.join("wb-manager")).args(["add", "--unpack-wacz", "kept", "a.wacz"]).current_dir(home));
    // Without a frame around it the browser has the page itself.
    std::fs::write(home.join("config.yaml"), "framed_replay: false\n").unwrap();
    let replay = Replay::start(&judges, home);
    let visits = json_lines(&told(vernal(&data).args(["history", &url, "--json"])));
    let address = replay.address(visits[0]["started"].as_str().unwrap(), &url);
    let dom = browsed(&chromium, &home.join("profile"), &address);
    assert!(dom.contains("Peas climb along a fence of wire."), "{dom}");
    assert!(dom.contains("<title>37 rgb(1, 2, 3) 0</title>"), "{dom}");
}

/// The rows of each table, and what DuckDB and pyarrow say of their columns.
const TABLES: &str = r#"
import json, sys
import duckdb, pyarrow.dataset as ds
told = {}
for table in ["pages", "versions", "paragraphs", "events", "visits"]:
    files = sys.argv[1] + "/" + table
    schema = ds.dataset(files).schema
    rows = ds.dataset(files).to_table()
    counted = duckdb.sql(f"select count(*) from '{files}/*.parquet'").fetchall()[0][0]
    assert counted == rows.num_rows
    described = duckdb.sql(f"describe select * from '{files}/*.parquet'").fetchall()
    told[table] = {
        "rows": counted,
        "arrow": {field.name: str(field.type) for field in schema},
        "duckdb": {row[0]: row[1] for row in described},
        "ids": [int(field.metadata[b"PARQUET:field_id"]) for field in schema],
    }
texts = duckdb.sql(f"select id, text, hex(digest), epoch_us(edited) from '{sys.argv[1]}/paragraphs/*.parquet' order by id").fetchall()
told["texts"] = [[row[0], row[1], row[2].lower()] for row in texts]
print(json.dumps(told))
"#;

#[test]
fn the_example_asks_what_a_site_took_back() {
    let Some(judges) = judges() else { return };
    let crawled = Crawled::new();
    let folder = crawled.export(&["parquet"], "tables");
    let url = crawled.web.url("/garden");
    let events = json_lines(&told(vernal(&crawled.data).args(["changes", "--json", "--event", "changed"])));
    let month = &events[0]["seen_different"].as_str().unwrap()[..7];
    let site = events[0]["site"].as_str().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/taken_back.py");
    let said = judged(Command::new(judges.join("python")).arg(example).arg(folder).args([site, month]));
    let wanted = [
        &*url,
        "- Closed on Mondays in winter.",
        "- Opening hours are from nine to five.",
        "+ Opening hours are from ten to five.",
    ];
    assert!(wanted.iter().all(|words| said.contains(words)) && !said.contains("roses"), "{said}");
}

#[test]
fn tables_read_the_same_in_pyarrow_and_duckdb() {
    let Some(judges) = judges() else { return };
    let crawled = Crawled::new();
    let folder = crawled.export(&["parquet", "--with-visits"], "tables");
    let told = python(&judges, TABLES, &[&folder]);
    let lines = json_lines(&self::told(vernal(&crawled.data).args(["export", "jsonl", "--out", "-"])));
    let mut texts: Vec<Value> = lines
        .iter()
        .filter(|line| line["op"] == "upsert")
        .map(|line| serde_json::json!([line["id"], line["text"], line["digest"]]))
        .collect();
    texts.sort_by_key(|row| row[0].as_str().unwrap().to_owned());
    assert_eq!(told["texts"].as_array().unwrap(), &texts);
    let documented = documented();
    for (table, columns) in &documented {
        let (arrow, duckdb) = (&told[table]["arrow"], &told[table]["duckdb"]);
        let named: Vec<&String> = columns.iter().map(|(name, _)| name).collect();
        let found: Vec<String> = arrow.as_object().unwrap().keys().cloned().collect();
        assert!(
            found.iter().all(|name| named.contains(&name)) && found.len() == named.len(),
            "{table}: {found:?} {named:?}"
        );
        for (name, form) in columns {
            assert_eq!(duckdb[name].as_str().unwrap(), form, "{table}.{name}");
        }
        let ids: Vec<u64> = told[table]["ids"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect();
        assert_eq!(ids, (1..=columns.len() as u64).collect::<Vec<u64>>(), "{table}");
    }
    assert_eq!(documented.len(), 5);
}

/// The tables of docs/exports.md: the columns of each, with the type that DuckDB gives them.
fn documented() -> BTreeMap<String, Vec<(String, String)>> {
    let guide = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/exports.md")).unwrap();
    let mut tables: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut table = None;
    for line in guide.lines() {
        if let Some(name) = line.strip_prefix("### `").and_then(|rest| rest.strip_suffix('`')) {
            table = Some(name.to_owned());
        } else if line.starts_with('#') {
            table = None;
        } else if let (Some(table), Some(row)) = (&table, line.strip_prefix("| `")) {
            let mut cells = row.split(" | ");
            let name = cells.next().unwrap().trim_end_matches('`').to_owned();
            let form = cells.next().unwrap().trim_matches('`').to_owned();
            tables.entry(table.clone()).or_default().push((name, form));
        }
    }
    tables
}

/// The words of the main content as trafilatura finds them.
const MAIN_CONTENT: &str = r#"
import json, sys, os
import trafilatura
assert trafilatura.__version__ == "2.3.1", trafilatura.__version__
told = {}
for name in open(sys.argv[2]).read().split("\n"):
    with open(os.path.join(sys.argv[1], name), "rb") as page:
        told[name] = trafilatura.extract(page.read(), include_comments=False, include_tables=True) or ""
print(json.dumps(told))
"#;

/// Every so many pages are judged.
const PAGES_STEP: usize = 5;
/// Seen: 0.89 over all pages.
const F1_MIN: f64 = 0.86;

#[test]
fn the_main_content_is_what_a_public_extractor_finds() {
    let Some(judges) = judges() else { return };
    let folder = tempfile::tempdir().unwrap();
    if shared_pairs(folder.path()).is_none() {
        return;
    }
    let pages = folder.path().join("html");
    let names = std::fs::read_dir(&pages).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".before.html")).collect();
    names.sort();
    let judged: Vec<String> = names.into_iter().step_by(PAGES_STEP).collect();
    std::fs::write(folder.path().join("judged"), judged.join("\n")).unwrap();
    let theirs = python(&judges, MAIN_CONTENT, &[&pages, &folder.path().join("judged")]);
    let (mut sum, mut count) = (0.0, 0.0);
    for (name, theirs) in theirs.as_object().unwrap() {
        let theirs = words(theirs.as_str().unwrap());
        if theirs.is_empty() {
            continue;
        }
        sum += f1(&words(&plain(&written(&std::fs::read(pages.join(name)).unwrap()))), &theirs);
        count += 1.0;
    }
    println!("word F1 {:.3} over {count} pages", sum / count);
    assert!(count > 50.0 && sum / count >= F1_MIN, "word F1 {:.3} over {count} pages", sum / count);
}

fn written(bytes: &[u8]) -> String {
    let url = Url::parse("http://site.example/page").unwrap();
    let content_type = Some("text/html");
    let payload = Digest::default();
    let input = Input { url: &url, bytes, content_type, content_language: None, robots_tags: &[], payload };
    markdown(&input, &MarkdownOptions::default())
}

/// Without the addresses of links, which are no words of the page.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(place) = rest.find("](") {
        out.push_str(&rest[..place]);
        rest = rest[place..].find(')').map_or("", |end| &rest[place + end + 1..]);
        out.push(' ');
    }
    out + rest
}

fn words(text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty());
    words.for_each(|word| *counts.entry(word.to_lowercase()).or_default() += 1);
    counts
}

fn f1(ours: &HashMap<String, usize>, theirs: &HashMap<String, usize>) -> f64 {
    let common: usize = ours.iter().map(|(word, count)| theirs.get(word).copied().unwrap_or(0).min(*count)).sum();
    let total: usize = ours.values().sum::<usize>() + theirs.values().sum::<usize>();
    2.0 * common as f64 / total.max(1) as f64
}
