//! `vernal status`

use serde_json::Value;

use super::Context;
use super::listing::{Question, bytes, cell, show, time};
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
    if !crawl["waits_for_budget_until"].is_null() {
        rows.push(row("waiting for", format!("budget until {}", time(context, crawl, "waits_for_budget_until"))));
    }
    if let Some(pages) = crawl["scope_pass_pages"].as_u64() {
        rows.push(row("changed scope", format!("links of {pages} held pages looked through so far")));
    }
    if crawl["disk_full"] == true {
        rows.push(row("stopped for", "want of room on the disk".into()));
    }
    rows
}

fn waiting(status: &Value) -> String {
    let waiting = cell(status, "waiting");
    match status["found_pending"].as_u64() {
        Some(found) if found > 0 => format!("{waiting}, and {found} found links not yet looked through"),
        _ => waiting,
    }
}
