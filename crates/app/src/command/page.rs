//! `vernal page URL`

use clap::Args;
use serde_json::Value;

use super::Context;
use super::printed_list::{Question, bytes, cell, robots_visit, show, time};
use crate::error::Result;

/// Of the last visits so many are shown; the answer of the API has more.
const VISITS_SHOWN: usize = 3;

#[derive(Args)]
pub struct Arguments {
    url: String,
}

pub async fn page(context: &Context, arguments: &Arguments) -> Result<()> {
    let question = Question::at("/api/v1/page").with("url", Some(&arguments.url));
    show(context, question, |page| rows(context, page)).await
}

fn rows(context: &Context, page: &Value) -> Vec<(String, String)> {
    let row = |name: &str, value: String| (name.to_owned(), value);
    let times = ["admitted", "first_visit", "last_visit", "last_confirmed", "missing_since", "not_before"];
    let mut rows = vec![row("url", cell(page, "url")), row("state", cell(page, "state"))];
    if let Some(detail) = page["detail"].as_str().filter(|detail| !detail.is_empty()) {
        rows.push(row("detail", detail.to_owned()));
    }
    if !page["same_as"].is_null() {
        let told = format!("{} ({})", cell(page, "same_as"), cell(page, "named_by"));
        rows.push(row("same as", told));
    }
    if page["also_named"].as_array().is_some_and(|names| !names.is_empty()) {
        rows.push(row("also named", cell(page, "also_named")));
    }
    let document = &page["document"];
    for name in ["title", "language", "content_type"] {
        if document[name].as_str().is_some_and(|text| !text.is_empty()) {
            rows.push(row(&name.replace('_', " "), cell(document, name)));
        }
    }
    let newest = &page["newest"];
    if newest.is_object() {
        let made = time(context, newest, "moment");
        let told = format!(
            "{} of {made}, {}, {}",
            cell(newest, "number"),
            bytes(newest, "body_bytes"),
            cell(newest, "payload_digest")
        );
        rows.push(row("version", told));
    }
    for name in [
        "last_outcome",
        "status",
        "visits",
        "changes",
        "depth",
        "found_on",
        "requisite_of",
        "back_links",
        "importance",
        "score",
        "tags",
        "etag",
        "last_modified",
    ] {
        if !page[name].is_null() {
            rows.push(row(&name.replace('_', " "), cell(page, name)));
        }
    }
    let topics = page["topics"].as_array().map_or(&[][..], Vec::as_slice);
    if !topics.is_empty() {
        let topics: Vec<String> = topics.iter().map(|of| cell(of, "topic")).collect();
        rows.push(row("topics", topics.join(", ")));
    }
    rows.extend(url_record(context, &page["url_record"]).into_iter().map(|(name, value)| row(name, value)));
    if !page["trouble"].is_null() {
        rows.push(row("trouble of its site", cell(page, "trouble")));
    }
    if page["robots_visit"].is_object() {
        rows.push(row("robots.txt", robots_visit(context, page)));
    }
    for name in times {
        if !page[name].is_null() {
            rows.push(row(&name.replace('_', " "), time(context, page, name)));
        }
    }
    rows.extend(last_change(&page["papers"]));
    rows
}

/// What the methods of paper 003 say of the last change, a line each.
fn last_change(papers: &Value) -> Vec<(String, String)> {
    let row = |name: &str, value: String| (name.to_owned(), value);
    if papers["missing"].is_string() {
        return vec![row("last change", cell(papers, "missing"))];
    }
    let said = ["tree", "fingerprint", "rms", "checksum"].into_iter().filter(|name| papers[*name].is_object());
    let mut rows: Vec<_> = said.map(|name| row(name, cell(&papers[name], "words"))).collect();
    if !rows.is_empty() {
        rows.insert(0, row("last change", format!("version {} → {}", cell(papers, "from"), cell(papers, "to"))));
    }
    rows
}

/// The record of paper 004: refresh times, degree of success, thresholds and last visits.
fn url_record(context: &Context, record: &Value) -> Vec<(&'static str, String)> {
    if !record.is_object() {
        return Vec::new();
    }
    let refresh_time = |when: &str| {
        let waits = record[format!("{when}_mean_waits")].as_f64().unwrap_or_default();
        let hours = record[format!("{when}_hours")].as_f64();
        let hours = hours.map_or_else(|| "unknown hours".into(), |hours| format!("{hours:.1} hours"));
        format!("{when} {hours} ({waits:.2} mean waits)")
    };
    let by = match record["kept_by"].as_str() {
        Some("policy") => "kept by the policy refresh-time",
        _ => "what refresh-time would hold after the visits so far",
    };
    let success = record["degree_of_success"].as_f64().map_or_else(
        || "not known: no visit could be compared yet".into(),
        |share| format!("{share:.2} ({} of {} visits found a change)", cell(record, "changes"), cell(record, "visits")),
    );
    let thresholds = format!("{} and {}", cell(record, "lower_threshold"), cell(record, "upper_threshold"));
    let visits = record["last_visits"].as_array().into_iter().flatten().map(|visit| {
        let found = match visit["changed"].as_bool() {
            Some(true) => "changed",
            Some(false) => "the same",
            None => visit["outcome"].as_str().unwrap_or("nothing"),
        };
        format!("{} {found}", time(context, visit, "moment"))
    });
    let visits: Vec<String> = visits.take(VISITS_SHOWN).collect();
    vec![
        ("refresh time", format!("{}, {}; {by}", refresh_time("initial"), refresh_time("current"))),
        ("degree of success", success),
        ("thresholds", thresholds),
        ("last visits", visits.join(", ")),
    ]
}
