//! Marks that people set on events: by command on a stopped folder, and through the API of a crawl that runs.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::path::Path;
use std::process::Command;

use common::edited::{Edited, visit};
use common::{Running, ask_port_with, json_lines, refused, told, vernal};
use serde_json::{Value, json};

fn page(words: &str) -> String {
    format!("<html><head><title>T</title></head><body><main><p>{words}</p><p>It stays.</p></main></body></html>")
}

/// A folder with a few changes in it.
fn changed() -> (tempfile::TempDir, Edited) {
    let dir = tempfile::tempdir().unwrap();
    let links: String = (0..5).map(|number| format!("<a href=\"/{number}\">{number}</a> ")).collect();
    let paths: Vec<String> = (0..5).map(|number| format!("/{number}")).collect();
    let mut all = vec![("/", format!("<html><body><p>All: {links}</p></body></html>"))];
    all.extend(paths.iter().enumerate().map(|(number, path)| (path.as_str(), page(&format!("Bus {number} costs 9.")))));
    let web = Edited::serve(&all);
    visit(&dir.path().join("data"), &web.url("/"));
    (0..5).for_each(|number| web.edit(&format!("/{number}"), page(&format!("Bus {number} costs {}.", 10 + number))));
    visit(&dir.path().join("data"), &web.url("/"));
    (dir, web)
}

fn changes(data: &Path, more: &[&str]) -> Vec<Value> {
    json_lines(&told(vernal(data).args(["changes", "--json", "--event", "changed"]).args(more)))
}

fn ids(events: &[Value]) -> Vec<String> {
    events.iter().map(|event| event["id"].as_str().unwrap().to_owned()).collect()
}

fn json_of(command: &mut Command) -> Value {
    serde_json::from_str(&told(command)).unwrap()
}

#[test]
fn a_mark_is_kept_shown_and_asked_for_and_can_be_undone() {
    let (dir, _web) = changed();
    let data = dir.path().join("data");
    let all = changes(&data, &[]);
    let id = ids(&all);
    assert_eq!(id.len(), 5);
    for event in &all {
        assert_eq!((&event["mark"], &event["tally"]["edited"]), (&Value::Null, &1.into()), "{event:#}");
        let excerpt = &event["excerpt"];
        assert!(excerpt["before"].as_str().unwrap().ends_with("9.") && excerpt["paragraph"].is_string(), "{excerpt}");
    }
    let mark =
        |state: &str, more: &[&str]| json_of(vernal(&data).args(["changes", "--json", "--mark", state]).args(more));
    let first = mark("seen", &[&id[0], &id[1]]);
    assert_eq!(first["marked"], 2);
    mark("act", &[&id[1], &id[2], "--note", "ask the driver"]);
    let marked = |mark: &str| ids(&changes(&data, &["--marked", mark]));
    assert_eq!((marked("seen"), marked("act")), (id[..1].to_vec(), id[1..3].to_vec()));
    assert_eq!(marked("none"), id[3..]);
    let acted = &changes(&data, &["--marked", "act"])[0]["mark"];
    assert_eq!(
        (&acted["by"], &acted["note"], &acted["state"]),
        (&"local".into(), &"ask the driver".into(), &"act".into())
    );
    // What was marked anew since keeps its mark.
    let undone = json_of(vernal(&data).args(["changes", "--json", "--undo", first["undo"].as_str().unwrap()]));
    assert_eq!(undone["events"], 1);
    assert_eq!((marked("seen"), marked("act").len()), (vec![], 2));
    mark("none", &[&id[1]]);
    // Unseen is what has no mark, behind what was seen.
    let cursor = all[3]["cursor"].as_str().unwrap();
    told(vernal(&data).args(["changes", "--seen-until", cursor]));
    assert_eq!(ids(&changes(&data, &["--unseen"])), id[4..]);
    for (wrong, code) in [
        (&["--mark", "liked", &id[0]][..], 2),
        (&["--mark", "seen", "e9-99999"], 1),
        (&["--mark", "seen", "x"], 2),
        (&["--undo", "u9999"], 1),
        (&["--undo", "x"], 2),
        (&["--seen-until", "cffffffff"], 2),
        (&["--marked", "liked"], 2),
        (&["--mark", "seen"], 2),
    ] {
        let (found, said) = refused(vernal(&data).arg("changes").args(wrong));
        assert!(found == code && !said.contains("panicked"), "{wrong:?}: {found} {said}");
    }
}

/// One request with a body, and the JSON of its answer.
fn asked(address: &str, token: &str, method: &str, target: &str, body: &Value) -> (u16, Value) {
    let text = if body.is_null() { String::new() } else { body.to_string() };
    let head = format!(
        "{method} {target} HTTP/1.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
        text.len()
    );
    let answer = ask_port_with(address, &head, &text);
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1.trim();
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

#[test]
fn each_token_has_a_place_and_a_role_and_a_filter_marks_up_to_a_cursor() {
    let (dir, web) = changed();
    let data = dir.path().join("data");
    let id = ids(&changes(&data, &[]));
    let token = |name: &str, role: &str| {
        let made = json_of(vernal(&data).args(["token", "add", name, "--role", role, "--json"]));
        made["token"].as_str().unwrap().to_owned()
    };
    let (reader, desk) = (token("reader", "read"), token("desk", "operate"));
    let mut command = vernal(&data);
    command.args(["run", "--allow-private", "--budget", "1/week", "--listen", "127.0.0.1:0", &web.url("/")]);
    let mut running = Running::start(&mut command, &data);
    let address = running.listening();
    let ask = |token: &str, method: &str, target: &str, body: Value| asked(&address, token, method, target, &body);
    let one = format!("/api/v1/changes/{}/mark", id[0]);
    assert_eq!(ask(&reader, "PUT", &one, json!({ "state": "seen" })).0, 403, "marks are for those who operate");
    let (status, marked) = ask(&desk, "PUT", &one, json!({ "state": "act", "note": "look" }));
    assert_eq!(
        (status, &marked["mark"]["by"], &marked["mark"]["state"]),
        (200, &"desk".into(), &"act".into()),
        "{marked}"
    );
    let (_, shown) = ask(&reader, "GET", &format!("/api/v1/changes/{}", id[0]), Value::Null);
    assert_eq!(shown["mark"], marked["mark"]);

    let events: Vec<Value> = changes(&data, &[]);
    let until = &events[2]["cursor"];
    let filter = json!({ "event": "changed", "mark": "none" });
    let body = json!({ "until": until, "filter": filter, "state": "seen" });
    let (status, many) = ask(&desk, "POST", "/api/v1/changes/marks", body.clone());
    assert_eq!((status, &many["marked"]), (200, &2.into()), "{many}");
    assert_eq!(ask(&desk, "POST", "/api/v1/changes/marks", body).1["marked"], 0, "all of them have a mark now");
    let (_, counts) = ask(&reader, "GET", "/api/v1/changes/count?by=mark&event=changed", Value::Null);
    assert_eq!(counts["mark"], json!({ "act": 1, "seen": 2, "none": 2 }), "{counts}");
    let (_, of_mark) = ask(&reader, "GET", "/api/v1/changes/count?by=event&mark=seen", Value::Null);
    assert_eq!(of_mark["total"], 2);
    assert_eq!(ask(&desk, "POST", "/api/v1/undo", json!({ "undo": many["undo"] })).1["events"], 2);
    assert_eq!(ask(&reader, "GET", "/api/v1/changes/count?mark=seen", Value::Null).1["total"], 0);

    // How far one has read is one's own.
    assert_eq!(ask(&reader, "GET", "/api/v1/reader", Value::Null).1, json!({ "reader": "reader", "seen_until": null }));
    let (status, place) = ask(&reader, "PUT", "/api/v1/reader", json!({ "seen_until": events[3]["cursor"] }));
    assert_eq!((status, &place["seen_until"]), (200, &events[3]["cursor"]));
    let unseen = |token: &str| {
        ask(token, "GET", "/api/v1/changes/count?event=changed&mark=unseen", Value::Null).1["total"].clone()
    };
    assert_eq!((unseen(&reader), unseen(&desk)), (1.into(), 4.into()));
    for (body, why) in [
        (json!({ "state": "seen" }), "give the `events`"),
        (json!({ "state": "seen", "events": [id[0]], "until": until }), "give the `events`"),
        (json!({ "state": "seen", "filter": {} }), "up to which event"),
        (json!({ "state": "seen", "until": until, "filter": { "order": "newest" } }), "has no `order`"),
        (json!({ "state": "liked", "events": [id[0]] }), "unknown variant"),
    ] {
        let (status, said) = ask(&desk, "POST", "/api/v1/changes/marks", body);
        assert!(status == 400 && said["error"].as_str().unwrap().contains(why), "{said}");
    }
    assert_eq!(ask(&reader, "GET", "/api/v1/changes/stream?mark=none", Value::Null).0, 400);

    // A kill loses none of it.
    running.0.kill().unwrap();
    running.0.wait().unwrap();
    assert_eq!(ids(&changes(&data, &["--marked", "act"])), id[..1]);
}
