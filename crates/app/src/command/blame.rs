//! `vernal blame URL`

use clap::Args;
use serde_json::Value;

use super::Context;
use super::printed_list::{Question, cell, shown, value_of};
use crate::error::Result;
use crate::output::{Column, Sink, Table, quoted};

#[derive(Args)]
pub struct Arguments {
    url: String,
    /// The paragraphs of this version: a number, a time, latest or previous [default: latest]
    #[arg(long, value_name = "V")]
    at: Option<String>,
    /// Show at most N paragraphs
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

const COLUMNS: [Column; 6] = [
    Column::left("since"),
    Column::right("version"),
    Column::right("edits").optional(),
    Column::right("last edit").optional(),
    Column::left("role"),
    Column::left("text"),
];

/// What a row shows of a paragraph; the whole is in the JSON.
const TEXT_LETTERS_MAX: usize = 120;

pub async fn blame(context: &Context, arguments: &Arguments) -> Result<()> {
    let question = Question::at("/api/v1/blame")
        .with("url", Some(&arguments.url))
        .with("at", arguments.at.as_ref())
        .with("limit", arguments.limit);
    let Some(blamed) = value_of(context, question).await? else { return Ok(()) };
    let mut sink = Sink::stdout();
    for number in blamed["without_body"].as_array().into_iter().flatten() {
        tracing::warn!("version {number} has no body: what it brought is attributed to the next version");
    }
    let mut table = Table::new(&COLUMNS);
    for paragraph in blamed["paragraphs"].as_array().into_iter().flatten() {
        table.row(&mut sink, row(context, paragraph))?;
    }
    if table.is_empty() {
        tracing::info!("there is no paragraph in it");
    }
    table.end(&mut sink)
}

fn row(context: &Context, paragraph: &Value) -> Vec<String> {
    let (born, edited) = (&paragraph["born"], &paragraph["edited"]);
    let last_edit = if paragraph["edits"] == 0 { "-".into() } else { shown(&edited["version"]) };
    vec![
        super::printed_list::time(context, born, "moment"),
        shown(&born["version"]),
        cell(paragraph, "edits"),
        last_edit,
        cell(paragraph, "role"),
        quoted(paragraph["text"].as_str().unwrap_or_default(), TEXT_LETTERS_MAX),
    ]
}
