//! `vernal names list|join|part|forget`

use axum::http::Method;
use clap::{Args, Subcommand};
use serde_json::Value;

use super::Context;
use super::printed_list::{Question, cell, copy, list, time};
use crate::error::Result;
use crate::output::{Column, Sink};
use crate::runtime::folder::Folder;

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(Subcommand)]
enum Act {
    /// The pages that are second names of others, and what people said of names
    List {
        /// Only pages of this site
        #[arg(long)]
        site: Option<String>,
        /// Show at most N
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Declare that SECOND is another name of FIRST, whatever they contain
    Join(Pair),
    /// Declare that these are two pages, whatever they contain
    Part(Pair),
    /// Take back what was declared of these two pages: their contents and addresses decide again
    Forget(Pair),
}

#[derive(Args)]
struct Pair {
    first: String,
    second: String,
    /// Why, for those who read it later
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

const COLUMNS: [Column; 5] = [
    Column::left("why"),
    Column::left("since").optional(),
    Column::address("url"),
    Column::address("same as"),
    Column::left("apart from"),
];

pub async fn names(context: &Context, arguments: Arguments) -> Result<()> {
    match arguments.act {
        Act::List { site, limit } => {
            let question = Question::at("/api/v1/names").with("site", site).with("limit", limit);
            list(context, question, &COLUMNS, |name| row(context, name)).await
        }
        Act::Join(pair) => say(context, "join", pair).await,
        Act::Part(pair) => say(context, "part", pair).await,
        Act::Forget(pair) => say(context, "forget", pair).await,
    }
}

fn row(context: &Context, name: &Value) -> Vec<String> {
    let why = match name["in_force"] == true {
        true => cell(name, "why"),
        false => format!("{}, waits for both", cell(name, "why")),
    };
    vec![why, time(context, name, "since"), cell(name, "url"), cell(name, "same_as"), cell(name, "apart_from")]
}

async fn say(context: &Context, word: &str, pair: Pair) -> Result<()> {
    let question = Question::at("/api/v1/names")
        .with("word", Some(word))
        .with("url", Some(pair.first))
        .with("other", Some(pair.second))
        .with("reason", pair.reason);
    let folder = Folder::open(context, false).await?;
    let answer = folder.ask(Method::POST, question.text(), String::new()).await?;
    if context.json {
        copy(answer, &mut Sink::stdout()).await?;
    } else {
        let said = answer.json().await?;
        let other = cell(&said, "other");
        match said["same_as"].is_null() {
            true => tracing::info!("{other} stands on its own"),
            false => tracing::info!("{other} is a second name of {}", cell(&said, "same_as")),
        }
    }
    folder.close()
}
