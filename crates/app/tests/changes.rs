//! What changed, how much, and does it matter: the real binary on files, on labelled pairs, and on a small web of its own
//! that is edited between visits.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::HashMap;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::edited::{Edited, shared_pairs, visit};
use common::{Running, json_lines, output, refused, run, told, vernal};
use serde_json::Value;

const PRICE: &str = "<html><head><title>Plans</title></head><body><h1>Plans</h1>\
    <p>The large plan costs €9.99 a month and can be left at any time.</p>\
    <p>Every plan comes with a support line that is open on all days.</p></body></html>";

fn plan(price: &str) -> String {
    PRICE.replace("€9.99", price)
}

/// A page whose token and nonce are other ones at each visit.
fn with_tokens(token: &str) -> String {
    let form =
        format!("<form action=\"/in\"><input type=\"hidden\" name=\"csrf_token\" value=\"{token}\"></form></body>");
    let script = format!("<script nonce=\"{token}\">go()</script></head>");
    PRICE.replace("</body>", &form).replace("</head>", &script)
}

fn file(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn compare(dir: &Path) -> Command {
    let mut command = vernal(&dir.join("data"));
    command.arg("compare");
    command
}

fn one(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|why| panic!("{why}: {text}"))
}

#[test]
fn a_file_compared_with_itself_is_the_same_and_exits_0() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "a.html", PRICE);
    let verdict = one(&told(compare(dir.path()).args([&path, &path]).args(["--json", "--exit-code"])));
    for name in ["changed", "bytes_differ", "reader_sees", "only_noise", "only_presentation", "only_behaviour"] {
        assert_eq!(verdict[name], false, "{name}: {verdict}");
    }
    for name in ["kinds", "left", "noise", "notes", "paragraphs"] {
        assert_eq!(verdict[name].as_array().unwrap().len(), 0, "{name}: {verdict}");
    }
    assert_eq!((&verdict["magnitude"], &verdict["degree"]), (&0.0.into(), &"none".into()));
    assert!(verdict["flags"].as_object().unwrap().values().all(|flag| flag == false));
    assert!(told(compare(dir.path()).args([&path, &path])).contains("byte for byte"));
    assert!(!dir.path().join("data").exists(), "no repository is needed, and none is made");
}

#[test]
fn a_price_is_content_and_exits_3() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (file(dir.path(), "a.html", PRICE), file(dir.path(), "b.html", &plan("€12.99")));
    let ended = output(compare(dir.path()).args([&old, &new]).args(["--json", "--exit-code"]));
    assert_eq!((ended.status.code(), ended.stderr.len()), (Some(3), 0));
    let verdict = one(&String::from_utf8(ended.stdout).unwrap());
    assert_eq!((&verdict["changed"], &verdict["reader_sees"]), (&true.into(), &true.into()), "{verdict}");
    assert_eq!(
        (&verdict["kinds"], &verdict["left"]),
        (&serde_json::json!(["content"]), &serde_json::json!(["content"]))
    );
    assert_eq!((&verdict["flags"]["text"], &verdict["flags"]["structure"]), (&true.into(), &false.into()));
    let paragraph = &verdict["paragraphs"][0];
    assert_eq!((&paragraph["op"], &paragraph["headings"]), (&"edited".into(), &serde_json::json!(["Plans"])));
    assert!(paragraph["before"].as_str().unwrap().contains("€9.99"));
    assert!(paragraph["after"].as_str().unwrap().contains("€12.99"));
    // Without being asked for, the code stays 0; the words say it.
    let words = told(compare(dir.path()).args([&old, &new]));
    assert!(words.starts_with("changed: content; ") && words.contains("€[-9.99-]{+12.99+}"), "{words}");
}

#[test]
fn tokens_are_noise_that_is_named_and_exits_0() {
    let dir = tempfile::tempdir().unwrap();
    let old = file(dir.path(), "a.html", &with_tokens("8f14e45fceea167a5a36dedd4bea2543"));
    let new = file(dir.path(), "b.html", &with_tokens("c9f0f895fb98ab9159f51fd0297e236d"));
    let verdict = one(&told(compare(dir.path()).args([&old, &new]).args(["--json", "--exit-code"])));
    assert_eq!((&verdict["changed"], &verdict["only_noise"]), (&false.into(), &true.into()), "{verdict}");
    assert_eq!((&verdict["bytes_differ"], &verdict["reader_sees"]), (&true.into(), &false.into()), "{verdict}");
    assert!(!verdict["kinds"].as_array().unwrap().is_empty(), "{verdict}");
    let noise = verdict["noise"].as_array().unwrap();
    assert!(!noise.is_empty() && noise.iter().all(|aside| aside["detector"].is_string() && aside["kind"].is_string()));
    assert!(told(compare(dir.path()).args([&old, &new])).starts_with("noise only: "));
}

#[test]
fn one_side_may_be_standard_input_and_the_page_of_a_diff_can_run_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let hostile = PRICE
        .replace("€9.99", "&lt;script&gt;alert(1)&lt;/script&gt;")
        .replace("</body>", "<script>evil()</script><img src=x onerror=evil()></body>");
    let old = file(dir.path(), "a.html", PRICE);
    let mut command = compare(dir.path());
    command.arg(&old).args(["-", "--html", "--content-type", "text/html"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(hostile.as_bytes()).unwrap();
    let page = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(page.contains("<del>") && page.contains("default-src 'none'"), "{page}");
    assert!(!page.contains("<script") && !page.contains("onerror=") && !page.contains("evil"), "{page}");
}

#[test]
fn wrong_usage_of_compare_exits_2_and_a_missing_file_1() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "a.html", PRICE);
    let path = path.to_str().unwrap();
    let wrong: [&[&str]; 7] = [
        &[],
        &[path],
        &["-", "-"],
        &[path, path, "--html", "--json"],
        &[path, path, "--url", "no url"],
        &["--pairs", "."],
        &["--labels", "x"],
    ];
    for arguments in wrong {
        let (code, complaint) = refused(compare(dir.path()).args(arguments));
        assert_eq!(code, 2, "{arguments:?}: {complaint}");
    }
    let (code, complaint) = refused(compare(dir.path()).args([path, "missing.html"]));
    assert_eq!((code, complaint.lines().count()), (1, 1), "{complaint}");
    assert!(complaint.contains("missing.html"), "{complaint}");
}

#[test]
fn labelled_pairs_judge_the_binary_within_the_bounds_and_bad_lines_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let Some(labels) = shared_pairs(dir.path()) else { return };
    let strange = labels.lines().next().unwrap().replace("\"id\": \"", "\"id\": \"no-such-");
    let labels = file(dir.path(), "labels.jsonl", &format!("{{\n{labels}\n{strange}\n"));
    let count = std::fs::read_to_string(&labels).unwrap().lines().count();
    let asked = |extra: &[&str]| {
        let mut command = compare(dir.path());
        command.arg("--pairs").arg(dir.path()).arg("--labels").arg(&labels).args(extra);
        output(&mut command)
    };
    let answer = asked(&["--json"]);
    let complaint = String::from_utf8_lossy(&answer.stderr).into_owned();
    assert!(complaint.contains("line 1:") && complaint.contains(&format!("line {count}:")), "{complaint}");
    let table = one(&String::from_utf8(answer.stdout).unwrap());
    assert_eq!((&table["passed_over"], &table["pairs"]), (&2.into(), &535.into()));
    let score = |question: &str, what: &str| {
        let rows = table["questions"].as_array().unwrap();
        rows.iter().find(|row| row["question"] == question).unwrap()[what].as_f64().unwrap()
    };
    assert!(score("text", "recall") >= 0.99 && score("text", "precision") >= 0.99, "{table}");
    for question in ["structure", "attributes", "script"] {
        assert!(score(question, "agreement") >= 0.97, "{question}: {table}");
    }
    assert_eq!(table["false_content"], serde_json::json!([]));
    for one in table["disagreements"].as_array().unwrap() {
        assert!(one["id"].is_string() && one["ours"] != one["label"], "{one}");
    }
}

/// Three versions of a page: a price, another price, and a paragraph more.
fn three_versions(data: &Path) -> (Edited, String) {
    let web = Edited::serve(&[("/", plan("€9.99"))]);
    let url = web.url("/");
    visit(data, &url);
    web.edit("/", plan("€12.99"));
    visit(data, &url);
    web.edit(
        "/",
        plan("€12.99").replace("</body>", "<p>A smaller plan will follow in the autumn of this year.</p></body>"),
    );
    visit(data, &url);
    (web, url)
}

#[test]
fn diff_blame_history_and_feed_tell_one_story_stopped_and_running() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let (_web, url) = three_versions(&data);
    let questions: Vec<Vec<&str>> = vec![
        vec!["diff", &url],
        vec!["diff", &url, "--json"],
        vec!["diff", &url, "--from", "1", "--to", "2"],
        vec!["diff", &url, "--from", "latest", "--to", "1", "--full", "--json"],
        vec!["diff", &url, "--from", "previous", "--to", "latest", "--source"],
        vec!["diff", &url, "--html"],
        vec!["blame", &url],
        vec!["blame", &url, "--json"],
        vec!["blame", &url, "--at", "2", "--json"],
        vec!["history", &url],
        vec!["history", &url, "--json"],
        vec!["changes", "--with-noise"],
        vec!["changes", "--with-noise", "--json"],
        vec!["noise", "list", "--json"],
    ];
    let ask = |question: &Vec<&str>| told(vernal(&data).args(question));
    let stopped: Vec<String> = questions.iter().map(ask).collect();
    let running = Running::start(run(&data).args(["--budget", "1/week"]), &data);
    for (question, expected) in questions.iter().zip(&stopped) {
        assert_eq!(&ask(question), expected, "{question:?}");
    }
    assert_eq!(running.stop(), Some(0));
    let of = |wanted: &[&str]| stopped[questions.iter().position(|question| question[..] == *wanted).unwrap()].as_str();
    check_diffs(&url, &of);
    check_story(&url, &of);
}

fn check_diffs<'a>(url: &'a str, of: &impl Fn(&[&'a str]) -> &'a str) {
    assert!(of(&["diff", url]).contains("+ A smaller plan"), "{}", of(&["diff", url]));
    let priced = of(&["diff", url, "--from", "1", "--to", "2"]);
    assert!(priced.contains("€[-9.99-]{+12.99+}"), "{priced}");
    let last = one(of(&["diff", url, "--json"]));
    assert_eq!((&last["from"]["number"], &last["to"]["number"]), (&2.into(), &3.into()), "{last}");
    assert_eq!((&last["changed"], &last["paragraphs"][0]["op"]), (&true.into(), &"added".into()), "{last}");
    assert!(last["seen_same"].as_str() < last["seen_different"].as_str(), "{last}");
    let source = of(&["diff", url, "--from", "previous", "--to", "latest", "--source"]);
    assert!(source.starts_with("--- version 2, ") && source.contains("smaller plan"), "{source}");
    let page = of(&["diff", url, "--html"]);
    assert!(page.contains("<ins>A smaller plan") && !page.contains("<script"), "{page}");
    let back = one(of(&["diff", url, "--from", "latest", "--to", "1", "--full", "--json"]));
    let ops: Vec<&str> = back["paragraphs"].as_array().unwrap().iter().filter_map(|one| one["op"].as_str()).collect();
    assert_eq!(ops, ["same", "same", "edited", "same", "removed"], "{back}");
}

fn check_story<'a>(url: &'a str, of: &impl Fn(&[&'a str]) -> &'a str) {
    let events = json_lines(of(&["changes", "--with-noise", "--json"]));
    let names: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(names, ["new", "changed", "changed"]);
    let edited = &events[1]["paragraphs"][0];
    assert_eq!((&edited["op"], &events[1]["left"]), (&"edited".into(), &serde_json::json!(["content"])));
    assert_eq!(edited["headings"], serde_json::json!(["Plans"]));
    let id = edited["id"].as_str().expect("a paragraph has an id");
    assert!(id.starts_with('p') && id.split('-').count() == 3, "{id}");
    let added = events[2]["paragraphs"][0]["id"].as_str().unwrap();
    assert_ne!(added, id);
    // The same paragraphs have the same ids wherever they are told of.
    let last = one(of(&["diff", url, "--json"]));
    assert_eq!(last["paragraphs"][0]["id"], added);
    let blamed = one(of(&["blame", url, "--json"]));
    let with = |id: &str| {
        let paragraphs = blamed["paragraphs"].as_array().unwrap();
        paragraphs.iter().find(|paragraph| paragraph["id"] == id).unwrap_or_else(|| panic!("{id} in {blamed}"))
    };
    let (priced, new) = (with(id), with(added));
    assert_eq!(
        (&priced["born"]["version"], &priced["edited"]["version"], &priced["edits"]),
        (&1.into(), &2.into(), &1.into())
    );
    assert_eq!((&new["born"]["version"], &new["edits"]), (&3.into(), &0.into()));
    // Of an older version it tells the paragraphs that stood there, with the same ids.
    let before = one(of(&["blame", url, "--at", "2", "--json"]));
    let before: Vec<&Value> = before["paragraphs"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert!(before.contains(&&id.into()) && !before.contains(&&added.into()), "{before:?}");
    let price = priced["words"].as_array().unwrap().iter().find(|words| words["version"] == 2).unwrap();
    assert!(price["text"].as_str().unwrap().contains("12.99"), "{priced}");
    let visits = json_lines(of(&["history", url, "--json"]));
    let changed: Vec<&Value> = visits.iter().filter(|visit| visit["changed"] == true).collect();
    assert_eq!(changed.len(), 2, "{visits:#?}");
    for visit in changed {
        assert_eq!((&visit["event"], &visit["folded"]), (&"changed".into(), &false.into()));
        assert!(visit["seen_same"].as_str() < visit["seen_different"].as_str(), "{visit}");
        assert_eq!(visit["seen_different"], visit["started"]);
        assert!(visit["change"]["magnitude"].as_f64().unwrap() > 0.0);
    }
    assert!(of(&["changes", "--with-noise"]).contains("€9.99 → €12.99"), "{}", of(&["changes", "--with-noise"]));
}

#[test]
fn what_is_not_there_is_one_clear_line_and_exits_1_and_nonsense_exits_2() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let (web, url) = three_versions(&data);
    let (unknown, site) = (web.url("/unknown"), web.address.to_string());
    let cases: [(&[&str], i32, &str); 14] = [
        (&["diff", &unknown], 1, "not known here"),
        (&["blame", &unknown], 1, "not known here"),
        (&["history", &unknown], 1, "not known here"),
        (&["diff", &url, "--from", "9"], 1, "has no version 9; it has 1 to 3"),
        (&["diff", &url, "--to", "1"], 1, "nothing to compare it with"),
        (&["diff", &url, "--from", "1999-01-01"], 1, "was held at"),
        (&["noise", "show", &site, "7"], 1, "has no rule 7"),
        (&["noise", "forget", &site, "7"], 1, "has no rule 7"),
        (&["noise", "list", "--site", "other.example"], 1, "no site other.example is known here"),
        (&["diff", &url, "--from", "yonder"], 2, "is no version"),
        (&["diff", &url, "--html", "--json"], 2, "give one of"),
        (&["noise", "add", &site, "--words", "* *"], 2, "at least one word"),
        (&["noise", "add", &site], 2, "--words"),
        (&["noise", "list", "--standing", "lying"], 2, "is no standing"),
    ];
    for (arguments, expected, words) in cases {
        let (code, complaint) = refused(vernal(&data).args(arguments));
        assert_eq!(code, expected, "{arguments:?}: {complaint}");
        assert!(complaint.contains(words), "{arguments:?}: {complaint}");
        assert!(expected == 2 || complaint.lines().count() == 1, "{arguments:?}: {complaint}");
    }
}

fn views(count: u32) -> String {
    PRICE.replace("</body>", &format!("<p>Views of this page so far: {count}</p></body>"))
}

fn events(data: &Path, extra: &[&str]) -> Vec<Value> {
    json_lines(&told(vernal(data).args(["changes", "--json"]).args(extra)))
}

#[test]
fn a_person_has_the_last_word_on_noise_stopped_and_running() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let web = Edited::serve(&[("/", views(1))]);
    let (url, site) = (web.url("/"), web.address.to_string());
    visit(&data, &url);
    let words = "Views of this page so far: #";
    let add =
        one(&told(vernal(&data).args(["noise", "add", &site, "--words", words, "--reason", "a counter", "--json"])));
    let id = add["id"].to_string();
    web.edit("/", views(2));
    visit(&data, &url);
    assert_eq!(events(&data, &[]).len(), 1, "only the new page is told");
    let noisy = events(&data, &["--with-noise"]);
    assert_eq!((noisy.len(), &noisy[1]["noise"][0]["rule"]), (2, &add["id"]), "{noisy:#?}");
    let status = one(&told(vernal(&data).args(["status", "--json"])));
    assert_eq!((&status["changes"], &status["noise"]), (&0.into(), &1.into()));
    let diff = one(&told(vernal(&data).args(["diff", &url, "--json"])));
    assert_eq!((&diff["only_noise"], &diff["noise"][0]["rule"]), (&true.into(), &add["id"]), "{diff}");
    // A real edit beside the counter is told all the same.
    web.edit("/", views(3).replace("€9.99", "€12.99"));
    visit(&data, &url);
    assert_eq!(events(&data, &["--kind", "content"]).len(), 1);

    let running = Running::start(run(&data).args(["--budget", "1/week"]), &data);
    let shown = told(vernal(&data).args(["noise", "show", &site, &id]));
    assert!(shown.contains(words) && shown.contains("a counter") && shown.contains("added"), "{shown}");
    told(vernal(&data).args(["noise", "allow", &site, &id, "--reason", "it matters"]));
    let rules = json_lines(&told(vernal(&data).args(["noise", "list", "--site", &site, "--json"])));
    assert_eq!((&rules[0]["standing"], &rules[0]["reason"]), (&"allowed".into(), &"it matters".into()), "{rules:?}");
    assert_eq!(running.stop(), Some(0));
    assert_eq!(json_lines(&told(vernal(&data).args(["noise", "list", "--json"]))), rules, "it survives a restart");
    web.edit("/", views(4).replace("€9.99", "€12.99"));
    visit(&data, &url);
    assert_eq!(events(&data, &["--kind", "content"]).len(), 2, "what a person allows is told");
    told(vernal(&data).args(["noise", "forget", &site, &id]));
    assert!(!told(vernal(&data).args(["noise", "list", "--standing", "allowed", "--json"])).contains("Views"));
}

#[test]
fn a_change_of_a_page_tells_which_of_its_images_have_other_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let shown = "<a href=\"/a.png\"><img src=\"/a.png\"></a><a href=\"/b.png\"><img src=\"/b.png\"></a></body>";
    let with_images = |price| plan(price).replace("</body>", shown);
    let image = |words: &str| format!("\u{89}PNG {words}");
    let web = Edited::serve(&[("/", with_images("€1")), ("/a.png", image("old")), ("/b.png", image("same"))]);
    let url = web.url("/");
    visit(&data, &url);
    web.edit("/a.png", image("new"));
    visit(&data, &url);
    web.edit("/", with_images("€2"));
    visit(&data, &url);
    let told = events(&data, &[]);
    let last = told.iter().rfind(|event| event["url"] == url.as_str()).unwrap();
    let notes = last["notes"].as_array().unwrap();
    let images: Vec<&Value> = notes.iter().filter(|note| note["what"] == "image bytes").collect();
    assert_eq!(images.len(), 1, "{last}");
    assert!(images[0]["after"].as_str().unwrap().starts_with(&web.url("/a.png")), "{last}");
    assert_eq!((&images[0]["kind"], &last["left"]), (&"content".into(), &serde_json::json!(["content"])), "{last}");
}

/// What a program holds that only follows the feed, and what the page says, both by the paragraphs' ids.
fn followed_and_kept(data: &Path, url: &str) -> (HashMap<String, String>, HashMap<String, String>) {
    let mut held: HashMap<String, String> = HashMap::new();
    for event in events(data, &[]) {
        for paragraph in event["paragraphs"].as_array().unwrap() {
            let id = paragraph["id"].as_str().unwrap().to_owned();
            match (paragraph["op"].as_str().unwrap(), paragraph["after"].as_str()) {
                ("removed", _) => held.remove(&id),
                (_, words) => held.insert(id, words.expect("what came has words").to_owned()),
            };
        }
    }
    let blamed = one(&told(vernal(data).args(["blame", url, "--json"])));
    let paragraphs = blamed["paragraphs"].as_array().unwrap().iter();
    let text = |paragraph: &Value, name: &str| paragraph[name].as_str().unwrap().to_owned();
    (held, paragraphs.map(|one| (text(one, "id"), text(one, "text"))).collect())
}

#[test]
fn who_only_follows_the_feed_holds_every_paragraph_of_the_page() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let (_web, url) = three_versions(&data);
    let (held, kept) = followed_and_kept(&data, &url);
    assert_eq!(held, kept);
    assert_eq!(held.len(), 5, "a title, a heading and three paragraphs: {held:?}");
}

#[test]
fn a_page_that_was_written_anew_is_told_whole_by_its_versions() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let prose = |word: &str| {
        let paragraph =
            |number: usize| format!("<p>{number} {}.</p>", format!("{word}{number} ").repeat(40).trim_end());
        format!(
            "<html><head><title>Prose</title></head><body>{}</body></html>",
            (0..60).map(paragraph).collect::<String>()
        )
    };
    let web = Edited::serve(&[("/", prose("before"))]);
    let url = web.url("/");
    visit(&data, &url);
    web.edit("/", prose("after"));
    visit(&data, &url);
    let (held, kept) = followed_and_kept(&data, &url);
    assert_eq!(held, kept);
    assert_eq!(held.len(), 61);
}

#[test]
fn the_page_of_a_diff_is_served_so_that_it_can_run_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let (_web, url) = three_versions(&data);
    let mut command = vernal(&data);
    command.args(["run", "--allow-private", "--budget", "1/week", "--listen", "127.0.0.1:0"]);
    let mut running = Running::start(&mut command, &data);
    let listening = running.listening();
    let asked = |method: &str, path: &str, extra: &str| {
        let mut stream = TcpStream::connect(&listening).unwrap();
        let request = format!("{method} {path} HTTP/1.1\r\nHost: {listening}\r\nConnection: close\r\n{extra}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        std::io::read_to_string(stream).unwrap().to_ascii_lowercase()
    };
    let encoded = url.replace(':', "%3A").replace('/', "%2F");
    let page = asked("GET", &format!("/api/v1/diff?url={encoded}&view=html"), "");
    assert!(page.starts_with("http/1.1 200") && page.contains("sandbox") && page.contains("nosniff"), "{page}");
    let body = |answer: &str| answer.split_once("\r\n\r\n").unwrap().1.to_owned();
    let in_path = asked("GET", &format!("/api/v1/pages/{encoded}/diff?view=html"), "");
    assert_eq!(body(&in_path), body(&page), "a page may be named in the path");
    for noun in ["", "/history", "/blame", "/body", "/links", "/check", "/why"] {
        let answer = asked("GET", &format!("/api/v1/pages/{encoded}{noun}"), "");
        assert!(answer.starts_with("http/1.1 200"), "{noun}: {answer}");
    }
    let foreign = "Origin: https://evil.example\r\nContent-Length: 0\r\n";
    let written = asked("POST", "/api/v1/noise?site=a&word=add&words=x", foreign);
    assert!(written.starts_with("http/1.1 403"), "{written}");
    let described = asked("GET", "/api/v1/openapi.json", "");
    for path in ["/api/v1/diff", "/api/v1/blame", "/api/v1/noise", "/api/v1/pages/{url}/why"] {
        assert!(described.contains(&format!("\"{path}\"")), "{path}");
    }
    assert_eq!(running.stop(), Some(0));
}

#[test]
fn the_kinds_that_count_and_strict_sites_are_settings() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    std::fs::write(
        dir.path().join("vernal.toml"),
        "counts = ['content', 'structure']\nstrict_sites = ['a.example', 'b.example:8080']\n",
    )
    .unwrap();
    let rows = json_lines(&told(vernal(&data).args(["config", "--json", "--strict"])));
    let value = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap()["value"].clone();
    assert_eq!(value("counts"), serde_json::json!(["content", "structure"]));
    assert_eq!(
        (value("strict"), value("strict_sites")),
        ("true".into(), serde_json::json!(["a.example", "b.example:8080"]))
    );
    let (code, complaint) = refused(vernal(&data).args(["config", "--counts", "colour"]));
    assert_eq!((code, complaint.contains("is no kind of change")), (2, true), "{complaint}");
}

#[test]
fn every_event_has_the_fields_of_the_schema() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let (_web, _) = three_versions(&data);
    let schema = one(&told(vernal(&data).args(["changes", "--schema"])));
    let fields = |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let mut wanted = fields(&schema["properties"]);
    wanted.sort_unstable();
    let mut paragraph = fields(&schema["properties"]["paragraphs"]["items"]["properties"]);
    paragraph.sort_unstable();
    for event in events(&data, &["--with-noise"]) {
        let mut found = fields(&event);
        found.sort_unstable();
        assert_eq!(found, wanted);
        for one in event["paragraphs"].as_array().unwrap() {
            let mut found = fields(one);
            found.sort_unstable();
            assert_eq!(found, paragraph);
        }
    }
}
