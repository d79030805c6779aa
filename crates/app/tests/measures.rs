//! Parameters, measures and records of URLs, as the real binary shows them.

mod common;

use common::edited::{Edited, visit};
use common::{Running, ask_port, json_lines, refused, run, told, vernal};
use serde_json::Value;

fn page(words: &str) -> String {
    format!("<html><head><title>Shop</title></head><body><h1>Shop</h1><p>{words}</p><a href=\"/b\">b</a></body></html>")
}

fn one(text: &str) -> Value {
    serde_json::from_str(text).expect("the answer is JSON")
}

/// Two pages: the front page differs at two of three later visits, the other one never.
fn visited(data: &std::path::Path) -> Edited {
    let web =
        Edited::serve(&[("/", page("Apples are cheap in autumn.")), ("/b", page("Nobody sells pears any more."))]);
    let url = web.url("/");
    visit(data, &url);
    for words in ["The market is closed for repairs.", "A new baker has come to town.", ""] {
        if !words.is_empty() {
            web.edit("/", page(words));
        }
        visit(data, &url);
    }
    web
}

#[test]
fn the_measures_are_those_of_the_visits_stopped_and_running_for_the_whole_and_by_site() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let web = visited(&data);
    // Two pages with three comparisons each, and two changes in all.
    let check = |measures: &Value, believed_by: &str| {
        assert_eq!((&measures["compared"], &measures["change_ratio_visits"]), (&6.into(), &6.into()), "{measures}");
        for name in ["change_ratio", "degree_of_success"] {
            assert!((measures[name].as_f64().unwrap() - 2.0 / 6.0).abs() < 1e-9, "{name} {measures}");
        }
        assert!(measures["change_rate_per_day"].as_f64().unwrap() > 0.0, "{measures}");
        let fresh = measures["freshness_believed"].as_f64().unwrap();
        assert!(fresh > 0.0 && fresh <= 1.0 && measures["believed_by"] == believed_by, "{measures}");
        assert!(measures["mean_age_days"].as_f64().unwrap() >= 0.0, "{measures}");
    };
    let shown = |believed_by: &str| {
        let status = one(&told(vernal(&data).args(["status", "--json"])));
        let sites = json_lines(&told(vernal(&data).args(["sites", "--json", "--sort", "-degree_of_success"])));
        check(&status["measures"], believed_by);
        assert_eq!(sites[0]["site"], web.address.to_string());
        check(&sites[0]["measures"], believed_by);
    };
    shown("history");
    let text = told(vernal(&data).arg("status"));
    assert!(text.contains("33.3 % of 6 visits") && text.contains("degree of success"), "{text}");
    assert!(told(vernal(&data).arg("sites")).contains("0.333"));
    let mut command = vernal(&data);
    command.args(["run", "--allow-private", "--budget", "1/week", "--listen", "127.0.0.1:0"]);
    let mut running = Running::start(&mut command, &data);
    shown("policy");
    let metrics = ask_port(&running.listening(), "GET /metrics HTTP/1.1\r\n");
    let line = |name: &str| metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
    let site = format!("vernal_site_change_ratio{{site=\"{}\"}}", web.address);
    for name in ["vernal_change_ratio ", "vernal_degree_of_success ", &site] {
        assert!((line(name).unwrap_or_default() - 2.0 / 6.0).abs() < 1e-9, "{name} {metrics}");
    }
    assert!(line("vernal_mean_age_days ").is_some() && line("vernal_freshness_believed ").is_some(), "{metrics}");
    assert_eq!(running.stop(), Some(0));
}

#[test]
fn a_page_has_the_record_of_paper_004_from_its_visits_and_from_the_policy_with_its_own_thresholds() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let web = visited(&data);
    let record = || one(&told(vernal(&data).args(["page", &web.url("/"), "--json"])))["url_record"].clone();
    let of = record();
    assert_eq!((&of["kept_by"], &of["url"]), (&"history".into(), &web.url("/").into()), "{of}");
    assert_eq!((&of["visits"], &of["changes"], &of["state"]), (&3.into(), &2.into(), &"held".into()));
    // p_c is 1, 1 and 2/3: each of the first two multiplies the refresh time by 2 − 1/0.7, the last leaves it.
    let expected = (2.0f64 - 1.0 / 0.7).powi(2);
    assert!((of["current_mean_waits"].as_f64().unwrap() - expected).abs() < 1e-9, "{of}");
    assert_eq!((&of["lower_threshold"], &of["upper_threshold"]), (&0.3.into(), &0.7.into()));
    assert_eq!(of["last_visits"].as_array().unwrap().len(), 4);
    let hours = of["initial_hours"].as_f64().unwrap() * of["current_mean_waits"].as_f64().unwrap();
    assert!((of["current_hours"].as_f64().unwrap() - hours).abs() < 1e-6, "{of}");
    let text = told(vernal(&data).args(["page", &web.url("/")]));
    assert!(text.contains("refresh time") && text.contains("0.67 (2 of 3 visits found a change)"), "{text}");
    assert!(text.contains("0.3 and 0.7") && text.contains("last visits"), "{text}");

    // The policy itself keeps the record, and a page may have thresholds of its own.
    let own = format!("prefix:{} lower=0.1 upper=0.9 initial=2", web.url("/"));
    let policy = ["--policy", "refresh-time:lower=0.2", "--url-thresholds", &own];
    told(run(&data).args(["--until-idle", "--refresh-min", "0s", "--budget", "1000000/s"]).args(policy));
    let of = record();
    assert_eq!((&of["kept_by"], &of["lower_threshold"]), (&"policy".into(), &0.1.into()), "{of}");
    assert_eq!((&of["upper_threshold"], &of["initial_mean_waits"]), (&0.9.into(), &2.0.into()), "{of}");
}

#[test]
fn parameters_are_shown_with_where_they_came_from_and_refused_with_range_and_default() {
    let dir = tempfile::tempdir().unwrap();
    let (data, file) = (dir.path().join("data"), dir.path().join("vernal.toml"));
    let text = "[policy]\nname = 'hybrid'\n[policy.hybrid]\nv = 4\n[[policy.refresh-time.url]]\nprefix = 'http://a/'\nlower = 0.1\n";
    std::fs::write(&file, text).unwrap();
    let config = file.to_str().unwrap();
    let rows = json_lines(&told(vernal(&data).args(["--config", config, "config", "--json"])));
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {rows:#?}"));
    assert_eq!((&row("policy")["value"], &row("policy.hybrid.v")["value"]), (&"hybrid".into(), &"4".into()));
    assert_eq!(row("policy.hybrid.v")["source"], config);
    assert_eq!(
        (&row("policy.hybrid.p")["value"], &row("policy.hybrid.p")["source"]),
        (&"0.1".into(), &"default".into())
    );
    let dry =
        told(vernal(&data).args(["--config", config, "run", "--dry-run", "--allow-private", "http://127.0.0.1:1/"]));
    assert!(dry.contains("policy.hybrid.v = 4 ("), "{dry}");
    let listed = json_lines(&told(vernal(&data).args(["--config", config, "lab", "policies", "hybrid", "--json"])));
    assert_eq!((&listed[0]["parameters"][0]["name"], &listed[0]["parameters"][0]["value"]), (&"v".into(), &"4".into()));
    let all = told(vernal(&data).args(["lab", "policies"]));
    assert!(all.contains("adaptive-frequency") && all.contains("0.3 (004, III)") && all.contains("1 to 100"), "{all}");
    for (arguments, words) in [
        (
            &["run", "--policy", "hybrid:v=0", "http://a.example/"][..],
            "--policy: hybrid: v = 0: must be 1 to 100, the default is 5",
        ),
        (
            &["lab", "compare", "--policies", "refresh-time:upper=7"],
            "upper = 7: must be 0.001 to 1 (a share), the paper's default is 0.7",
        ),
        (&["lab", "crawl", "--policy", "adaptive:kapa=4"], "did you mean kappa?"),
        (&["run", "--url-thresholds", "http://a/ lower=1", "http://a.example/"], "begin with prefix:URL"),
    ] {
        let (code, complaint) = refused(vernal(&data).args(arguments));
        assert!(code == 2 && complaint.contains(words), "{arguments:?}: {code} {complaint}");
    }
}

#[test]
fn the_laboratory_plays_policies_with_their_parameters() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let policies = "hybrid:v=1,p=0.5,hybrid,adaptive-frequency,refresh-time:lower=0.9,upper=0.9,refresh-time";
    let mut command = vernal(&data);
    command.args(["lab", "compare", "--policies", policies, "--worlds", "w1-small", "--pages", "200", "--days", "60"]);
    let rows = json_lines(&told(command.args(["--warm-up", "10d", "--budget", "10%/day", "--chance", "1", "--json"])));
    let names: Vec<&str> = rows.iter().map(|row| row["policy"].as_str().unwrap()).collect();
    let expected =
        ["hybrid:v=1,p=0.5", "hybrid", "adaptive-frequency", "refresh-time:lower=0.9,upper=0.9", "refresh-time"];
    assert_eq!(names, expected);
    let of = |at: usize| rows[at]["freshness"].as_f64().unwrap();
    assert!(of(0) != of(1) && of(3) != of(4) && of(2) > 0.0, "parameters have an effect: {rows:#?}");
}
