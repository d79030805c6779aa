//! `vernal changes`

use clap::Args;
use serde_json::Value;

use super::Context;
use super::printed_list::{Question, cell, list, time};
use crate::error::{OrFail, Result};
use crate::output::{Column, Sink, Table, quoted};
use crate::runtime::folder::Folder;

#[derive(Args)]
pub struct Arguments {
    /// A cursor, or a time: RFC 3339, a date, an age such as 7d, or 14 digits
    #[arg(long, value_name = "CURSOR|TIME")]
    since: Option<String>,
    /// Keep printing new events as they come
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
    /// Also changes that are noise alone
    #[arg(long)]
    with_noise: bool,
    /// Show at most N
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print the JSON Schema of an event instead
    #[arg(long)]
    schema: bool,
}

const COLUMNS: [Column; 7] = [
    Column::left("seen"),
    Column::left("event"),
    Column::left("kinds"),
    Column::right("version"),
    Column::left("cursor"),
    Column::left("url"),
    Column::left("what"),
];

/// What a row shows of the words that came and went.
const WORDS_LETTERS_MAX: usize = 40;

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
        .when("with_noise", arguments.with_noise)
        .when("brief", !context.json);
    if arguments.follow {
        return follow(context, question).await;
    }
    list(context, question, &COLUMNS, |event| row(context, event)).await
}

fn row(context: &Context, event: &Value) -> Vec<String> {
    vec![
        time(context, event, "seen_different"),
        cell(event, "event"),
        kinds(event),
        cell(event, "version"),
        cell(event, "cursor"),
        cell(event, "url"),
        what(event),
    ]
}

fn kinds(event: &Value) -> String {
    let is_noise = event["event"] == "changed" && event["left"].as_array().is_some_and(Vec::is_empty);
    if is_noise { "noise".into() } else { cell(event, "left") }
}

/// The first words that differ, and how much more there is; else what else there is to read.
fn what(event: &Value) -> String {
    let (paragraphs, notes) = (rows(event, "paragraphs"), rows(event, "notes"));
    let told = paragraphs.iter().find(|one| !one["before"].is_null() || !one["after"].is_null());
    let first = match (told, notes.first(), rows(event, "noise").first()) {
        (Some(paragraph), ..) => brief(&paragraph["before"], &paragraph["after"]),
        (None, Some(note), _) => format!("{}: {}", cell(note, "what"), brief(&note["before"], &note["after"])),
        (None, None, Some(aside)) => {
            format!("{}: {}", cell(aside, "detector"), brief(&aside["before"], &aside["after"]))
        }
        (None, None, None) => return cell(event, "detail"),
    };
    match (paragraphs.len() + notes.len()).saturating_sub(1) {
        0 => first,
        more => format!("{first} (and {more} more)"),
    }
}

fn rows<'a>(event: &'a Value, name: &str) -> &'a [Value] {
    event[name].as_array().map_or(&[], Vec::as_slice)
}

/// Two texts without the words that they begin and end with alike.
fn brief(before: &Value, after: &Value) -> String {
    let words = |text: &'_ Value| -> Vec<String> {
        text.as_str().unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    };
    let (old, new) = (words(before), words(after));
    let head = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let cut = |words: &[String]| match &words[head..words.len() - tail] {
        [] => "-".to_owned(),
        words => quoted(&words.join(" "), WORDS_LETTERS_MAX),
    };
    format!("{} → {}", cut(&old), cut(&new))
}

/// As wide as the longest time, event, kinds and cursor usually are.
const WIDTHS: [usize; COLUMNS.len()] = [20, 8, 17, 7, 8, 40, 0];

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_only_the_words_that_differ() {
        let told = |before: &str, after: &str| brief(&before.into(), &after.into());
        assert_eq!(told("It costs €9.99 a month.", "It costs €12.99 a month."), "€9.99 → €12.99");
        assert_eq!(told("a b", "a b c"), "- → c");
        assert_eq!(brief(&Value::Null, &"New words".into()), "- → New words");
        assert_eq!(told("a a", "a a a"), "- → a");
    }
}
