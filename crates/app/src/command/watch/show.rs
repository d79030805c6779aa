//! `vernal watch list`, `show`, `test` and `deliveries`

use axum::http::Method;
use clap::Args;
use serde_json::Value;

use super::acts::{encoded, say};
use crate::command::Context;
use crate::command::printed_list::{Question, cell, copy, list as printed, names_and_values, time};
use crate::error::{OrFail, Result};
use crate::output::{Column, Sink, Table, plain, readable};
use crate::runtime::folder::Folder;

#[derive(Args)]
pub struct TestArguments {
    /// The id of a watch, such as w7
    id: String,
    /// Look at the newest N changes of what it watches
    #[arg(long, value_name = "N", default_value_t = 100)]
    last: u64,
    /// Only this event, by its id
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Print whole what would be sent
    #[arg(long)]
    whole: bool,
}

#[derive(Args)]
pub struct DeliveriesArguments {
    /// Only of this watch
    #[arg(long)]
    watch: Option<String>,
    /// Only on this route
    #[arg(long)]
    route: Option<String>,
    /// waiting, sent or given-up
    #[arg(long)]
    state: Option<String>,
    /// Show at most N
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

const WATCHES: [Column; 7] = [
    Column::left("id"),
    Column::left("state"),
    Column::left("name"),
    Column::left("over"),
    Column::left("to"),
    Column::right("waiting"),
    Column::left("from").optional(),
];

const DELIVERIES: [Column; 6] = [
    Column::left("made"),
    Column::left("delivery"),
    Column::left("state"),
    Column::right("tries"),
    Column::left("answer").optional(),
    Column::left("what"),
];

const TESTS: [Column; 4] = [Column::left("seen"), Column::left("route"), Column::address("url"), Column::left("what")];

pub async fn list(context: &Context) -> Result<()> {
    printed(context, Question::at("/api/v1/watches"), &WATCHES, |row| {
        let name = cell(row, "name");
        vec![
            cell(row, "id"),
            state(row),
            if name.is_empty() { "-".into() } else { name },
            over(row),
            to(row),
            cell(row, "waiting"),
            cell(row, "from"),
        ]
    })
    .await
}

fn state(row: &Value) -> String {
    match (row["enabled"] == true, &row["lost"]) {
        (false, _) => "paused".into(),
        (true, Value::Null) => "on".into(),
        (true, lost) if lost["acknowledged"] == true => "lost, seen".into(),
        (true, _) => "LOST".into(),
    }
}

fn over(row: &Value) -> String {
    let over = row["over"].as_object().into_iter().flatten();
    let given = over.filter(|(_, value)| value.is_string());
    given.map(|(name, value)| format!("{name} {}", readable(value.as_str().unwrap_or_default()))).collect()
}

fn to(row: &Value) -> String {
    let to = row["to"].as_array().into_iter().flatten();
    let shown: Vec<String> = to
        .map(|to| match to["how"].as_str() {
            Some("at-once") | None => cell(to, "route"),
            Some(how) => format!("{} ({how})", cell(to, "route")),
        })
        .collect();
    if shown.is_empty() { "nobody".into() } else { shown.join(", ") }
}

pub async fn show(context: &Context, id: &str) -> Result<()> {
    let path = format!("/api/v1/watches/{}", encoded(id));
    let Some(watch) = say(context, Method::GET, &path, None).await? else { return Ok(()) };
    let mut rows = vec![
        ("id".to_owned(), cell(&watch, "id")),
        ("name".to_owned(), cell(&watch, "name")),
        ("owner".to_owned(), cell(&watch, "owner")),
        ("state".to_owned(), state(&watch)),
        ("over".to_owned(), over(&watch)),
    ];
    rows.retain(|(_, value)| !value.is_empty());
    rows.extend(conditions(&watch["when"]));
    rows.push(("to".to_owned(), to(&watch)));
    for name in ["quiet", "from"].into_iter().filter(|name| watch[name].is_string()) {
        rows.push((name.to_owned(), cell(&watch, name)));
    }
    rows.push(("made".to_owned(), time(context, &watch, "made")));
    rows.push(("seen up to".to_owned(), cell(&watch, "seen")));
    rows.push(("held for a digest".to_owned(), cell(&watch, "held")));
    rows.push(("waiting".to_owned(), cell(&watch, "waiting")));
    if !watch["lost"].is_null() {
        rows.push((
            "lost".to_owned(),
            format!("{} (since {})", cell(&watch["lost"], "says"), time(context, &watch["lost"], "since")),
        ));
    }
    names_and_values(&mut Sink::stdout(), &rows)
}

/// What the watch asks for, without what it does not.
fn conditions(when: &Value) -> Vec<(String, String)> {
    let looks_for_words = [&when["words"], &when["regex"]].iter().any(|one| one.is_string() || has_items(one));
    let mut rows = Vec::new();
    for (name, value) in when.as_object().into_iter().flatten() {
        match value {
            Value::Null | Value::Bool(false) => {}
            Value::Array(items) if items.is_empty() => {}
            Value::Object(parts) => {
                let given = parts.iter().filter(|(_, value)| !value.is_null());
                let told: Vec<String> = given.map(|(part, _)| format!("{part} {}", cell(value, part))).collect();
                rows.push((format!("when {name}"), told.join(", ")));
            }
            _ if name == "in" && !looks_for_words => {}
            _ => rows.push((format!("when {name}"), cell(when, name))),
        }
    }
    rows
}

fn has_items(value: &Value) -> bool {
    value.as_array().is_some_and(|items| !items.is_empty())
}

pub async fn test(context: &Context, arguments: &TestArguments) -> Result<()> {
    let question = Question::at(&format!("/api/v1/watches/{}/test", encoded(&arguments.id)))
        .with("last", Some(arguments.last))
        .with("event", arguments.event.as_ref());
    let folder = Folder::open(context, false).await?;
    let answer = folder.get(question.text()).await?;
    let mut sink = Sink::stdout();
    if context.json {
        copy(answer, &mut sink).await?;
        return folder.close();
    }
    let mut table = Table::new(&TESTS);
    let mut summary = Value::Null;
    answer
        .each_line(|line| {
            let row: Value = serde_json::from_str(line).or_fail()?;
            if summary.is_null() {
                summary = row;
                return Ok(());
            }
            if arguments.whole {
                sink.line(&format!("--- {}", cell(&row, "delivery")))?;
                let body = row["body"].as_str().unwrap_or_default();
                return body.lines().try_for_each(|line| sink.line(&plain(line)));
            }
            let what = readable(row["line"].as_str().unwrap_or_default());
            table.row(&mut sink, vec![time(context, &row, "seen"), cell(&row, "route"), cell(&row, "url"), what])
        })
        .await?;
    table.end(&mut sink)?;
    sink.flush()?;
    let (matches, covered) = (cell(&summary, "matches"), cell(&summary, "covered"));
    tracing::info!("{matches} of the last {covered} changes would have been told; nothing was sent");
    folder.close()
}

pub async fn deliveries(context: &Context, arguments: &DeliveriesArguments) -> Result<()> {
    let question = Question::at("/api/v1/deliveries")
        .with("watch", arguments.watch.as_ref())
        .with("route", arguments.route.as_ref())
        .with("state", arguments.state.as_ref())
        .with("limit", arguments.limit.or((!context.json).then_some(1_000)));
    printed(context, question, &DELIVERIES, |row| {
        let last = row["latest"].as_array().and_then(|tries| tries.last()).cloned().unwrap_or_default();
        let status = last["status"].as_u64().map_or_else(String::new, |status| status.to_string());
        let answer = if last["taken"] == true {
            status
        } else {
            format!("{status} {}", last["answer"].as_str().unwrap_or_default())
        };
        let line = readable(row["line"].as_str().unwrap_or_default());
        vec![
            time(context, row, "made"),
            cell(row, "id"),
            cell(row, "state"),
            cell(row, "tries"),
            readable(answer.trim()),
            line,
        ]
    })
    .await
}
