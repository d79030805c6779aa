//! Text is found while a crawl runs and after it has stopped, now and removed, and both times the same.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::path::Path;

use common::edited::{Edited, visit};
use common::{Running, json_lines, refused, run, told, vernal, wait_until};
use serde_json::Value;

fn page(title: &str, paragraphs: &[&str]) -> String {
    let body: String = paragraphs.iter().map(|text| format!("<p>{text}</p>")).collect();
    format!("<html lang=en><head><title>{title}</title></head><body><main>{body}</main></body></html>")
}

/// The first line of an answer without what depends on the moment, and its hits without their score.
fn found(data: &Path, arguments: &[&str]) -> (u64, Vec<Value>) {
    let mut lines = json_lines(&told(vernal(data).args(["search", "--json"]).args(arguments)));
    let head = lines.remove(0);
    for hit in &mut lines {
        hit.as_object_mut().unwrap().remove("score");
    }
    (head["total"].as_u64().unwrap(), lines)
}

#[test]
fn a_running_and_a_stopped_crawl_find_the_same_text_now_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let web = Edited::serve(&[
        ("/", page("Start", &["The way into <a href=/garden>the garden</a>.", "A paragraph that stays as it is."])),
        ("/garden", page("Garden", &["Tulips and roses grow here all year.", "Opening hours are from nine to five."])),
    ]);
    let garden = web.url("/garden");
    visit(&data, &web.url("/"));
    let (total, hits) = found(&data, &["tulip"]);
    assert_eq!((total, hits[0]["url"].as_str()), (1, Some(garden.as_str())), "{hits:?}");
    assert_eq!(hits[0]["marks"][0], serde_json::json!([0, 6]));
    assert_eq!(found(&data, &["tulip", "--removed"]).0, 0);

    web.edit(
        "/garden",
        page("Garden", &["Only moss is left of what was here.", "Opening hours are from nine to five."]),
    );
    let mut command = run(&data);
    command.args(["--refresh-min", "0s", "--budget", "1000000/s"]);
    let running = Running::start(&mut command, &data);
    wait_until("the index is open", || {
        common::output(vernal(&data).args(["search", "hours", "--json"])).status.success()
    });
    wait_until("the index has what was edited", || found(&data, &["moss"]).0 == 1);
    let questions: [&[&str]; 3] = [&["tulip", "--removed"], &["moss"], &["hours", "--past"]];
    let while_running: Vec<_> = questions.iter().map(|question| found(&data, question)).collect();
    let removed = &while_running[0].1[0];
    assert_eq!((&removed["gone"]["previous"], &removed["gone"]["version"]), (&1.into(), &2.into()), "{removed:#}");
    assert_eq!(removed["gone"]["command"], format!("vernal diff '{garden}' --from 1 --to 2"));
    assert!(removed["gone"]["seen_same"].as_str() < removed["gone"]["seen_different"].as_str());
    told(vernal(&data).args(["search", "--rebuild"]));
    let status: Value = serde_json::from_str(&told(vernal(&data).args(["status", "--json"]))).unwrap();
    assert!(status["search"]["units"].as_u64().unwrap() >= 3, "{status:#}");
    assert_eq!(running.stop(), Some(0));

    let stopped: Vec<_> = questions.iter().map(|question| found(&data, question)).collect();
    assert_eq!(stopped, while_running);
    let diff = told(vernal(&data).args(["diff", &garden, "--from", "1", "--to", "2"]));
    assert!(diff.contains("Tulips"), "{diff}");
    let shown = told(vernal(&data).args(["search", "tulips", "--removed"]));
    assert!(
        shown.contains("1 hit") && shown.contains("*Tulips*") && shown.contains("version 1 had it last"),
        "{shown}"
    );
    let seen_then = removed["gone"]["seen_same"].as_str().unwrap();
    assert_eq!(found(&data, &["tulips", "--at", seen_then]).0, 1);

    // A removed index is made anew by the next question, and so is one that a person asks for.
    std::fs::remove_dir_all(data.join("search")).unwrap();
    assert_eq!(questions.iter().map(|question| found(&data, question)).collect::<Vec<_>>(), stopped);
    told(vernal(&data).args(["search", "--rebuild", "--json"]));
    assert_eq!(questions.iter().map(|question| found(&data, question)).collect::<Vec<_>>(), stopped);
}

#[test]
fn a_wrong_query_exits_2_and_shows_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let web = Edited::serve(&[("/", page("Start", &["Words."]))]);
    visit(&data, &web.url("/"));
    let (code, complaint) = refused(vernal(&data).args(["search", "words (that"]));
    assert_eq!(code, 2, "{complaint}");
    assert!(complaint.contains("column 7: this bracket is never closed"), "{complaint}");
    assert!(complaint.contains("\n  words (that\n        ^"), "{complaint}");
    let (code, complaint) = refused(vernal(&data).args(["search", "tytle:x"]));
    assert_eq!((code, complaint.contains("there is no field `tytle`")), (2, true), "{complaint}");
    assert_eq!(refused(vernal(&data).args(["search"])).0, 2);
}

#[test]
fn pages_like_another_are_found_and_the_figures_of_the_index_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let garden = ["Tulips and roses need sandy soil and much water.", "Prune the roses in early spring."];
    let roses = ["Roses in sandy soil want water, and tulips do too.", "Spring is when roses are pruned."];
    let bread = ["Knead the dough for ten minutes.", "Bake it in a hot oven until it is brown."];
    let links = "<a href=/garden>one</a> <a href=/roses>two</a> <a href=/bread>three</a>";
    let web = Edited::serve(&[
        ("/", page("Start", &[links])),
        ("/garden", page("Garden", &garden)),
        ("/roses", page("Roses", &roses)),
        ("/bread", page("Bread", &bread)),
    ]);
    visit(&data, &web.url("/"));
    let like = |path: &str| -> Vec<String> {
        let hits = found(&data, &["--like", &web.url(path)]).1;
        hits.iter().map(|hit| hit["url"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(like("/garden").first(), Some(&web.url("/roses")));
    assert!(!like("/garden").contains(&web.url("/garden")), "no page is like itself: {:?}", like("/garden"));
    assert!(!refused(vernal(&data).args(["search", "--like", &web.url("/nowhere")])).1.is_empty());

    let mut command = vernal(&data);
    command.args(["run", "--allow-private", "--listen", "127.0.0.1:0", "--refresh-min", "1000d", "--budget", "1/day"]);
    let mut running = Running::start(&mut command, &data);
    let at = running.listening();
    let figure = |name: &str| -> Option<f64> {
        let answer =
            common::ask_port(&at, &format!("GET /metrics HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n"));
        let line = answer.lines().find(|line| line.split(' ').next().is_some_and(|word| word.ends_with(name)))?;
        line.rsplit(' ').next()?.parse().ok()
    };
    wait_until("the index is open", || figure("search_units").is_some());
    assert_eq!((figure("search_units"), figure("search_behind_events")), (Some(4.0), Some(0.0)));
    assert!(figure("search_bytes") > Some(100.0) && figure("search_events_per_second").is_some());
}

#[test]
fn a_question_that_meets_damage_has_the_index_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let web = Edited::serve(&[("/", page("Start", &["Tulips and roses grow here all year."]))]);
    visit(&data, &web.url("/"));
    let mut command = run(&data);
    command.args(["--refresh-min", "1000d", "--budget", "1/day"]);
    let running = Running::start(&mut command, &data);
    wait_until("the index has the page", || {
        let answer = common::output(vernal(&data).args(["search", "roses", "--json"]));
        String::from_utf8_lossy(&answer.stdout).contains("\"url\"")
    });
    // In place, because the index is in memory maps: as a disk that loses what it has.
    for file in std::fs::read_dir(data.join("search")).unwrap().map(|entry| entry.unwrap()) {
        if file.file_name().to_string_lossy().contains(".idx") || file.file_name().to_string_lossy().contains(".term") {
            let length = file.metadata().unwrap().len() as usize;
            let mut open = std::fs::OpenOptions::new().write(true).open(file.path()).unwrap();
            std::io::Write::write_all(&mut open, &vec![0xff; length]).unwrap();
        }
    }
    let complaint = refused(vernal(&data).args(["search", "tulips"])).1;
    assert!(complaint.contains("made anew"), "{complaint}");
    wait_until("it is made anew", || {
        let answer = common::output(vernal(&data).args(["search", "tulips", "--json"]));
        answer.status.success() && json_lines(&String::from_utf8(answer.stdout).unwrap())[0]["total"] == 1
    });
    assert_eq!(running.stop(), Some(0));
}
