//! `vernal sites`

use clap::Args;
use serde_json::Value;

use super::Context;
use super::printed_list::{Question, bytes, cell, list};
use crate::error::Result;
use crate::output::Column;

#[derive(Args)]
pub struct Arguments {
    /// Show at most N
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// A column to sort by; -COLUMN puts the greatest first [default: -held]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    sort: Option<String>,
    /// Only sites of seeds with this tag
    #[arg(long)]
    tag: Option<String>,
}

const COLUMNS: [Column; 15] = [
    Column::left("site"),
    Column::left("standing"),
    Column::right("held"),
    Column::right("waiting"),
    Column::right("visits"),
    Column::right("changes"),
    Column::right("failures").optional(),
    Column::right("wire").optional(),
    Column::right("change ratio").optional(),
    Column::right("success").optional(),
    Column::right("changes/day").optional(),
    Column::right("fresh, believed").optional(),
    Column::right("measured").optional(),
    Column::right("age, days").optional(),
    Column::left("trouble"),
];

const MEASURES: [&str; 6] = [
    "change_ratio",
    "degree_of_success",
    "change_rate_per_day",
    "freshness_believed",
    "freshness_measured",
    "mean_age_days",
];

/// A measure with three digits; nothing where it is not known.
fn measure(row: &Value, name: &str) -> String {
    row["measures"][name].as_f64().map_or_else(String::new, |value| format!("{value:.3}"))
}

pub async fn sites(context: &Context, arguments: &Arguments) -> Result<()> {
    let question = Question::at("/api/v1/sites")
        .with("limit", arguments.limit)
        .with("sort", arguments.sort.as_ref())
        .with("tag", arguments.tag.as_ref());
    list(context, question, &COLUMNS, |row| {
        let mut cells: Vec<String> =
            ["site", "standing", "held", "waiting", "visits", "changes", "failures"].map(|name| cell(row, name)).into();
        cells.push(bytes(row, "wire_bytes"));
        cells.extend(MEASURES.map(|name| measure(row, name)));
        cells.push(cell(row, "trouble"));
        cells
    })
    .await
}
