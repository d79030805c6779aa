//! `vernal sites`

use clap::Args;

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

const COLUMNS: [Column; 9] = [
    Column::left("site"),
    Column::left("standing"),
    Column::right("held"),
    Column::right("waiting"),
    Column::right("visits"),
    Column::right("changes"),
    Column::right("failures").optional(),
    Column::right("wire").optional(),
    Column::left("trouble"),
];

pub async fn sites(context: &Context, arguments: &Arguments) -> Result<()> {
    let question = Question::at("/api/v1/sites")
        .with("limit", arguments.limit)
        .with("sort", arguments.sort.as_ref())
        .with("tag", arguments.tag.as_ref());
    list(context, question, &COLUMNS, |row| {
        let mut cells: Vec<String> =
            ["site", "standing", "held", "waiting", "visits", "changes", "failures"].map(|name| cell(row, name)).into();
        cells.push(bytes(row, "wire_bytes"));
        cells.push(cell(row, "trouble"));
        cells
    })
    .await
}
