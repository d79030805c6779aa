//! Sites that a hosts table leads to loopback, through the real binary.

mod common;

use std::process::Command;
use std::sync::Arc;

use common::{HOUR, json_lines, refused, run, told, vernal};
use vernal_simulator::serve::{ServeOptions, Served, serve};
use vernal_simulator::web::{Web, WebSettings, Writing};

fn named_web() -> Served {
    let settings = WebSettings { writing: Writing::Sentences, ..WebSettings::plain(3, 8).still() };
    let web = Web::new(settings).expect("the web can be made");
    let options = ServeOptions { named: true, ..ServeOptions::default() };
    serve(&web, Arc::new(|| HOUR), &options).expect("loopback is there")
}

fn with_hosts<'c>(command: &'c mut Command, served: &Served) -> &'c mut Command {
    for (root, address) in served.addresses() {
        let host = root.strip_prefix("http://").expect("it is served over HTTP");
        command.arg("--resolve").arg(format!("{host}:80:{address}"));
    }
    command
}

#[test]
fn named_sites_are_crawled_where_the_hosts_table_leads() {
    let served = named_web();
    let dir = tempfile::tempdir().expect("a folder can be made");
    let data = dir.path().join("data");
    told(
        with_hosts(&mut run(&data), &served)
            .arg("--until-idle")
            .arg("http://garden.example/")
            .arg("http://news.example/"),
    );
    let pages = json_lines(&told(vernal(&data).args(["pages", "--json"])));
    let held: Vec<&str> =
        pages.iter().filter(|page| page["state"] == "held").filter_map(|page| page["url"].as_str()).collect();
    assert!(held.len() >= 16 && held.contains(&"http://garden.example/"), "{held:?}");
    assert!(
        held.iter().all(|url| url.starts_with("http://garden.example/") || url.starts_with("http://news.example/"))
    );
    let verdict = common::assert_sound(&data);
    assert_eq!(verdict["sound"], true);
}

#[test]
fn the_guard_judges_what_the_table_names_and_nonsense_is_wrong_usage() {
    let served = named_web();
    let dir = tempfile::tempdir().expect("a folder can be made");
    let data = dir.path().join("data");
    let mut shut = vernal(&data);
    shut.args(["run", "-q", "--delay", "2ms", "--no-serve", "--until-idle", "--for", "20s"]);
    let _ = common::output(with_hosts(&mut shut, &served).arg("http://garden.example/"));
    assert_eq!(served.counts().requests, 0, "loopback stays shut without --allow-private");
    for nonsense in ["garden.example", "garden.example:80:nowhere", "garden.example:80:"] {
        let (code, said) = refused(run(&data).args(["--resolve", nonsense, "http://garden.example/"]));
        assert!(code == 2 && said.contains("HOST:PORT:ADDRESS"), "{code} {said}");
    }
}
