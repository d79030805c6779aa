//! `vernal changes`

use std::collections::BTreeSet;

use axum::http::Method;
use clap::Args;
use serde_json::{Value, json};

use super::Context;
use super::event_words;
use super::follow_changes;
use super::printed_list::{Question, cell, copy, copy_rows, is_rest, time};
use crate::error::{OrFail, Result};
use crate::output::{Column, Sink, Table};
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
    /// Only these events: new, changed, gone, back, moved, blocked, template, joined, parted or imported
    #[arg(long, value_name = "EVENT", value_delimiter = ',')]
    event: Vec<String>,
    /// Only changes of this kind: structure, content, presentation or behaviour
    #[arg(long)]
    kind: Option<String>,
    /// Only main text (main), or only the menus, headers and footers around it (frame)
    #[arg(long, value_name = "main|frame")]
    role: Option<String>,
    /// Only pages whose URL begins with this one
    #[arg(long, value_name = "URL")]
    prefix: Option<String>,
    /// Only changes of at least this magnitude: slight, moderate, large, total, or a number from 0 to 1
    #[arg(long, value_name = "MAGNITUDE")]
    min: Option<String>,
    /// Only events with these words, and "phrases", among what came or went
    #[arg(long, value_name = "WORDS")]
    words: Option<String>,
    /// Whether the words came (added) or went (removed) [default: either]
    #[arg(long, value_name = "added|removed|either", requires = "words")]
    r#in: Option<String>,
    /// Only events before this time
    #[arg(long, value_name = "TIME", conflicts_with = "follow")]
    until: Option<String>,
    /// Only events of pages that a seed with this tag covers
    #[arg(long)]
    tag: Option<String>,
    /// Also changes that are noise alone
    #[arg(long)]
    with_noise: bool,
    /// Also events of pages that are second names of others
    #[arg(long)]
    with_names: bool,
    /// For copies of pages: every version of every page, with the exact steps in `replica` (with --json)
    #[arg(long, conflicts_with_all = ["event", "kind", "role", "min", "words"])]
    pages: bool,
    /// Only events without a mark, behind what you said that you have seen
    #[arg(long, conflicts_with_all = ["follow", "marked"])]
    unseen: bool,
    /// Only events with this mark: seen, act, noise or none
    #[arg(long, value_name = "MARK", conflicts_with = "follow")]
    marked: Option<String>,
    #[command(flatten)]
    marking: Marking,
    /// Show only the newest N
    #[arg(long, value_name = "N", conflicts_with = "follow")]
    latest: Option<usize>,
    /// Show at most N
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print the JSON Schema of an event instead
    #[arg(long)]
    schema: bool,
}

// What is said of events, instead of showing them.
#[derive(Args)]
struct Marking {
    /// Mark the events with these ids: seen, act, noise or none
    #[arg(long, value_name = "MARK", requires = "events")]
    mark: Option<String>,
    /// Ids of events, such as e12-9 (the field `id` of --json)
    #[arg(value_name = "ID", requires = "mark")]
    events: Vec<String>,
    /// A note beside the mark
    #[arg(long, value_name = "TEXT", requires = "mark")]
    note: Option<String>,
    /// Undo an act on marks, by what it answered
    #[arg(long, value_name = "ACT", conflicts_with = "mark")]
    undo: Option<String>,
    /// Say that you have seen everything up to this cursor
    #[arg(long, value_name = "CURSOR", conflicts_with_all = ["mark", "undo"])]
    seen_until: Option<String>,
}

impl Marking {
    /// What is asked of the folder; `None` where nothing is to be marked.
    fn asked(&self) -> Option<(Method, &'static str, Value)> {
        if let Some(mark) = &self.mark {
            let body = json!({ "events": self.events, "state": mark, "note": self.note });
            return Some((Method::POST, "/api/v1/changes/marks", body));
        }
        if let Some(undo) = &self.undo {
            return Some((Method::POST, "/api/v1/undo", json!({ "undo": undo })));
        }
        let until = self.seen_until.as_ref()?;
        Some((Method::PUT, "/api/v1/reader", json!({ "seen_until": until })))
    }
}

async fn marked(context: &Context, (method, path, body): (Method, &str, Value)) -> Result<()> {
    let folder = Folder::open(context, false).await?;
    let answer = folder.ask(method, path, body.to_string()).await?;
    if context.json {
        copy(answer, &mut Sink::stdout()).await?;
        return folder.close();
    }
    let said = answer.json().await?;
    match (said["marked"].as_u64(), said["undo"].as_str(), said["events"].as_u64()) {
        (Some(count), Some(undo), _) => tracing::info!("{count} events are marked; --undo {undo} undoes it"),
        (Some(_), None, _) => tracing::info!("nothing is to be marked"),
        (_, _, Some(count)) => tracing::info!("{count} events have their mark of before again"),
        _ => tracing::info!("everything up to {} counts as seen", cell(&said, "seen_until")),
    }
    folder.close()
}

pub(super) const COLUMNS: [Column; 7] = [
    Column::left("seen"),
    Column::left("event"),
    Column::left("kinds").optional(),
    Column::right("version").optional(),
    Column::left("cursor").optional(),
    Column::address("url"),
    Column::left("what"),
];

pub async fn changes(context: &Context, arguments: &Arguments) -> Result<()> {
    if arguments.schema {
        let mut sink = Sink::stdout();
        sink.line(&serde_json::to_string_pretty(&vernal_api::event_schema()).or_fail()?)?;
        return sink.flush();
    }
    if let Some(asked) = arguments.marking.asked() {
        return marked(context, asked).await;
    }
    let mark = if arguments.unseen { Some("unseen") } else { arguments.marked.as_deref() };
    let question = |path: &str, since: Option<&String>, limit: Option<usize>| {
        Question::at(path)
            .with("since", since)
            .with("site", arguments.site.as_ref())
            .with("event", (!arguments.event.is_empty()).then(|| arguments.event.join(",")))
            .with("kind", arguments.kind.as_ref())
            .with("role", arguments.role.as_ref())
            .with("prefix", arguments.prefix.as_ref())
            .with("min", arguments.min.as_ref())
            .with("words", arguments.words.as_ref())
            .with("in", arguments.r#in.as_ref())
            .with("until", arguments.until.as_ref())
            .with("tag", arguments.tag.as_ref())
            .with("mark", mark)
            .with("limit", limit)
            .with("latest", arguments.latest)
            .when("with_noise", arguments.with_noise)
            .when("with_names", arguments.with_names)
            .when("pages", arguments.pages)
            .when("brief", !context.json)
    };
    if arguments.follow {
        let stream = |since: Option<&String>, limit| question("/api/v1/changes/stream", since, limit);
        return follow_changes::follow(context, &stream, (arguments.since.clone(), arguments.limit)).await;
    }
    let question = question("/api/v1/changes", arguments.since.as_ref(), arguments.limit);
    let folder = Folder::open(context, false).await?;
    let nothing_found = question.nothing_found();
    let answer = folder.get(question.text()).await?;
    let mut sink = Sink::stdout();
    if context.json {
        copy_rows(answer, &mut sink).await?;
        return folder.close();
    }
    // Whoever asks for new pages wants to see them.
    let sums = !arguments.event.iter().any(|event| event == "new") && !arguments.pages;
    let mut shown = Shown { context, table: Table::new(&COLUMNS), new: NewPages::default() };
    answer
        .each_line(|line| {
            if is_rest(line) {
                return Ok(());
            }
            let event: Value = serde_json::from_str(line).or_fail()?;
            if sums && event["event"] == "new" {
                shown.new.take(event);
                return Ok(());
            }
            shown.new_pages(&mut sink)?;
            shown.table.row(&mut sink, row(context, &event))
        })
        .await?;
    shown.new_pages(&mut sink)?;
    if shown.table.is_empty() {
        tracing::info!("{nothing_found}");
    }
    shown.table.end(&mut sink)?;
    folder.close()
}

/// The table, and the run of new pages that comes next in it.
struct Shown<'a> {
    context: &'a Context,
    table: Table,
    new: NewPages,
}

/// New pages that come one after the other: a first crawl finds thousands.
#[derive(Default)]
struct NewPages {
    count: u64,
    first: Vec<Value>,
    last: Value,
    sites: BTreeSet<String>,
}

/// So many new pages in a row are listed, more are counted.
const NEW_LISTED_MAX: usize = 3;

impl NewPages {
    fn take(&mut self, event: Value) {
        self.count += 1;
        self.sites.insert(cell(&event, "site"));
        if self.first.len() < NEW_LISTED_MAX {
            self.first.push(event.clone());
        }
        self.last = event;
    }

    /// How many they are, and of which sites.
    fn told(&self) -> String {
        let others = self.sites.len().saturating_sub(1);
        let site = self.sites.first().map_or("", String::as_str);
        let and_others = match others {
            0 => String::new(),
            1 => " and 1 other site".to_owned(),
            others => format!(" and {} other sites", grouped(others as u64)),
        };
        format!("{} new pages of {site}{and_others} (--event new lists them)", grouped(self.count))
    }
}

impl Shown<'_> {
    /// Shows the new pages that came before.
    fn new_pages(&mut self, sink: &mut Sink) -> Result<()> {
        let new = std::mem::take(&mut self.new);
        if new.count as usize <= NEW_LISTED_MAX {
            return new.first.iter().try_for_each(|event| self.table.row(sink, row(self.context, event)));
        }
        let mut cells = row(self.context, &new.last);
        let site = new.sites.first().cloned().unwrap_or_default();
        (cells[VERSION], cells[URL], cells[WHAT]) = ("-".into(), site, new.told());
        self.table.row(sink, cells)
    }
}

/// A number with its thousands set apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn row(context: &Context, event: &Value) -> Vec<String> {
    let is_of_site = !event["fold"].is_null();
    vec![
        time(context, event, "seen_different"),
        cell(event, "event"),
        kinds(event),
        if is_of_site { "-".into() } else { cell(event, "version") },
        cell(event, "cursor"),
        cell(event, if is_of_site { "site" } else { "url" }),
        event_words::what(event),
    ]
}

fn kinds(event: &Value) -> String {
    let is_noise = event["event"] == "changed" && event["left"].as_array().is_some_and(Vec::is_empty);
    if is_noise { "noise".into() } else { cell(event, "left") }
}

/// The places of cells in a row.
const VERSION: usize = 3;
const URL: usize = 5;
const WHAT: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_new_pages_is_one_number_with_its_sites() {
        let mut new = NewPages::default();
        for page in 0..1_204 {
            new.take(
                serde_json::json!({ "event": "new", "site": "a.example", "url": format!("http://a.example/{page}") }),
            );
        }
        assert_eq!(new.told(), "1,204 new pages of a.example (--event new lists them)");
        new.take(serde_json::json!({ "event": "new", "site": "b.example" }));
        assert_eq!(new.told(), "1,205 new pages of a.example and 1 other site (--event new lists them)");
        assert_eq!((grouped(7), grouped(1_000), grouped(1_234_567)), ("7".into(), "1,000".into(), "1,234,567".into()));
    }
}
