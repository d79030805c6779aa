//! `vernal pages`

use clap::Args;
use serde_json::Value;

use super::Context;
use super::printed_list::{Question, bytes, cell, list, time};
use crate::error::Result;
use crate::output::Column;

#[derive(Args)]
pub struct Arguments {
    /// Only pages of this site
    #[arg(long)]
    site: Option<String>,
    /// Only pages in this state: held, gone, moved, blocked, refused or failed
    #[arg(long)]
    state: Option<String>,
    /// Show at most N
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// A column to sort by; -COLUMN puts the greatest first
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    sort: Option<String>,
    /// Only pages that a seed with this tag covers
    #[arg(long)]
    tag: Option<String>,
}

const COLUMNS: [Column; 7] = [
    Column::left("state"),
    Column::right("version"),
    Column::right("visits").optional(),
    Column::right("changes").optional(),
    Column::right("size").optional(),
    Column::left("last visit"),
    Column::address("url"),
];

pub async fn pages(context: &Context, arguments: &Arguments) -> Result<()> {
    let question = Question::at("/api/v1/pages")
        .with("site", arguments.site.as_ref())
        .with("state", arguments.state.as_ref())
        .with("limit", arguments.limit)
        .with("sort", arguments.sort.as_ref())
        .with("tag", arguments.tag.as_ref());
    list(context, question, &COLUMNS, |row| {
        vec![
            cell(row, "state"),
            cell(row, "version"),
            cell(row, "visits"),
            cell(row, "changes"),
            bytes(row, "body_bytes"),
            time(context, row, "last_visit"),
            address(row),
        ]
    })
    .await
}

/// The URL, with the first name of a page that is a second name.
fn address(row: &Value) -> String {
    match row["same_as"].is_null() {
        true => cell(row, "url"),
        false => format!("{} (same as {})", cell(row, "url"), cell(row, "same_as")),
    }
}
