//! `vernal links URL`

use clap::Args;

use super::Context;
use super::printed_list::{Question, cell, list};
use crate::error::Result;
use crate::output::Column;

#[derive(Args)]
pub struct Arguments {
    url: String,
    /// Links into the page instead of out of it
    #[arg(long)]
    back: bool,
    /// Show at most N
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

const FORWARD: [Column; 5] = [
    Column::left("kind"),
    Column::left("state"),
    Column::left("rel").optional(),
    Column::address("target"),
    Column::left("anchor"),
];
const BACK: [Column; 5] = [
    Column::left("kind"),
    Column::left("state"),
    Column::left("rel").optional(),
    Column::address("source"),
    Column::left("anchor"),
];

pub async fn links(context: &Context, arguments: &Arguments) -> Result<()> {
    let question = Question::at("/api/v1/links")
        .with("url", Some(&arguments.url))
        .with("limit", arguments.limit)
        .when("back", arguments.back);
    if arguments.back {
        let names = ["kind", "state", "rel", "source", "anchor"];
        return list(context, question, &BACK, |row| names.map(|name| cell(row, name)).into()).await;
    }
    let names = ["kind", "state", "rel", "target", "anchor"];
    list(context, question, &FORWARD, |row| names.map(|name| cell(row, name)).into()).await
}
