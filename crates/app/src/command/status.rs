//! `vernal status`

use serde_json::Value;
use vernal_model::Span;

use super::Context;
use super::printed_list::{Question, bytes, cell, show, time};
use crate::error::Result;

pub async fn status(context: &Context) -> Result<()> {
    show(context, Question::at("/api/v1/status"), |status| rows(context, status)).await
}

fn rows(context: &Context, status: &Value) -> Vec<(String, String)> {
    let row = |name: &str, value: String| (name.to_owned(), value);
    let crawl = &status["crawl"];
    let state = match crawl["process"].as_u64() {
        Some(process) => format!("crawling (process {process}, {} in flight)", cell(crawl, "in_flight")),
        None => "stopped".into(),
    };
    let paused = if status["paused"] == true { ", paused" } else { "" };
    let mut rows = vec![
        row("data", cell(status, "data")),
        row("state", format!("{state}{paused}")),
        row("seeds", cell(status, "seeds")),
        row("sites", cell(status, "sites")),
        row("held", cell(status, "held")),
        row("waiting", waiting(status)),
    ];
    for name in ["gone", "moved", "blocked", "refused", "failed", "barred"] {
        if status[name].as_u64().is_some_and(|count| count > 0) {
            rows.push(row(name, cell(status, name)));
        }
    }
    rows.extend([
        row("visits", cell(status, "visits")),
        row("changes", format!("{}, and {} set aside as noise", cell(status, "changes"), cell(status, "noise"))),
        row("versions", format!("{} ({})", cell(status, "versions"), bytes(status, "body_bytes"))),
        row("on the wire", bytes(status, "wire_bytes")),
        row("budget", format!("{}, policy {}", cell(status, "budget"), cell(status, "policy"))),
        row("last moment", time(context, status, "last_moment")),
        row("disk free", bytes(status, "disk_free_bytes")),
    ]);
    rows.extend(
        measures(&status["measures"], !crawl["freshness_expected"].is_null())
            .into_iter()
            .map(|(name, value)| row(name, value)),
    );
    rows.extend(search(&status["search"]));
    rows.extend(outbox(&status["outbox"]));
    if status["forgotten"].is_object() && status["forgotten"]["done"] != true {
        rows.push(row("forgotten", super::forget::left(&status["forgotten"])));
    }
    rows.extend(freshness(crawl).into_iter().map(|(name, value)| row(name, value)));
    rows.extend(promises(&status["promises"]).into_iter().map(|(name, value)| row(name, value)));
    if !crawl["waits_for_budget_until"].is_null() {
        rows.push(row("waiting for", format!("budget until {}", time(context, crawl, "waits_for_budget_until"))));
    }
    if let Some(pages) = crawl["scope_pass_pages"].as_u64() {
        rows.push(row("changed scope", format!("links of {pages} held pages looked through so far")));
    }
    if let Some(urls) = crawl["pass_refused_urls"].as_u64() {
        rows.push(row("links", format!("not weighed: {urls} known URLs are more than a pass may take")));
    }
    if crawl["disk_full"] == true {
        rows.push(row("stopped for", "want of room on the disk".into()));
    }
    rows
}

/// The alerts: how many watches and deliveries, and what is wrong with them.
fn outbox(outbox: &Value) -> Option<(String, String)> {
    let watches = outbox["watches"].as_u64()?;
    let mut told = format!("{watches} watches, {} deliveries wait", cell(outbox, "waiting"));
    for (name, says) in [("failing_routes", "failing routes"), ("lost", "lost")] {
        if outbox[name].as_array().is_some_and(|all| !all.is_empty()) {
            told.push_str(&format!("; {says}: {}", cell(outbox, name)));
        }
    }
    Some(("alerts".to_owned(), told))
}

fn search(search: &Value) -> Option<(String, String)> {
    let units = search["units"].as_u64()?;
    let behind = match search["behind_events"].as_u64() {
        Some(events) if events > 0 => format!(", {events} events behind"),
        _ => String::new(),
    };
    Some(("search".to_owned(), format!("{units} units ({}){behind}", bytes(search, "bytes"))))
}

/// What the policy believes, what samples drawn by chance show, and both without the pages of traps.
fn freshness(crawl: &Value) -> Vec<(&'static str, String)> {
    let percent = |name: &str| crawl[name].as_f64().map(|share| format!("{:.1} %", share * 100.0));
    let samples = |name: &str| crawl[name].as_u64().unwrap_or(0);
    let told = |expected: &str, measured: &str, count: &str| {
        let measured = percent(measured).map(|share| format!("{share} measured ({} samples)", samples(count)));
        let both = [percent(expected).map(|share| format!("{share} expected")), measured];
        let told: Vec<String> = both.into_iter().flatten().collect();
        (!told.is_empty()).then(|| told.join(", "))
    };
    let calibrated = |name: &str, error: &str| {
        let error = 100.0 * crawl[error].as_f64().unwrap_or(0.0);
        percent(name).map(|share| format!("{share} ± {error:.1}"))
    };
    let mut rows = Vec::new();
    rows.extend(told("freshness_expected", "freshness_measured", "freshness_samples").map(|fresh| ("fresh", fresh)));
    match (calibrated("freshness_calibrated", "freshness_calibrated_error"), samples("freshness_samples")) {
        (Some(share), _) => {
            rows.push(("fresh, calibrated", format!("{share}, the expectation corrected by the samples")));
        }
        (None, few) if few > 0 && !crawl["freshness_expected"].is_null() => {
            let needed = samples("freshness_samples_needed");
            rows.push(("fresh, calibrated", format!("not yet: {few} of {needed} samples")));
        }
        _ => {}
    }
    if samples("trap_pages") > 0 {
        let outside = ["freshness_expected_outside_traps", "freshness_measured_outside_traps"];
        let fresh = told(outside[0], outside[1], "freshness_samples_outside_traps");
        let error = "freshness_calibrated_outside_traps_error";
        let corrected = calibrated("freshness_calibrated_outside_traps", error);
        let corrected = corrected.map(|share| format!(", {share} calibrated")).unwrap_or_default();
        let traps = format!("without {} pages of traps", samples("trap_pages"));
        rows.extend(fresh.map(|fresh| ("fresh, no traps", format!("{fresh}{corrected}, {traps}"))));
    }
    rows
}

/// The papers' measures of the whole copy; nothing is said of what is not known yet, nor of freshness where a crawl tells of it
/// in detail.
fn measures(measures: &Value, is_told: bool) -> Vec<(&'static str, String)> {
    let figure = |name: &str| measures[name].as_f64();
    let told = [
        figure("change_ratio").map(|share| {
            let (visits, days) = (cell(measures, "change_ratio_visits"), figure("cycle_days").unwrap_or_default());
            ("change ratio", format!("{:.1} % of {visits} visits in the last {days:.0} days", share * 100.0))
        }),
        figure("degree_of_success").map(|share| {
            ("degree of success", format!("{share:.3} of {} visits that were compared", cell(measures, "compared")))
        }),
        figure("change_rate_per_day").map(|rate| ("change rate", format!("{rate:.3} a day and page"))),
        figure("freshness_believed").filter(|_| !is_told).map(|share| {
            let by = cell(measures, "believed_by");
            ("freshness", format!("{:.1} % believed (by {by})", share * 100.0))
        }),
        figure("mean_age_days").map(|days| ("mean age", Span::from_secs_f64(days * 86_400.0).to_string())),
    ];
    told.into_iter().flatten().collect()
}

fn promises(promises: &Value) -> Vec<(&'static str, String)> {
    if promises.is_null() {
        return Vec::new();
    }
    let overdue = promises["most_overdue_s"].as_f64().unwrap_or(0.0);
    let late = if overdue > 0.0 { format!(", the latest by {}", Span::from_secs_f64(overdue)) } else { String::new() };
    let mut rows =
        vec![("promises", format!("{} pages, {} overdue{late}", cell(promises, "pages"), cell(promises, "overdue")))];
    let cures = promises["cures"].as_array().into_iter().flatten().filter_map(Value::as_str);
    rows.extend(cures.map(|cure| ("would keep them", cure.to_owned())));
    rows
}

fn waiting(status: &Value) -> String {
    let waiting = cell(status, "waiting");
    match status["found_pending"].as_u64() {
        Some(found) if found > 0 => format!("{waiting}, and {found} found links not yet looked through"),
        _ => waiting,
    }
}
