//! Topics by the real binary: reckoned by a run that asks for them, shown stopped and running alike.

mod common;

use common::{Running, invented, json_lines, refused, run, told, vernal};
use serde_json::Value;
use vernal_simulator::web::WebSettings;

#[test]
fn topics_are_reckoned_by_a_run_and_shown_stopped_and_running() {
    let (dir, served) = (tempfile::tempdir().unwrap(), invented(WebSettings::plain(3, 40).still()));
    let data = dir.path().join("data");
    told(run(&data).arg("--until-idle").args(served.seeds()));
    assert_eq!(told(vernal(&data).args(["topics", "--json"])), "", "nobody asked for topics");
    let said = vernal(&data).arg("topics").output().unwrap();
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("no topics yet: no pass for topics has ended here"), "{said}");

    told(run(&data).args(["--until-idle", "--topics", "30d"]));
    let topics = json_lines(&told(vernal(&data).args(["topics", "--json"])));
    assert!(topics.len() > 5, "{} topics", topics.len());
    let pages = |row: &Value| row["pages"].as_u64().unwrap();
    assert!(topics.windows(2).all(|pair| pages(&pair[0]) >= pages(&pair[1])));
    assert_eq!(json_lines(&told(vernal(&data).args(["topics", "--json", "--limit", "2"]))), topics[..2]);
    let word = topics[0]["topic"].as_str().unwrap();
    let of_topic = json_lines(&told(vernal(&data).args(["topics", word, "--json"])));
    assert_eq!(of_topic.len() as u64, pages(&topics[0]));
    let best = of_topic[0]["url"].as_str().unwrap();
    let page: Value = serde_json::from_str(&told(vernal(&data).args(["page", best, "--json"]))).unwrap();
    let of_page: Vec<&str> =
        page["topics"].as_array().unwrap().iter().map(|of| of["topic"].as_str().unwrap()).collect();
    assert!(of_page.contains(&word) && of_page.len() <= 6, "{of_page:?}");
    assert!(told(vernal(&data).args(["page", best])).contains(word));
    assert!(told(vernal(&data).args(["topics"])).contains(word));

    let (code, complaint) = refused(vernal(&data).args(["topics", "nonsenseword"]));
    assert!(code != 0 && complaint.contains("no topic"), "{code} {complaint}");
    let stopped = told(vernal(&data).args(["topics", "--json"]));
    let running = Running::start(run(&data).args(["--topics", "30d", "--budget", "1/day"]), &data);
    assert_eq!(told(vernal(&data).args(["topics", "--json"])), stopped);
    assert_eq!(json_lines(&told(vernal(&data).args(["topics", word, "--json"]))).len(), of_topic.len());
    assert_eq!(running.stop(), Some(0));
}

#[test]
fn what_says_not_when_topics_are_reckoned_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (code, complaint) = refused(run(&dir.path().join("data")).args(["--topics", "often", "http://a.example/"]));
    assert!(code == 2 && complaint.contains("auto, off or a span"), "{code} {complaint}");
}
