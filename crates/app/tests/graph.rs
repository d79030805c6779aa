//! Links in both directions and a bounded collection, asked of the real binary.

mod common;

use std::collections::BTreeSet;

use common::{crawl_until_idle, json_lines, refused, run, small_web, told, vernal};
use serde_json::Value;

#[test]
fn every_link_out_of_a_page_is_a_link_into_its_target_with_the_same_words() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    let front = served.seeds()[0].clone();
    let forward = json_lines(&told(vernal(&data).args(["links", "--json", &front])));
    let anchors = forward.iter().filter(|link| link["kind"] == "anchor" && link["state"] == "held");
    let mut seen = 0;
    for link in anchors.take(5) {
        let target = link["target"].as_str().unwrap();
        let back = json_lines(&told(vernal(&data).args(["links", "--back", "--json", target])));
        let parent = back.iter().find(|parent| parent["source"] == front.as_str()).unwrap();
        assert_eq!(parent["counted"], true, "{parent}");
        assert_eq!(parent["state"], "held");
        let same = |other: &&Value| other["target"] == target && other["anchor"] == parent["anchor"];
        assert!(forward.iter().any(|other| same(&other)), "{parent}");
        let page: Value = serde_json::from_str(&told(vernal(&data).args(["page", "--json", target]))).unwrap();
        let counted = back.iter().filter(|parent| parent["counted"] == true).count();
        assert_eq!(page["back_links"], counted, "{target}");
        assert_eq!(
            json_lines(&told(vernal(&data).args(["links", "--back", "--json", "--limit", "1", target]))).len(),
            1
        );
        seen += 1;
    }
    assert!(seen > 0);
}

#[test]
fn a_full_collection_says_what_a_url_would_need_and_settings_are_checked_at_the_door() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    let weights = dir.path().join("weights.csv");
    std::fs::write(&weights, format!("url,weight\n{},4\n", served.seeds()[0])).unwrap();
    let bounded = ["--until-idle", "--max-pages", "8", "--importance", "links", "--order", "importance"];
    let file = format!("file:{}", weights.display());
    told(run(&data).args(bounded).args(["--weights", &file]).args(served.seeds()));
    let held = json_lines(&told(vernal(&data).args(["pages", "--json", "--state", "held"])));
    assert_eq!(held.len(), 8);
    let loved = held.iter().find(|page| page["url"] == served.seeds()[0].as_str()).unwrap();
    assert_eq!(loved["importance"], 4.0);
    let held: BTreeSet<&str> = held.iter().filter_map(|page| page["url"].as_str()).collect();
    let links = json_lines(&told(vernal(&data).args(["links", "--json", &served.seeds()[0]])));
    let mut waiting = links.iter().filter(|link| link["state"] == "waiting").filter_map(|link| link["target"].as_str());
    let waiting = waiting.find(|url| !held.contains(url)).unwrap();
    let why: Value = serde_json::from_str(&told(vernal(&data).args(["why", "--json", waiting]))).unwrap();
    assert_eq!(why["reasons"][0]["value"], "waiting for its first visit", "{why}");
    for wrong in [["--importance", "much"], ["--weights", "pattern:/a/"], ["--order", "random"]] {
        let (code, complaint) = refused(run(&data).args(["--until-idle"]).args(wrong));
        assert_eq!(code, 2, "{complaint}");
    }
}
