//! `vernal noise list|show|add|allow|forget`

use axum::http::Method;
use clap::{Args, Subcommand};
use serde_json::Value;

use super::Context;
use super::printed_list::{Question, cell, copy, list, names_and_values, time, value_of};
use crate::error::Result;
use crate::output::{Column, Sink, quoted, sides};
use crate::runtime::folder::Folder;

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(Subcommand)]
enum Act {
    /// What was learned or said to be noise
    List {
        /// Only rules of this site
        #[arg(long)]
        site: Option<String>,
        /// Only rules of this standing: suspected, learned, added, allowed, turned or content
        #[arg(long)]
        standing: Option<String>,
        /// Show at most N
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// One rule, with its evidence
    Show { site: String, id: u32 },
    /// Declare that something is noise
    Add(Add),
    /// Declare a rule wrong: what it suppresses has a meaning
    Allow {
        site: String,
        id: u32,
        /// Why, for those who read it later
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Delete a rule with its evidence; it may be learned again
    Forget { site: String, id: u32 },
}

#[derive(Args)]
struct Add {
    site: String,
    /// A paragraph with wildcards: # a number, @ a word of time, ~ a token, * a word, ** up to six words
    #[arg(long, value_name = "TEXT", required_unless_present = "kind", conflicts_with = "kind")]
    words: Option<String>,
    /// A kind of change: structure, presentation or behaviour
    #[arg(long, requires = "note")]
    kind: Option<String>,
    /// What of that kind, as notes name it, such as `script source`; may be repeated
    #[arg(long, value_name = "WHAT", requires = "kind")]
    note: Vec<String>,
    /// Only on this page of the site
    #[arg(long, value_name = "URL")]
    page: Option<String>,
    /// Why, for those who read it later
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

const COLUMNS: [Column; 8] = [
    Column::left("site"),
    Column::right("id"),
    Column::left("standing"),
    Column::left("on"),
    Column::right("differed").optional(),
    Column::right("pages").optional(),
    Column::left("since").optional(),
    Column::left("what"),
];

/// What a row shows of a rule.
const WHAT_LETTERS_MAX: usize = 100;

pub async fn noise(context: &Context, arguments: Arguments) -> Result<()> {
    let word = |word: &str, site: &str| Question::at("/api/v1/noise").with("site", Some(site)).with("word", Some(word));
    match arguments.act {
        Act::List { site, standing, limit } => {
            let question =
                Question::at("/api/v1/noise").with("site", site).with("standing", standing).with("limit", limit);
            list(context, question, &COLUMNS, |rule| row(context, rule)).await
        }
        Act::Show { site, id } => show(context, &site, id).await,
        Act::Add(add) => {
            let notes = (!add.note.is_empty()).then(|| add.note.join(","));
            let question = word("add", &add.site)
                .with("words", add.words)
                .with("kind", add.kind)
                .with("notes", notes)
                .with("page", add.page)
                .with("reason", add.reason);
            send_decision(context, question, "added").await
        }
        Act::Allow { site, id, reason } => {
            send_decision(context, word("allow", &site).with("id", Some(id)).with("reason", reason), "allowed").await
        }
        Act::Forget { site, id } => send_decision(context, word("forget", &site).with("id", Some(id)), "forgot").await,
    }
}

fn row(context: &Context, rule: &Value) -> Vec<String> {
    vec![
        cell(rule, "site"),
        cell(rule, "id"),
        cell(rule, "standing"),
        cell(rule, "on"),
        format!("{} of {}", cell(rule, "differed"), cell(rule, "compared")),
        cell(rule, "pages"),
        time(context, rule, "since"),
        quoted(&cell(rule, "what"), WHAT_LETTERS_MAX),
    ]
}

async fn show(context: &Context, site: &str, id: u32) -> Result<()> {
    let question = Question::at("/api/v1/noise").with("site", Some(site)).with("id", Some(id));
    let Some(rule) = value_of(context, question).await? else { return Ok(()) };
    names_and_values(&mut Sink::stdout(), &rule_rows(context, &rule))
}

fn rule_rows(context: &Context, rule: &Value) -> Vec<(String, String)> {
    let row = |name: &str, value: String| (name.to_owned(), value);
    let on = match (rule["page"].as_str(), rule["template"].as_str()) {
        (Some(page), _) => format!("the page {page}"),
        (_, Some(template)) => format!("pages of template {template}"),
        _ => "the whole site".into(),
    };
    let evidence = format!(
        "differed in {} of {} comparisons, on {} pages; {} in a row without a difference",
        cell(rule, "differed"),
        cell(rule, "compared"),
        cell(rule, "pages"),
        cell(rule, "quiet")
    );
    let mut rows = vec![
        row("rule", format!("{} of {}", cell(rule, "id"), cell(rule, "site"))),
        row("what", format!("{}: {}", cell(rule, "rule"), cell(rule, "what"))),
        row("on", on),
        row("standing", cell(rule, "standing")),
        row("since", time(context, rule, "since")),
        row("last", time(context, rule, "last")),
        row("evidence", evidence),
        row("text", text_of(rule)),
        row("looks", looks(context, rule)),
    ];
    let sample = (rule["before"].as_str().unwrap_or_default(), rule["after"].as_str().unwrap_or_default());
    if sample != ("", "") {
        rows.push(row("sample", sides(Some(sample.0), Some(sample.1))));
    }
    rows.push(row("reason", cell(rule, "reason")));
    rows
}

/// What kind of text varies.
fn text_of(rule: &Value) -> String {
    match rule["class"].as_str() {
        Some("frame") => "frame: menus, footers, and what is no text".into(),
        Some("figure") => "figure: a number beside a unit, a currency or a date".into(),
        _ => "main text".into(),
    }
}

/// The looks minutes after another visit, which decide about main text.
fn looks(context: &Context, rule: &Value) -> String {
    let looks = &rule["looks"];
    if looks["made"] == 0 {
        return "none".into();
    }
    let mut text = format!("differed at {} of {}", cell(looks, "differed"), cell(looks, "made"));
    for (place, look) in looks["latest"].as_array().into_iter().flatten().enumerate() {
        let found = if look["differed"] == true { "different" } else { "same" };
        text.push_str(if place == 0 { ": " } else { ", " });
        text.push_str(&format!("{found} {}", time(context, look, "at")));
    }
    text
}

async fn send_decision(context: &Context, question: Question, done: &str) -> Result<()> {
    let folder = Folder::open(context, false).await?;
    let answer = folder.ask(Method::POST, question.text(), String::new()).await?;
    if context.json {
        copy(answer, &mut Sink::stdout()).await?;
    } else {
        let ruled = answer.json().await?;
        tracing::info!("{done} rule {} of {}", cell(&ruled, "id"), cell(&ruled, "site"));
    }
    folder.close()
}
