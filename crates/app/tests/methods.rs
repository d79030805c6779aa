//! The methods of change detection, each alone: the real binary on files, on labelled pairs, and on two versions of a page.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::edited::{Edited, shared_pairs, visit};
use common::{output, refused, told, vernal};
use serde_json::{Value, json};

/// Figure 11 of paper 003, made whole by its Table 5.
const INITIAL: &str = "<html><head><title></title></head><body><center><h1></h1></center><center><b></b><br></center>\
    <center></center><center><h3></h3></center><p><br><br><center><b></b></center></p><h2></h2></body></html>";
const CHANGED: &str = "<html><head><title></title></head><body><center><h1></h1></center><center><b></b><br></center>\
    <center></center><center><b></b></center><center><h3></h3></center><p></p><h2></h2></body></html>";

const DOG: &str = "<p>The quick brown fox jumps over the lazy dog</p>";
const COG: &str = "<p>The quick brown fox jumps over the lazy cog</p>";

struct Files {
    dir: tempfile::TempDir,
}

impl Files {
    fn new() -> Files {
        Files { dir: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn compare(&self, old: &str, new: &str, words: &[&str]) -> Command {
        let mut command = vernal(&self.dir.path().join("data"));
        command.arg("compare").args([self.file("old.html", old), self.file("new.html", new)]).args(words);
        command
    }

    fn said(&self, old: &str, new: &str, words: &[&str]) -> Value {
        one(&told(&mut self.compare(old, new, words)))
    }
}

fn one(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|why| panic!("{why}: {text}"))
}

#[test]
fn one_method_alone_says_what_it_found_where_and_what_it_cost() {
    let files = Files::new();
    let tree = files.said(INITIAL, CHANGED, &["--method", "tree", "--json"]);
    assert_eq!((&tree["method"], &tree["changed"]), (&"tree".into(), &true.into()), "{tree}");
    assert_eq!(tree["found"]["degree"], "major");
    let place = &tree["found"]["place"];
    assert_eq!((&place["level"], &place["position"], &place["tag"]), (&3.into(), &5.into(), &"center".into()));
    assert_eq!(place["path"], "/html/body/center[5]");
    assert_eq!(tree["found"]["levels"][2], json!({ "level": 3, "old": 7, "new": 8, "added": 1, "removed": 0 }));
    assert_eq!(tree["cost"]["items"], 34);
    assert!(tree["cpu_us"].as_f64().unwrap() > 0.0 && tree["cost"]["kept_bytes"].as_u64() > Some(0), "{tree}");
    let fingerprint = files.said(INITIAL, CHANGED, &["--method", "fingerprint", "--json"]);
    assert_eq!(fingerprint["found"]["first"]["old"], "hhtbchcbbcchpbbcbh");
    assert_eq!(fingerprint["found"]["parts_at"]["position"], 11);
    let rms = files.said(DOG, COG, &["--method", "rms", "--json"]);
    let paragraph = &rms["found"]["differing_paragraphs"][0];
    let rounded = |value: &Value, places: usize| format!("{:.places$}", value.as_f64().unwrap());
    assert_eq!((rounded(&paragraph["old"], 4), rounded(&paragraph["new"], 4)), ("127.3292".into(), "129.8202".into()));
    let checksum = files.said(DOG, COG, &["--method", "checksum", "--json"]);
    let page = &checksum["found"]["page"];
    assert_eq!((rounded(&page["old"], 3), rounded(&page["new"], 3)), ("45.612".into(), "45.600".into()));
    assert_eq!(rounded(&page["difference"], 3), "-0.012");
    let words = told(&mut files.compare(INITIAL, CHANGED, &["--method", "tree"]));
    assert!(words.starts_with("tree: major: a center with a child was added at level 3, position 5: "), "{words}");
    assert!(words.contains("ms of CPU time") && !words.contains("fingerprint"), "{words}");
}

#[test]
fn the_exit_code_is_that_of_the_methods_that_were_asked() {
    let files = Files::new();
    let code = |old, new, method: &str| {
        output(&mut files.compare(old, new, &["--exit-code", "--method", method])).status.code().unwrap()
    };
    let codes =
        |old, new| ["tree", "fingerprint", "rms", "checksum", "vernal", "all"].map(|method| code(old, new, method));
    assert_eq!(codes(INITIAL, CHANGED), [3, 3, 0, 0, 3, 3], "structure alone");
    assert_eq!(codes(DOG, COG), [0, 0, 3, 3, 3, 3], "words alone");
    assert_eq!(codes(DOG, DOG), [0; 6]);
    let all = files.said(DOG, COG, &["--method", "all", "--json"]);
    let names: Vec<&str> =
        all["methods"].as_array().unwrap().iter().map(|one| one["method"].as_str().unwrap()).collect();
    assert_eq!((names, &all["changed"]), (vec!["tree", "fingerprint", "rms", "checksum", "vernal"], &true.into()));
    for wrong in [&["--method", "md5"][..], &["--method", "tree", "--html"], &["--method", "tree", "--papers"]] {
        assert_eq!(refused(&mut files.compare(DOG, COG, wrong)).0, 2, "{wrong:?}");
    }
}

#[test]
fn a_comparison_has_the_papers_methods_under_one_key_and_its_words_stay_short() {
    let files = Files::new();
    let said = files.said(INITIAL, CHANGED, &["--json"]);
    for name in ["tree", "fingerprint", "rms", "checksum"] {
        assert_eq!(said["papers"][name]["method"], name, "{said}");
    }
    assert_eq!(said["papers"]["tree"]["found"]["levels"].as_array().unwrap().len(), 5);
    let short = told(&mut files.compare(DOG, COG, &[]));
    assert!(!short.contains("checksum"), "{short}");
    let long = told(&mut files.compare(DOG, COG, &["--papers"]));
    assert!(long.starts_with(&short), "{long}");
    for words in ["tree: none: ", "fingerprint: the same letters", "127.3292", "-0.0120"] {
        assert!(long.contains(words), "{words}: {long}");
    }
}

fn label(id: &str, class: &str, text: bool, structure: bool) -> String {
    let label = json!({ "class": class, "text": text, "structure": structure, "attrs": false, "script": false,
        "style": false, "head_meta": false, "comments": false });
    json!({ "id": id, "origin": "hand", "label": label }).to_string()
}

#[test]
fn labelled_pairs_set_the_methods_side_by_side_with_intervals_and_cost() {
    let files = Files::new();
    let pair = |id: &str, old: &str, new: &str| {
        files.file(&format!("{id}.before.html"), old);
        files.file(&format!("{id}.after.html"), new);
    };
    pair("words", DOG, COG);
    pair("tags", DOG, &DOG.replace("</p>", "</p><hr>"));
    pair("order", "<p>one two</p><p>three four</p>", "<p>three four</p><p>one two</p>");
    pair("space", DOG, &DOG.replace("quick ", "quick  "));
    let labels = [
        label("words", "text", true, false),
        label("tags", "structure", false, true),
        label("order", "text", true, false),
        label("space", "none", false, false),
    ];
    let asked = |words: &[&str]| {
        let mut command = vernal(&files.dir.path().join("data"));
        command.arg("compare").arg("--pairs").arg(files.dir.path()).args(words);
        command
    };
    let (code, complaint) = refused(&mut asked(&["--method", "all"]));
    assert!(code == 2 && complaint.contains("labels.jsonl"), "{complaint}");
    files.file("labels.jsonl", &labels.join("\n"));
    let table = one(&told(&mut asked(&["--method", "all", "--json"])));
    assert_eq!((&table["pairs"], &table["passed_over"]), (&4.into(), &0.into()), "{table}");
    let score = |method: &str, question: &str| {
        let methods = table["methods"].as_array().unwrap();
        let of = methods.iter().find(|one| one["method"] == method).unwrap();
        let row = of["questions"].as_array().unwrap().iter().find(|one| one["question"] == question).unwrap().clone();
        assert!(row["recall_low"].as_f64() < row["recall"].as_f64() || row["recall"] == 0.0, "{row}");
        (row["precision"].as_f64().unwrap(), row["recall"].as_f64().unwrap())
    };
    for method in ["tree", "fingerprint"] {
        assert_eq!(score(method, "structure"), (1.0, 1.0), "{method}");
        assert_eq!(score(method, "text").1, 0.0, "{method}");
    }
    for method in ["rms", "checksum"] {
        assert_eq!(score(method, "text"), (1.0, 0.5), "{method} ignores order");
    }
    for question in ["text", "structure", "anything"] {
        assert_eq!(score("vernal", question), (1.0, 1.0), "{question}");
    }
    let words = told(&mut asked(&["--method", "rms", "--method", "tree"]));
    assert!(words.contains("rms") && words.contains("tree") && !words.contains("checksum"), "{words}");
    assert!(words.contains("CPU A PAIR"), "{words}");
}

#[test]
fn on_real_pages_our_method_is_at_least_as_right_as_each_method_of_the_paper() {
    let dir = tempfile::tempdir().unwrap();
    let Some(labels) = shared_pairs(dir.path()) else { return };
    std::fs::write(dir.path().join("labels.jsonl"), labels).unwrap();
    let mut command = vernal(&dir.path().join("data"));
    let table = one(&told(command.arg("compare").arg("--pairs").arg(dir.path()).args(["--method", "all", "--json"])));
    let methods = table["methods"].as_array().unwrap();
    let ours = methods.iter().find(|one| one["method"] == "vernal").unwrap();
    for (place, question) in ["text", "structure"].into_iter().enumerate() {
        let right = |method: &Value, what: &str| method["questions"][place][what].as_f64().unwrap();
        for method in methods {
            for what in ["precision", "recall"] {
                assert!(right(ours, what) >= right(method, what), "{question}, {what}: {method}");
            }
        }
    }
}

fn asked(data: &Path, words: &[&str]) -> Value {
    one(&told(vernal(data).args(words)))
}

#[test]
fn two_versions_of_a_page_have_the_same_verdicts_in_diff_page_and_compare() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let version = |words: &str, more: &str| {
        format!("<html><head><title>Garden</title></head><body><h1>Garden</h1><p>{words}</p>{more}</body></html>")
    };
    let (old, new) = (version("It opens at nine.", ""), version("It opens at ten.", "<ul><li>Beans</li></ul>"));
    let web = Edited::serve(&[("/", old.clone())]);
    let url = web.url("/");
    visit(&data, &url);
    let page = asked(&data, &["page", "--json", &url]);
    assert!(page["papers"].is_null() && page["document"]["rms"].as_f64() > Some(1.0), "{page}");
    web.edit("/", new.clone());
    visit(&data, &url);
    let papers = |answer: &Value| {
        let names = ["tree", "fingerprint", "rms", "checksum"];
        names.map(|name| answer["papers"][name].clone())
    };
    let diff = asked(&data, &["diff", "--json", &url]);
    let page = asked(&data, &["page", "--json", &url]);
    assert_eq!(papers(&diff), papers(&page));
    assert_eq!((&page["papers"]["from"], &page["papers"]["to"]), (&1.into(), &2.into()));
    let files = Files::new();
    assert_eq!(papers(&diff), papers(&files.said(&old, &new, &["--json"])));
    assert_eq!(diff["papers"]["tree"]["found"]["place"]["path"], "/html/body/ul");
    let kept = page["document"]["checksum"].as_f64().unwrap();
    assert!((kept - diff["papers"]["checksum"]["found"]["page"]["new"].as_f64().unwrap()).abs() < 1e-4, "{page}");
    let words = told(vernal(&data).args(["page", &url]));
    assert!(words.contains("version 1 → 2") && words.contains("a ul with a child was added at level 3"), "{words}");
    let (short, long) =
        (told(vernal(&data).args(["diff", &url])), told(vernal(&data).args(["diff", "--papers", &url])));
    assert!(!short.contains("fingerprint") && long.starts_with(&short) && long.contains("fingerprint: "), "{long}");
}
