//! `vernal history URL`

use clap::Args;
use serde_json::Value;

use super::Context;
use super::printed_list::{Question, bytes, cell, list, shown, time};
use crate::error::Result;
use crate::output::Column;

#[derive(Args)]
pub struct Arguments {
    url: String,
    /// Show at most N visits, the newest first
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// The rules on noise: those of the visit's time (then), or those of today (now)
    #[arg(long, value_name = "WHEN", default_value = "then", value_parser = ["then", "now"])]
    rules: String,
}

const COLUMNS: [Column; 8] = [
    Column::left("visit"),
    Column::left("outcome"),
    Column::right("status"),
    Column::right("version"),
    Column::right("wire").optional(),
    Column::left("decided by").optional(),
    Column::left("verdict"),
    Column::left("detail"),
];

pub async fn history(context: &Context, arguments: &Arguments) -> Result<()> {
    let question = Question::at("/api/v1/history")
        .with("url", Some(&arguments.url))
        .with("limit", arguments.limit)
        .with("rules", Some(&arguments.rules));
    list(context, question, &COLUMNS, |row| {
        vec![
            time(context, row, "started"),
            cell(row, "outcome"),
            cell(row, "status"),
            shown(&row["version"]["number"]),
            bytes(row, "wire_bytes"),
            cell(row, "decided_by"),
            verdict(context, row),
            cell(row, "detail"),
        ]
    })
    .await
}

/// What a visit found, with the bracket in which it happened: never one false exact time.
fn verdict(context: &Context, row: &Value) -> String {
    let change = &row["change"];
    let mut parts = Vec::new();
    match (row["event"].as_str(), change.is_object()) {
        (Some("changed"), true) if row["changed"] == false => {
            parts.push(format!("noise only: {}", cell(change, "kinds")))
        }
        (Some(event), true) => {
            let magnitude = change["magnitude"].as_f64().unwrap_or(0.0);
            parts.push(format!("{event}: {}, {} ({magnitude:.3})", cell(change, "left"), cell(change, "degree")));
        }
        (Some(event), false) => parts.push(event.to_owned()),
        (None, _) if row["folded"] == true => parts.push("changed with its template".into()),
        (None, _) if row["changed"] == false => parts.push("same".into()),
        (None, _) => {}
    }
    let aside = change["noise"].as_array().map_or(0, Vec::len);
    if aside > 0 && row["changed"] == true {
        parts.push(format!("{aside} set aside as noise"));
    }
    if change["flapping"] == true {
        parts.push("flapping".into());
    }
    if row["imported"] == true && row["event"] != "imported" {
        parts.push("imported".into());
    }
    if row["second_look"] == true {
        parts.push("second look".into());
    }
    if row["changed"] == true && !row["seen_same"].is_null() {
        parts.push(format!("since {}", time(context, row, "seen_same")));
    }
    if parts.is_empty() { "-".into() } else { parts.join("; ") }
}
