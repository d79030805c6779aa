//! Images, scripts and style sheets that a page uses: the real binary on a small web of its own that is edited between visits.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::path::Path;

use common::edited::Edited;
use common::{json_lines, refused, run, told, vernal};
use serde_json::Value;

const PAGE: &str = "<html><head><title>Bus</title><link rel=\"stylesheet\" href=\"/s.css\"><script src=\"/s.js\"></script>\
    </head><body><h1>Bus</h1><p>The bus leaves at nine from the old market.</p><img src=\"/a.png\" alt=\"a bus\"></body></html>";

fn web() -> Edited {
    let file = |words: &str| words.to_owned();
    Edited::serve(&[
        ("/", PAGE.to_owned()),
        ("/a.png", file("\u{89}PNG one")),
        ("/s.css", file("p { color: red }")),
        ("/s.js", file("go();")),
    ])
}

/// Visits everything once more.
fn visit(data: &Path, url: &str) {
    let words = ["--until-idle", "--refresh-min", "0s", "--budget", "1000000/s", "--requisites", "site"];
    told(run(data).args(words).arg(url));
}

fn changes(data: &Path) -> Vec<Value> {
    json_lines(&told(vernal(data).args(["changes", "--json"])))
}

#[test]
fn a_changed_image_style_sheet_or_script_is_part_of_the_pages_change_and_no_page_of_the_feed() {
    let dir = tempfile::tempdir().unwrap();
    let (data, web) = (dir.path().join("data"), web());
    let url = web.url("/");
    visit(&data, &url);
    assert_eq!(changes(&data).len(), 1, "the page is new");
    for (path, body, kind, words) in [
        ("/a.png", "\u{89}PNG two and more", "content", "picture a.png: "),
        ("/s.css", "p { color: blue }", "presentation", "style sheet s.css: 16 B → 17 B"),
        ("/s.js", "no();", "behaviour", "script s.js has other bytes"),
    ] {
        let before = changes(&data).len();
        web.edit(path, body.to_owned());
        visit(&data, &url);
        let all = changes(&data);
        assert_eq!(all.len(), before + 1, "{path}: {all:#?}");
        let event = &all[before];
        assert_eq!((&event["event"], &event["url"]), (&"changed".into(), &url.as_str().into()), "{event}");
        assert_eq!(event["left"], serde_json::json!([kind]), "{event}");
        assert!(event["notes"][0]["after"].as_str().unwrap().starts_with(&web.url(path)), "{event}");
        let lines = told(vernal(&data).arg("changes"));
        assert!(lines.lines().last().unwrap().contains(words), "{lines}");
        visit(&data, &url);
        assert_eq!(changes(&data).len(), before + 1, "it is told once");
    }
    // The files have versions of their own, and nothing is wrong in the folder.
    let history = json_lines(&told(vernal(&data).args(["history", "--json", &web.url("/s.css")])));
    assert_eq!(history.iter().filter(|visit| visit["version"].is_object()).count(), 2, "{history:#?}");
    let sheet: Value = serde_json::from_str(&told(vernal(&data).args(["page", "--json", &web.url("/s.css")]))).unwrap();
    assert_eq!(sheet["requisite_of"], url.as_str(), "{sheet}");
    let whole = json_lines(&told(vernal(&data).args(["changes", "--pages", "--json"])));
    assert!(whole.iter().all(|event| event["url"] == url.as_str()), "{whole:#?}");
    let steps = |event: &Value| event["replica"]["operations"].as_array().map(Vec::len);
    assert!(whole[1..].iter().all(|event| steps(event) == Some(0)), "no paragraph changed: {whole:#?}");
    common::assert_sound(&data);
}

#[test]
fn requisites_are_off_by_default_and_are_set_by_flag_variable_and_file() {
    let dir = tempfile::tempdir().unwrap();
    let (data, web) = (dir.path().join("data"), web());
    told(run(&data).args(["--until-idle", &web.url("/")]));
    let held = |data: &Path| json_lines(&told(vernal(data).args(["pages", "--json"]))).len();
    assert_eq!(held(&data), 1);
    let by_variable = dir.path().join("by-variable");
    told(run(&by_variable).env("VERNAL_REQUISITES", "site").args(["--until-idle", &web.url("/")]));
    assert_eq!(held(&by_variable), 4);
    let by_file = dir.path().join("by-file");
    std::fs::write(dir.path().join("vernal.toml"), "requisites = \"site\"\n").unwrap();
    told(run(&by_file).args(["--until-idle", &web.url("/")]));
    assert_eq!(held(&by_file), 4);
    let (code, complaint) = refused(run(&data).args(["--requisites", "all", &web.url("/")]));
    assert!(code == 2 && complaint.contains("give site or none"), "{complaint}");
}
