//! One page with several names: the real binary on a small web where `/` is also `/index.html`.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use common::edited::{Edited, visit};
use common::replica::Replica;
use common::{Running, assert_sound, json_lines, refused, run, told, vernal};
use serde_json::Value;

const ROSES: &str =
    "The roses by the gate were planted in March. They need water in the evening, and nobody else may cut them.";
const TULIPS: &str =
    "The tulips behind the house came up late this year. They need no water, and everybody may cut them.";

fn page(words: &str, head: &str) -> String {
    let links: String =
        ["/", "/index.html", "/?ref=7", "/tulips"].map(|to| format!("<a href=\"{to}\">a way</a> ")).concat();
    format!(
        "<html><head><title>A garden</title>{head}</head><body><main><p>{words}</p></main><p>{links}</p></body></html>"
    )
}

/// A front page with three names, and another page.
fn garden() -> Edited {
    let canonical = "<link rel=canonical href=\"/\">";
    Edited::serve(&[
        ("/", page(ROSES, "")),
        ("/index.html", page(ROSES, "")),
        ("/?ref=7", page(ROSES, canonical)),
        ("/tulips", page(TULIPS, canonical)),
    ])
}

fn lines(data: &Path, arguments: &[&str]) -> Vec<Value> {
    json_lines(&told(vernal(data).args(arguments).arg("--json")))
}

fn value(data: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&told(vernal(data).args(arguments).arg("--json"))).unwrap()
}

/// Every page with its first name, empty where it stands on its own.
fn names(data: &Path, web: &Edited) -> BTreeMap<String, String> {
    let path = |value: &Value| value.as_str().unwrap_or_default().replace(&web.url(""), "");
    lines(data, &["pages"]).iter().map(|page| (path(&page["url"]), path(&page["same_as"]))).collect()
}

fn three_names() -> BTreeMap<String, String> {
    [("/", ""), ("/index.html", "/"), ("/?ref=7", "/"), ("/tulips", "")]
        .map(|(one, two)| (one.into(), two.into()))
        .into()
}

/// What a pipeline has embedded: it knows the listing alone, or the feed of pages with `same_as`.
#[derive(Default)]
struct Pipeline {
    extra: &'static [&'static str],
    cursor: Option<String>,
    pages: BTreeMap<String, BTreeMap<String, String>>,
}

impl Pipeline {
    fn follow(&mut self, data: &Path) {
        let mut arguments = vec!["changes"];
        arguments.extend(self.extra);
        arguments.extend(self.cursor.iter().flat_map(|cursor| ["--since", cursor]));
        for event in lines(data, &arguments) {
            self.take(&event);
        }
    }

    fn take(&mut self, event: &Value) {
        self.cursor = event["cursor"].as_str().map(str::to_owned);
        let text = |one: &Value, name: &str| one[name].as_str().unwrap_or_default().to_owned();
        let url = text(event, "url");
        match event["event"].as_str().unwrap() {
            "joined" | "gone" => {
                self.pages.remove(&url);
                return;
            }
            _ if event["same_as"].is_string() => return,
            "new" | "back" | "parted" => _ = self.pages.insert(url.clone(), BTreeMap::new()),
            _ => {}
        }
        let page = self.pages.entry(url).or_default();
        for one in event["paragraphs"].as_array().unwrap() {
            match one["after"].as_str() {
                Some(after) => _ = page.insert(text(one, "id"), after.to_owned()),
                None => _ = page.remove(&text(one, "id")),
            }
        }
    }

    /// The main words that are embedded, each once.
    fn embedded(&self) -> BTreeSet<&str> {
        let all: Vec<&str> = self.pages.values().flat_map(BTreeMap::values).map(String::as_str).collect();
        let main: Vec<&str> = all.into_iter().filter(|words| words.len() > 60).collect();
        let once: BTreeSet<&str> = main.iter().copied().collect();
        assert_eq!(once.len(), main.len(), "embedded twice: {:?}", self.pages);
        once
    }
}

#[test]
fn one_page_with_three_names_is_told_once_and_the_choice_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let (data, web) = (dir.path().join("data"), garden());
    visit(&data, &web.url("/"));
    assert_eq!(names(&data, &web), three_names());
    let listed: Vec<String> = lines(&data, &["changes"]).iter().map(|event| event["url"].to_string()).collect();
    assert_eq!(listed.len(), 2, "the front page and the tulips: {listed:?}");
    let feed = lines(&data, &["changes", "--pages"]);
    let same_as: BTreeSet<String> = feed.iter().map(|event| event["same_as"].to_string()).collect();
    assert_eq!((feed.len(), same_as.len()), (4, 2), "all events are there, and say whose name a page is");
    assert_eq!(lines(&data, &["changes", "--with-names"]).len(), 4);
    let front = value(&data, &["page", &web.url("/")]);
    assert_eq!(front["also_named"].as_array().unwrap().len(), 2);
    let second = value(&data, &["page", &web.url("/?ref=7")]);
    assert_eq!((&second["same_as"], &second["named_by"]), (&web.url("/").into(), &"canonical".into()));
    let shown = told(vernal(&data).args(["page", &web.url("/index.html")]));
    assert!(shown.contains("same as") && shown.contains("spelling"), "{shown}");
    let shown = told(vernal(&data).arg("pages"));
    assert_eq!(shown.matches("(same as ").count(), 2, "{shown}");
    let listed = lines(&data, &["names", "list"]);
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|name| name["same_as"] == web.url("/") && name["in_force"] == true), "{listed:?}");
    assert!(told(vernal(&data).args(["names", "list", "--site", "b.example"])).is_empty());
    assert_sound(&data);
}

#[test]
fn names_part_when_their_contents_do_and_no_pipeline_embeds_twice_or_misses_a_word() {
    let dir = tempfile::tempdir().unwrap();
    let (data, web) = (dir.path().join("data"), garden());
    let (mut listing, mut feed) = (Pipeline::default(), Pipeline { extra: &["--pages"], ..Pipeline::default() });
    // The feed of pages has no words in its paragraphs; its copies are held to `blame`.
    let mut replica = Replica::default();
    let mut before: Vec<Vec<Value>> = vec![Vec::new(), Vec::new()];
    let mut look = |expected: &[&str], step: &str| {
        for (told, extra) in before.iter_mut().zip([&[][..], &["--pages"]]) {
            let now = lines(&data, &[&["changes"], extra].concat());
            assert!(now.starts_with(told), "{step}: what was told stays told");
            *told = now;
        }
        listing.follow(&data);
        feed.follow(&data);
        replica.follow(&data);
        replica.assert_is_that_of(&data);
        assert_eq!(listing.embedded(), expected.iter().copied().collect(), "{step}");
        assert_eq!(feed.pages.keys().collect::<Vec<_>>(), listing.pages.keys().collect::<Vec<_>>(), "{step}");
    };
    visit(&data, &web.url("/index.html"));
    look(&[ROSES, TULIPS], "three names");
    // All names of the page change together: one change for those who follow.
    let edited = ROSES.replace("March", "April");
    for path in ["/", "/index.html", "/?ref=7"] {
        let head = if path == "/?ref=7" { "<link rel=canonical href=\"/\">" } else { "" };
        web.edit(path, page(&edited, head));
    }
    visit(&data, &web.url("/"));
    look(&[&edited, TULIPS], "a change of all names");
    assert_eq!(names(&data, &web), three_names());
    // One name goes its own way. That is certain when the other was seen unchanged beside it.
    let own = ROSES.replace("roses", "beans");
    web.edit("/index.html", page(&own, ""));
    visit(&data, &web.url("/"));
    visit(&data, &web.url("/"));
    look(&[&edited, &own, TULIPS], "two contents");
    assert_eq!(names(&data, &web)["/index.html"], "");
    let parted = lines(&data, &["changes", "--event", "parted"]);
    assert_eq!((parted.len(), &parted[0]["url"]), (1, &web.url("/index.html").into()));
    // And comes back.
    web.edit("/index.html", page(&edited, ""));
    visit(&data, &web.url("/"));
    look(&[&edited, TULIPS], "one content again");
    let joined = lines(&data, &["changes", "--event", "joined"]);
    assert_eq!(
        (&joined[joined.len() - 1]["same_as"], joined[joined.len() - 1]["paragraphs"][0]["op"].as_str()),
        (&web.url("/").into(), Some("removed"))
    );
    assert!(told(vernal(&data).args(["changes", "--utc"])).contains("a second name of"));
    assert_sound(&data);
}

#[test]
fn a_person_overrules_the_names_of_a_running_crawl_and_of_a_stopped_one() {
    let dir = tempfile::tempdir().unwrap();
    let (data, web) = (dir.path().join("data"), garden());
    let (front, index, tulips) = (web.url("/"), web.url("/index.html"), web.url("/tulips"));
    visit(&data, &front);
    let running = Running::start(run(&data).args(["--budget", "1/week"]), &data);
    let said = value(&data, &["names", "part", &front, &index, "--reason", "two doors"]);
    assert_eq!((&said["word"], &said["same_as"]), (&"part".into(), &Value::Null));
    assert_eq!(names(&data, &web)["/index.html"], "");
    let said = value(&data, &["names", "join", &front, &tulips]);
    assert_eq!(said["same_as"], front.as_str());
    assert_eq!(running.stop(), Some(0));
    let listed = lines(&data, &["names", "list"]);
    let apart: Vec<&Value> = listed.iter().filter(|name| name["apart_from"].is_string()).collect();
    assert_eq!((apart.len(), &apart[0]["reason"], &apart[0]["why"]), (1, &"two doors".into(), &"person".into()));
    visit(&data, &front);
    let mut expected = three_names();
    expected.extend([("/index.html".to_owned(), String::new()), ("/tulips".to_owned(), "/".to_owned())]);
    assert_eq!(names(&data, &web), expected, "a visit changes nothing of it");
    told(vernal(&data).args(["names", "forget", &index, &front]));
    told(vernal(&data).args(["names", "forget", &front, &tulips]));
    assert_eq!(names(&data, &web), three_names());
    for (arguments, complaint) in [
        (["names", "forget", &front, &tulips], "nobody said anything"),
        (["names", "join", &front, &web.url("/nowhere")], "is not known here"),
        (["names", "join", &front, &front], "two pages of one site"),
    ] {
        let (code, told) = refused(vernal(&data).args(arguments));
        assert!(code > 0 && told.contains(complaint), "{code} {told}");
    }
    assert_sound(&data);
}
