//! The laboratory, plans and promises, through the real binary.

mod common;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use common::{crawl_until_idle, json_lines, output, refused, run, small_web, told, vernal};

const DAY: i64 = 86_400;

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a folder can be made");
    let data = dir.path().join("data");
    (dir, data)
}

fn small_comparison(data: &Path) -> std::process::Command {
    let mut command = vernal(data);
    command.args(["lab", "compare", "--policies", "round-robin,vernal,hindsight", "--worlds", "w1"]);
    command.args(["--pages", "120", "--days", "40", "--warm-up", "10d", "--budget", "5%/day", "--chance", "1..2"]);
    command
}

/// The lines without what the machine's speed decides.
fn without_time(text: &str) -> Vec<Value> {
    let mut lines = json_lines(text);
    for line in &mut lines {
        line["cpu_s"] = Value::Null;
    }
    lines
}

#[test]
fn days_that_the_warm_up_eats_are_refused_with_the_option_that_helps() {
    let (_dir, data) = folder();
    let words = ["lab", "compare", "--worlds", "w1", "--policies", "round-robin", "--days", "30"];
    let (code, said) = refused(vernal(&data).args(words));
    assert!(code == 2 && said.contains("--warm-up 10d"), "{code} {said}");
}

#[test]
fn the_same_comparison_gives_the_same_lines_whatever_the_number_of_threads() {
    let (_dir, data) = folder();
    let one = told(small_comparison(&data).args(["--json", "--jobs", "1"]));
    let two = told(small_comparison(&data).args(["--json", "--jobs", "2"]));
    let lines = without_time(&one);
    assert_eq!(lines, without_time(&two));
    assert_eq!(lines.len(), 6);
    for field in [
        "policy",
        "world",
        "budget",
        "freshness",
        "bound",
        "change_ratio",
        "age_days",
        "harmonic",
        "visits",
        "wasted",
        "never_visited",
        "cpu_s",
        "chance",
        "gap_closed",
        "first_60_days",
    ] {
        assert!(lines.iter().all(|line| line.get(field).is_some()), "{field}");
    }
    assert!(lines.iter().all(|line| line["freshness"].as_f64().is_some_and(|share| share > 0.2 && share < 1.0)));
    assert_eq!(lines[0]["gap_closed"], 0.0);
}

#[test]
fn what_is_given_twice_is_played_once_and_two_worlds_of_one_name_are_refused() {
    let (dir, data) = folder();
    let once = without_time(&told(small_comparison(&data).args(["--json"])));
    let twice = told(small_comparison(&data).args(["--worlds", "w1,w1", "--budget", "5.0%/d", "--json"]));
    assert_eq!(once, without_time(&twice));
    let file = |name: &str, pages: u32| {
        let path = dir.path().join(name);
        std::fs::write(&path, format!("name = 'mine'\nabout = 'x'\n[world]\npages = {pages}\nsites = 5\n")).unwrap();
        path
    };
    let (one, other) = (file("one.toml", 100), file("other.toml", 200));
    let played = |second: &Path| {
        let mut command = vernal(&data);
        command.args(["lab", "bound", "--json", "--scenario"]).arg(&one).arg("--scenario").arg(second);
        command
    };
    assert_eq!(json_lines(&told(&mut played(&one))).len(), 1);
    let (code, said) = refused(&mut played(&other));
    assert!(code == 2 && said.contains("two different worlds are named mine"), "{code} {said}");
}

#[test]
fn a_report_stands_alone() {
    let (dir, data) = folder();
    let out = dir.path().join("report");
    told(small_comparison(&data).args(["--budget", "20%/day", "--out"]).arg(&out));
    let html = std::fs::read_to_string(out.join("report.html")).expect("the report is there");
    assert!(html.starts_with("<!doctype html>"));
    for foreign in ["http:", "https:", "src=", "url(", "<script", "@import"] {
        assert!(!html.contains(foreign), "{foreign}");
    }
    assert!(vernal_document::written_tree(&html).counts().len() > 3, "it is a page");
    assert_eq!(html.matches("<svg").count(), html.matches("</svg>").count());
    for plot in ["Freshness against budget", "Learning", "Allocation against rate", "Regret", "Calibration"] {
        assert!(html.contains(plot), "{plot}");
    }
    let rows = std::fs::read_to_string(out.join("rows.csv")).expect("the rows are there");
    assert_eq!(rows.lines().count(), 1 + 2 * 2 * 3);
    let svgs = std::fs::read_dir(&out).expect("a folder").filter_map(Result::ok);
    assert!(svgs.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "svg")).count() >= 5);
}

#[test]
fn a_wrong_name_is_answered_with_the_nearest_and_exit_2() {
    let (_dir, data) = folder();
    for (words, meant) in [
        (vec!["lab", "compare", "--policies", "vernall"], "vernal"),
        (vec!["lab", "compare", "--worlds", "w1-smal"], "w1-small"),
        (vec!["lab", "replay", "--trace", "x.csv", "--web", "stalkr"], "stalker"),
        (vec!["run", "--policy", "vernall", "http://a.example/"], "vernal"),
    ] {
        let (code, said) = refused(vernal(&data).args(&words));
        assert!(code == 2 && said.contains(&format!("did you mean {meant}?")), "{words:?}: {code} {said}");
    }
    let (code, said) = refused(vernal(&data).args(["lab", "replay", "--trace", "nowhere.csv"]));
    assert!(code == 1 && said.contains("nowhere.csv"), "{said}");
    let (code, said) = refused(vernal(&data).args(["lab", "compare", "--worlds", "w9-pub"]));
    assert!(code == 2 && said.contains("lab replay --trace FILE --web pub"), "{said}");
}

/// Two sites of five pages; those of the first change every ten days, all at once.
fn tiny_trace() -> String {
    let mut text = String::from("site,page,change_time_unix,bytes,kind\n");
    for (site, every) in [("a.example", 10), ("b.example", 45)] {
        for page in 0..5 {
            let _ = writeln!(text, "{site},/{page},{},100,create", 1_000 * DAY);
            for change in 1..(90 / every) {
                let _ = writeln!(text, "{site},/{page},{},100,content", (1_000 + change * every) * DAY + 60);
            }
        }
    }
    text
}

#[test]
fn a_bad_row_of_a_trace_is_named_by_its_line_and_the_rest_is_taken() {
    let (dir, data) = folder();
    let trace = dir.path().join("web.csv");
    std::fs::write(&trace, tiny_trace().replacen("87264060,100,content", "tomorrow,100,content", 1) + "c,/x,1,1\n")
        .unwrap();
    let bad = tiny_trace().lines().count() + 1;
    let mut command = vernal(&data);
    command.args(["lab", "replay", "--json", "--budget", "20%/day", "--policies", "round-robin,vernal"]);
    let done = output(command.arg("--warm-up").arg("10d").arg("--trace").arg(&trace));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    assert!(
        said.contains("line 3, column change_time_unix") && said.contains(&format!("line {bad}, column row")),
        "{said}"
    );
    let lines = json_lines(std::str::from_utf8(&done.stdout).unwrap());
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line["world"] == "web.csv" && line["pages"] == 10), "{lines:?}");
    assert!(lines.iter().all(|line| line["bound_clairvoyant"].as_f64() >= line["freshness"].as_f64()), "{lines:?}");
}

#[test]
fn a_folder_of_the_recrawl_release_refuses_what_it_cannot_do_and_says_where_changes_are_placed() {
    let (dir, data) = folder();
    let put = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    put("url_urlid_hostid.txt", "http://a/1\t1\t10\nhttp://a/2\t2\t10\n");
    put("host_hostid_isconstrained.txt", "a\t10\t0\n");
    put("urlid_imp.txt", "1\t30\n2\t10\n");
    put("urlid_offset_history.txt", "1\t0.5\t[[1.0, 0], [1.0, 1], [7.5, 1]]\n2\t0\t[[10.0, 1]]\n");
    let replay = |words: &[&str]| {
        let mut command = vernal(&data);
        command.args(["lab", "replay", "--policies", "round-robin", "--warm-up", "2d"]).args(words);
        command.arg("--trace").arg(dir.path());
        command
    };
    for flag in [["--sites", "a"], ["--from", "2017-01-02"], ["--ignore-kinds", "none"], ["--web", "pub"]] {
        let (code, said) = refused(&mut replay(&flag));
        assert!(code == 2 && said.contains(&format!("{} is for trace files", flag[0])), "{code} {said}");
    }
    let done = output(&mut replay(&[]));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && said.contains("between the visit that found it and the one before"), "{said}");
    assert!(!said.contains("dated by the visit that found it"), "{said}");
}

#[test]
fn a_recording_of_one_site_tells_no_interval_and_how_many_first_days_there_were() {
    let (dir, data) = folder();
    let (trace, out) = (dir.path().join("one.csv"), dir.path().join("out"));
    let one_site: String =
        tiny_trace().lines().filter(|line| !line.starts_with('b')).map(|l| format!("{l}\n")).collect();
    let replayed = |text: &str, days: &str| {
        std::fs::write(&trace, text).unwrap();
        let words = ["lab", "replay", "--policies", "round-robin,vernal", "--warm-up", "10d", "--days", days];
        told(vernal(&data).args(words).arg("--trace").arg(&trace).arg("--out").arg(&out))
    };
    let report = || std::fs::read_to_string(out.join("report.html")).unwrap();
    let shown = replayed(&one_site, "30");
    assert!(!shown.contains('±') && shown.contains("first 30 days"), "{shown}");
    assert!(!report().contains('±') && report().contains("first 30 days"));
    let rows = std::fs::read_to_string(out.join("rows.csv")).unwrap();
    assert!(rows.lines().next().unwrap().split(',').any(|column| column == "first_days"), "{rows}");
    let shown = replayed(&tiny_trace(), "80");
    assert!(shown.contains('±') && shown.contains("first 60 days"), "{shown}");
    assert!(report().contains('±') && report().contains("first 60 days"));
}

#[test]
fn the_papers_numbers_come_out_as_printed_or_with_the_slip() {
    let (_dir, data) = folder();
    let vectors = json_lines(&told(vernal(&data).args(["lab", "papers", "--chance", "1", "--json"])));
    let of = |paper: &str, what: &str| {
        let found = vectors.iter().find(|vector| vector["paper"] == paper && vector["what"] == what);
        found.unwrap_or_else(|| panic!("{paper}: {what}")).clone()
    };
    assert_eq!(of("001", "change ratio by site")["ours"], 0.66);
    assert_eq!(of("001", "change ratio by topic")["ours"], 0.77);
    assert_eq!(of("004", "refresh time after 0.25 changed")["agrees"], true);
    assert_eq!(of("000", "average accuracy, greedy then hybrid")["verdict"], "reproduced");
    assert_eq!(of("003", "root mean square, dog and cog")["verdict"], "reproduced");
    assert_eq!(of("003", "first list")["verdict"], "contradicted", "52 and 53 are swapped in print");
    for vector in &vectors {
        assert!(vector["agrees"] != false || vector["note"] != "", "{vector}");
        assert!(vector["claim"].is_null() || vector["verdict"].is_string(), "{vector}");
    }
    // What is in no paper says so, and does not say that it is printed.
    let derived = of("000", "groups of 250,000 sites for a million downloads");
    assert_eq!(
        (&derived["printed"], &derived["reference"], &derived["verdict"]),
        (&Value::Null, &25.0.into(), &Value::Null)
    );
    let shown = told(vernal(&data).args(["lab", "papers", "--paper", "since", "--chance", "1"]));
    let line = shown.lines().skip_while(|line| !line.contains("irregular visits")).nth(1).unwrap();
    assert!(line.contains("derived") && !line.contains("as printed"), "{line}");
    assert!(shown.contains("round-robin"), "what is said plainly stands below: {shown}");
}

#[test]
fn the_papers_are_a_report_with_verdicts_over_many_chance_numbers() {
    let (dir, data) = folder();
    let out = dir.path().join("papers");
    let words = ["lab", "papers", "--paper", "003", "--chance", "1..3"];
    let command = |jobs: &str| {
        let mut command = vernal(&data);
        command.args(words).args(["--jobs", jobs, "--json"]);
        command
    };
    let lines = json_lines(&told(command("2").arg("--out").arg(&out)));
    assert!(lines.iter().all(|line| line["paper"] == "003"));
    let overlap = lines.iter().find(|line| line["what"].as_str().unwrap().starts_with("overlap of four")).unwrap();
    assert_eq!(
        (&overlap["place"], &overlap["verdict"], &overlap["chances"]),
        (&"Table 3".into(), &"reproduced".into(), &3.into())
    );
    assert!(
        overlap["low"].as_f64() > Some(0.0) && overlap["claim"].as_str().unwrap().contains("reduces the overlapping")
    );
    // The same values whatever the number of threads; CPU times are those of the machine.
    let steady = |lines: Vec<Value>| -> Vec<Value> {
        lines.into_iter().filter(|line| !line["what"].as_str().unwrap().contains("CPU")).collect()
    };
    assert_eq!(steady(json_lines(&told(&mut command("1")))), steady(lines));
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let page = read("report.html");
    assert!(
        page.contains("significantly reduces the overlapping")
            && page.contains("<svg")
            && page.contains("contradicted")
    );
    assert!(
        !page.contains("http:") && !page.contains("https:") && !page.contains("<script"),
        "it needs nothing but itself"
    );
    assert!(read("papers.csv").lines().count() > 100);
    assert!(read("003-table-3-overlap.svg").starts_with("<svg xmlns"));
}

#[test]
fn a_paper_that_is_none_and_a_wrong_chance_number_are_refused_in_one_line() {
    let (_dir, data) = folder();
    for (wrong, told) in [
        (&["--paper", "002"][..], "there are 000, 001, 003, 004, since"),
        (&["--chance", "30..1"], "1..10"),
        (&["--jobs", "0"], "at least 1"),
    ] {
        let (code, said) = refused(vernal(&data).args(["lab", "papers"]).args(wrong));
        assert!(code == 2 && said.contains(told), "{code} {said}");
    }
}

#[test]
fn the_whole_crawler_is_tried_with_faults_and_one_number_shows_it_again() {
    let (_dir, data) = folder();
    let words = ["lab", "crawl", "--worlds", "w1", "--pages", "60", "--days", "30", "--warm-up", "5d", "--json"];
    let bad = ["--lost-reports", "0.05", "--worker-deaths", "20", "--slow-sites", "0.3", "--clock-steps", "2"];
    let blemished = ["--noise", "0.05", "--misses", "0.05", "--errors", "0.02", "--budget", "20%/day", "--chance", "3"];
    let crawl = || json_lines(&told(vernal(&data).args(words).args(bad).args(blemished))).remove(0);
    let (first, again) = (crawl(), crawl());
    assert_eq!((first["not_found"].as_u64(), first["too_soon"].as_u64()), (Some(0), Some(0)), "{first}");
    assert!(first["lost"].as_u64() > Some(0) && first["requests"].as_u64() > Some(300), "{first}");
    for field in ["freshness", "requests", "robots_requests", "lost", "missed", "noisy", "held"] {
        assert_eq!(first[field], again[field], "{field}");
    }
    // The table says the same of it: requests are those for pages, in both.
    let table = told(vernal(&data).args(&words[..words.len() - 1]).args(bad).args(blemished));
    let cells: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(
        (cells[6], cells[7]),
        (&*first["requests"].to_string(), &*first["robots_requests"].to_string()),
        "{table}"
    );
    let (code, said) = refused(vernal(&data).args(["lab", "crawl", "--noise", "2"]));
    assert!(code == 2 && said.contains("--noise"), "{said}");
}

#[test]
fn bounds_hold_for_a_web_that_nobody_visits() {
    let (_dir, data) = folder();
    let words = ["lab", "bound", "--worlds", "w1", "--pages", "200", "--days", "60", "--warm-up", "10d", "--json"];
    let lines = json_lines(&told(vernal(&data).args(words).args(["--budget", "5%/day", "--budget", "10%/day"])));
    let number = |line: &Value, name: &str| line[name].as_f64().unwrap_or_else(|| panic!("{name}: {line}"));
    assert_eq!(lines.len(), 2);
    for line in &lines {
        assert!(number(line, "optimum") < number(line, "window"));
        assert!(number(line, "optimum") < number(line, "clairvoyant"));
    }
    assert!(number(&lines[0], "optimum") < number(&lines[1], "optimum"));
    let done = output(vernal(&data).args(words).args(["--budget", "1GB/day"]));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && said.contains("bounds are for budgets of visits"), "{said}");
    let (code, said) = refused(small_comparison(&data).args(["--jobs", "0"]));
    assert!(code == 2 && said.contains("--jobs 0"), "{said}");
}

#[test]
fn a_plan_tells_who_would_be_visited_at_each_budget_without_a_request() {
    let (_dir, data) = folder();
    let web = small_web();
    crawl_until_idle(&data, &web);
    let visits = |status: &str| serde_json::from_str::<Value>(status).unwrap()["visits"].as_u64();
    let before = visits(&told(vernal(&data).args(["status", "--json"])));
    let words = ["plan", "--for", "2d", "--budget", "50%/day", "--budget", "200%/day", "--limit", "7", "--json"];
    let plan: Value = serde_json::from_str(&told(vernal(&data).args(words))).unwrap();
    let forecasts = plan["forecasts"].as_array().unwrap();
    assert_eq!((forecasts[0]["budget"].as_str(), forecasts[1]["budget"].as_str()), (Some("50%/day"), Some("200%/day")));
    assert!(forecasts[0]["visits"].as_u64() < forecasts[1]["visits"].as_u64(), "{plan}");
    assert!(plan["visits"].as_array().unwrap().len() <= 7);
    assert_eq!(visits(&told(vernal(&data).args(["status", "--json"]))), before);
    let (code, _) = refused(vernal(&data).args(["plan", "--budget", "much"]));
    assert_eq!(code, 2);
    assert!(told(vernal(&data).args(["plan", "--utc"])).contains("fresh now"));
    // Whoever lists none of the visits is told how many there are.
    let said = |words: &[&str]| {
        let done = output(vernal(&data).arg("plan").args(words));
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let planned = &forecasts[0]["visits"];
    let none = said(&["--for", "2d", "--budget", "50%/day", "--limit", "0"]);
    assert!(none.contains(&format!("0 of {planned} visits are listed")), "{none}");
    let nothing = said(&["--for", "1s", "--budget", "1/week"]);
    assert!(nothing.contains("nothing would be visited"), "{nothing}");
}

#[test]
fn a_plan_visits_pages_as_soon_as_they_have_rested_and_breaks_promises_that_cannot_be_kept() {
    let (dir, data) = folder();
    let web = small_web();
    crawl_until_idle(&data, &web);
    let planned = |words: &[&str], rest: &str| -> Value {
        let mut command = vernal(&data);
        command.env("VERNAL_REFRESH_MIN", rest).env("VERNAL_DELAY", "1ms").arg("plan").args(words).arg("--json");
        serde_json::from_str::<Value>(&told(&mut command)).unwrap()["forecasts"][0].clone()
    };
    for (span, rest, times) in [("1d", "1h", 24), ("10m", "10s", 60)] {
        let forecast = planned(&["--for", span, "--budget", "1000000/hour"], rest);
        let (pages, visits) = (forecast["pages_visited"].as_u64().unwrap(), forecast["visits"].as_u64().unwrap());
        assert!(pages > 5 && visits <= pages * times && visits >= pages * (times - 1), "{forecast}");
    }
    std::fs::write(dir.path().join("vernal.toml"), "[[promises]]\npattern = '.'\nat_least_every = '5m'\n").unwrap();
    let poor = planned(&["--for", "1h", "--budget", "10/day"], "1s");
    assert!(poor["promises_broken"].as_u64() >= poor["promises"].as_u64(), "{poor}");
    let rich = planned(&["--for", "1h", "--budget", "1000/s"], "1s");
    assert_eq!((rich["promises_broken"].as_u64(), &rich["promises"]), (Some(0), &poor["promises"]), "{rich}");
}

#[test]
fn ones_own_crawl_becomes_a_trace_that_says_it_is_censored() {
    let (dir, data) = folder();
    let web = small_web();
    crawl_until_idle(&data, &web);
    let out = dir.path().join("own.csv.gz");
    told(vernal(&data).args(["export", "trace", "--out"]).arg(&out));
    let head: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.path().join("own.head.json")).unwrap()).unwrap();
    assert_eq!(head["censored"], true);
    let status: Value = serde_json::from_str(&told(vernal(&data).args(["status", "--json"]))).unwrap();
    assert_eq!(head["pages"], status["held"]);
    assert!(head["observed_until_unix"].as_i64() > Some(0), "{head}");
    // A folder gets the same by names of ours, whether it was there or not.
    let into = format!("{}/new/", dir.path().display());
    for _ in 0..2 {
        told(vernal(&data).args(["export", "trace", "--out", &into]));
        let there = |name: &str| std::fs::read(Path::new(&into).join(name)).unwrap();
        assert_eq!(there("trace.csv.gz"), std::fs::read(&out).unwrap());
        assert_eq!(there("trace.head.json"), std::fs::read(dir.path().join("own.head.json")).unwrap());
    }
    // A crawl that has seen nothing change holds one instant of each page: too little for a replay, and it says so.
    let replay = |words: &[&str]| {
        output(vernal(&data).args(["lab", "replay", "--policies", "round-robin", "--json"]).args(words))
    };
    let own = replay(&[]);
    let theirs = replay(&["--trace", out.to_str().unwrap()]);
    assert_eq!(
        without_time(&String::from_utf8_lossy(&own.stdout)).len(),
        without_time(&String::from_utf8_lossy(&theirs.stdout)).len()
    );
    assert_eq!(own.status.code(), theirs.status.code());
    if own.status.success() {
        for done in [&own, &theirs] {
            assert!(String::from_utf8_lossy(&done.stderr).contains("interval-censored"));
        }
        let freshness = |done: &std::process::Output| {
            json_lines(std::str::from_utf8(&done.stdout).unwrap())[0]["freshness"].clone()
        };
        assert_eq!(freshness(&own), freshness(&theirs));
    }
}

#[test]
fn quiet_hours_at_the_end_of_ones_own_crawl_are_replayed_too() {
    let (dir, data) = folder();
    let web = small_web();
    crawl_until_idle(&data, &web);
    // The web is still: hours pass with visits that find nothing.
    told(run(&data).args(["--time-scale", "36000", "--budget", "100%/day", "--refresh-min", "1m", "--visits", "10"]));
    let out = dir.path().join("own.csv");
    told(vernal(&data).args(["export", "trace", "--out"]).arg(&out));
    let seconds = |text: &str| text.split(',').nth(2).and_then(|field| field.parse::<i64>().ok());
    let last_change = std::fs::read_to_string(&out).unwrap().lines().filter_map(seconds).max().unwrap();
    let head: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.path().join("own.head.json")).unwrap()).unwrap();
    assert!(head["observed_until_unix"].as_i64().unwrap() > last_change + 3_600, "{head}");
    let first_days = |words: &[&str]| {
        let words = [&["lab", "replay", "--policies", "round-robin", "--json"], words].concat();
        json_lines(&told(vernal(&data).args(words)))[0]["first_days"].as_f64().unwrap()
    };
    let own = first_days(&[]);
    assert!(own > 1.0 / 24.0, "{own} days");
    assert_eq!(own, first_days(&["--trace", out.to_str().unwrap()]));
}

#[test]
fn promises_of_the_file_are_kept() {
    let (dir, data) = folder();
    let web = small_web();
    crawl_until_idle(&data, &web);
    let urls: Vec<String> = json_lines(&told(vernal(&data).args(["pages", "--json"])))
        .iter()
        .map(|page| page["url"].as_str().unwrap().to_owned())
        .collect();
    let promised = &urls[urls.len() / 2];
    let pattern = promised.replace('.', "[.]").replace('?', "[?]");
    let file = format!("[[promises]]\npattern = '^{pattern}$'\nat_least_every = '1h'\n");
    std::fs::write(dir.path().join("vernal.toml"), file).unwrap();
    // About a visit an hour; ten hours pass in a second.
    told(run(&data).args(["--time-scale", "36000", "--budget", "100%/day", "--refresh-min", "1m", "--visits", "10"]));
    let visits = |url: &str| json_lines(&told(vernal(&data).args(["history", url, "--json"]))).len();
    let kept = visits(promised);
    assert!(kept >= 4, "{kept} visits to {promised}");
    assert!(urls.iter().filter(|url| *url != promised).all(|url| visits(url) < kept));
    let why = told(vernal(&data).args(["why", promised]));
    assert!(why.contains("at least every 1h"), "{why}");
    let status: Value = serde_json::from_str(&told(vernal(&data).args(["status", "--json"]))).unwrap();
    assert_eq!(status["promises"]["pages"], 1, "{status}");
    // A stopped crawl is spoken of by what it was promised last, wherever the question comes from; another word is heard.
    let asked = |file: &str| {
        std::fs::write(dir.path().join("vernal.toml"), file).unwrap();
        serde_json::from_str::<Value>(&told(vernal(&data).args(["status", "--json"]))).unwrap()
    };
    let status = asked("");
    assert_eq!(status["promises"]["pages"], 1, "{status}");
    assert!(told(vernal(&data).args(["why", promised])).contains("at least every 1h"));
    let status = asked("[[promises]]\npattern = '^nothing$'\nat_least_every = '1h'\n");
    assert_eq!(status["promises"]["pages"], 0, "{status}");
    let wrong = "[[promises]]\npattern = 'x'\nat_leest_every = '1h'\n";
    std::fs::write(dir.path().join("vernal.toml"), wrong).unwrap();
    let (code, said) = refused(vernal(&data).arg("status"));
    assert!(code == 2 && said.contains("at_least_every"), "{said}");
}
