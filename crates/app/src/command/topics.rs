//! `vernal topics [WORD]`

use clap::Args;
use serde_json::Value;

use super::Context;
use super::printed_list::{Question, cell, list, list_or, time};
use crate::error::Result;
use crate::output::Column;

#[derive(Args)]
pub struct Arguments {
    /// The pages of this topic, the one with the best reputation first
    word: Option<String>,
    /// Show at most N
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

const TOPICS: [Column; 4] =
    [Column::left("topic"), Column::right("pages"), Column::right("changes a day"), Column::left("words beside it")];
const PAGES: [Column; 5] = [
    Column::right("reputation").optional(),
    Column::right("changes"),
    Column::right("visits").optional(),
    Column::left("last visit").optional(),
    Column::address("url"),
];

pub async fn topics(context: &Context, arguments: &Arguments) -> Result<()> {
    let question = Question::at("/api/v1/topics").with("word", arguments.word.as_ref()).with("limit", arguments.limit);
    if arguments.word.is_some() {
        return list(context, question, &PAGES, |row| {
            let reputation = places(row, "reputation");
            vec![
                reputation,
                cell(row, "changes"),
                cell(row, "visits"),
                time(context, row, "last_visit"),
                cell(row, "url"),
            ]
        })
        .await;
    }
    let row =
        |row: &Value| vec![cell(row, "topic"), cell(row, "pages"), places(row, "change_rate"), cell(row, "words")];
    let why_none = Question::at("/api/v1/topics").when("why", true);
    list_or(context, question, &TOPICS, row, Some(why_none)).await
}

/// A small number with enough places to tell it from others.
fn places(row: &Value, name: &str) -> String {
    row[name].as_f64().map_or_else(|| "-".into(), |number| format!("{number:.4}"))
}
