//! `vernal changes`

use clap::Args;
use serde_json::Value;

use super::Context;
use super::listing::{Question, cell, list, time};
use crate::error::{OrFail, Result};
use crate::output::{Column, Sink, Table};
use crate::runtime::folder::Folder;

#[derive(Args)]
pub struct Arguments {
    /// A cursor, or a time: RFC 3339, a date, an age such as 7d, or 14 digits
    #[arg(long, value_name = "CURSOR|TIME")]
    since: Option<String>,
    /// Go on with new events as they come
    #[arg(long)]
    follow: bool,
    /// Only events of this site
    #[arg(long)]
    site: Option<String>,
    /// Only changes of this kind: structure, content, presentation or behaviour
    #[arg(long)]
    kind: Option<String>,
    /// Only events of pages that a seed with this tag covers
    #[arg(long)]
    tag: Option<String>,
    /// Also changes that nobody would care about
    #[arg(long)]
    with_noise: bool,
    /// So many at most
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print the JSON Schema of an event instead
    #[arg(long)]
    schema: bool,
}

const COLUMNS: [Column; 6] = [
    Column::left("seen"),
    Column::left("event"),
    Column::left("kinds"),
    Column::right("version"),
    Column::left("cursor"),
    Column::left("url"),
];

pub async fn changes(context: &Context, arguments: &Arguments) -> Result<()> {
    if arguments.schema {
        let mut sink = Sink::stdout();
        sink.line(&serde_json::to_string_pretty(&crate::api::event_schema()).or_fail()?)?;
        return sink.flush();
    }
    let path = if arguments.follow { "/api/v1/changes/stream" } else { "/api/v1/changes" };
    let question = Question::at(path)
        .with("since", arguments.since.as_ref())
        .with("site", arguments.site.as_ref())
        .with("kind", arguments.kind.as_ref())
        .with("tag", arguments.tag.as_ref())
        .with("limit", arguments.limit)
        .when("with_noise", arguments.with_noise);
    if arguments.follow {
        return follow(context, question).await;
    }
    list(context, question, &COLUMNS, |event| row(context, event)).await
}

fn row(context: &Context, event: &Value) -> Vec<String> {
    vec![
        time(context, event, "seen_different"),
        cell(event, "event"),
        cell(event, "kinds"),
        cell(event, "version"),
        cell(event, "cursor"),
        cell(event, "url"),
    ]
}

/// As wide as the longest time, event, kinds and cursor usually are.
const WIDTHS: [usize; COLUMNS.len()] = [20, 8, 17, 7, 8, 0];

/// Each event of the stream as a line, at once. The stream ends with the crawl.
async fn follow(context: &Context, question: Question) -> Result<()> {
    let folder = Folder::open(context, false).await?;
    let answer = folder.get(question.text()).await?;
    let mut sink = Sink::stdout();
    let mut table = if context.json { None } else { Some(Table::at_once(&COLUMNS, &WIDTHS, &mut sink)?) };
    sink.flush()?;
    answer
        .each_line(|line| {
            let Some(data) = line.strip_prefix("data: ") else { return Ok(()) };
            match &mut table {
                None => sink.line(data)?,
                Some(table) => {
                    let event: Value = serde_json::from_str(data).or_fail()?;
                    table.row(&mut sink, row(context, &event))?;
                }
            }
            sink.flush()
        })
        .await?;
    folder.close()
}
