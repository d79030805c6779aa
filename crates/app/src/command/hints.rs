//! `vernal hints [SITE]`

use clap::Args;
use serde_json::Value;

use super::Context;
use super::printed_list::{Question, cell, list};
use crate::error::Result;
use crate::output::Column;

#[derive(Args)]
pub struct Arguments {
    /// Only this site
    site: Option<String>,
    /// Show at most N
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

const COLUMNS: [Column; 5] = [
    Column::left("site"),
    Column::left("source"),
    Column::right("files"),
    Column::right("heard"),
    Column::left("says"),
];

pub async fn hints(context: &Context, arguments: &Arguments) -> Result<()> {
    let question = Question::at("/api/v1/hints").with("site", arguments.site.as_ref()).with("limit", arguments.limit);
    list(context, question, &COLUMNS, |row| {
        let files = row.get("files").and_then(Value::as_array).map_or(0, Vec::len);
        vec![cell(row, "site"), cell(row, "source"), files.to_string(), cell(row, "heard"), cell(row, "says")]
    })
    .await
}
