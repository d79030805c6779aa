//! `vernal history URL`

use clap::Args;

use super::Context;
use super::listing::{Question, bytes, cell, list, shown, time};
use crate::error::Result;
use crate::output::Column;

#[derive(Args)]
pub struct Arguments {
    url: String,
    /// So many visits at most, the newest first
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

const COLUMNS: [Column; 7] = [
    Column::left("visit"),
    Column::left("outcome"),
    Column::right("status"),
    Column::right("version"),
    Column::right("wire"),
    Column::left("decided by"),
    Column::left("detail"),
];

pub async fn history(context: &Context, arguments: &Arguments) -> Result<()> {
    let question = Question::at("/api/v1/history").with("url", Some(&arguments.url)).with("limit", arguments.limit);
    list(context, question, &COLUMNS, |row| {
        vec![
            time(context, row, "started"),
            cell(row, "outcome"),
            cell(row, "status"),
            shown(&row["version"]["number"]),
            bytes(row, "wire_bytes"),
            cell(row, "decided_by"),
            cell(row, "detail"),
        ]
    })
    .await
}
