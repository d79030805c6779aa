//! Numbers that matter are told, and versions are judged by the rules of their time: the real binary on a web of one page.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::path::Path;

use common::edited::{Edited, visit};
use common::{json_lines, told, vernal};
use serde_json::Value;

fn page(rate: &str, price: &str) -> String {
    format!(
        "<html><head><title>The bank</title></head><body><h1>The bank</h1><p>The key interest rate is {rate} %.</p>\
         <p>Price today: € {price}</p><p>Applications are due by {} May 2026.</p><p>ACME closed at {price}</p>\
         <p>This stays as it is.</p></body></html>",
        rate.len() + price.len()
    )
}

/// A page whose numbers differ at each of six visits.
fn six_versions(data: &Path) -> (Edited, String) {
    let web = Edited::serve(&[("/", page("3.25", "9.99"))]);
    let url = web.url("/");
    visit(data, &url);
    for (rate, price) in [("3.50", "10.49"), ("3.75", "9.49"), ("3.80", "11.99"), ("3.90", "12.49"), ("4.00", "7.99")] {
        web.edit("/", page(rate, price));
        visit(data, &url);
    }
    (web, url)
}

fn one(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|why| panic!("{why}: {text}"))
}

#[test]
fn a_rate_and_a_price_that_differ_at_every_visit_are_told_every_time() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let (_web, url) = six_versions(&data);
    let changed = json_lines(&told(vernal(&data).args(["changes", "--event", "changed", "--json"])));
    assert_eq!(changed.len(), 5, "{changed:#?}");
    for event in &changed {
        assert!(
            event["paragraphs"].as_array().unwrap().len() >= 3 && event["noise"] == serde_json::json!([]),
            "{event:#}"
        );
    }
    assert_eq!(told(vernal(&data).args(["noise", "list", "--json"])), "", "nothing was learned to be noise");
    let diff = told(vernal(&data).args(["diff", &url, "--from", "1", "--to", "latest"]));
    assert!(diff.contains("[-3.25-] {+4.00+} %") && diff.contains("€ [-9.99-] {+7.99+}"), "{diff}");
}

#[test]
fn versions_are_judged_by_the_rules_of_their_time_and_by_those_of_today_if_asked() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let (web, url) = six_versions(&data);
    let site = web.address.to_string();
    told(vernal(&data).args(["noise", "add", &site, "--words", "The key interest rate is # %."]));
    let rate = |arguments: &[&str]| {
        let diff = one(&told(vernal(&data).args(["diff", &url, "--json"]).args(arguments)));
        diff["paragraphs"].to_string().contains("interest rate")
    };
    assert!(rate(&["--from", "5", "--to", "6"]), "as the event told it");
    assert!(rate(&["--from", "1", "--to", "6"]) && rate(&["--from", "1", "--to", "latest", "--rules", "then"]));
    assert!(!rate(&["--from", "5", "--to", "6", "--rules", "now"]) && !rate(&["--from", "1", "--rules", "now"]));
    let aside = |arguments: &[&str]| -> Vec<usize> {
        let visits = json_lines(&told(vernal(&data).args(["history", &url, "--json"]).args(arguments)));
        visits.iter().filter_map(|visit| visit["change"]["noise"].as_array()).map(Vec::len).collect()
    };
    assert_eq!(aside(&[]), [0, 0, 0, 0, 0]);
    assert_eq!(aside(&["--rules", "now"]), [1, 1, 1, 1, 1]);
    web.edit("/", page("4.25", "8.99"));
    visit(&data, &url);
    assert!(!rate(&[]), "from the rule on it is set aside");
    assert_eq!(aside(&[]), [1, 0, 0, 0, 0, 0], "the newest first");
    told(vernal(&data).args(["noise", "allow", &site, "1", "--reason", "rates matter"]));
    assert!(!rate(&[]) && rate(&["--rules", "now"]), "what was told then does not change");
}
