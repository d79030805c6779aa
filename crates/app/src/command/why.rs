//! `vernal why URL`

use clap::Args;

use super::Context;
use super::listing::{Question, cell, show};
use crate::config::Flags;
use crate::error::Result;

#[derive(Args)]
pub struct Arguments {
    url: String,
    #[command(flatten)]
    pub flags: Flags,
}

pub async fn why(context: &Context, arguments: &Arguments) -> Result<()> {
    let question = Question::at("/api/v1/why").with("url", Some(&arguments.url));
    show(context, question, |why| {
        let mut rows = vec![("url".to_owned(), cell(why, "url")), ("policy".to_owned(), cell(why, "policy"))];
        let reasons = why["reasons"].as_array().into_iter().flatten();
        rows.extend(reasons.map(|reason| (cell(reason, "name"), cell(reason, "value"))));
        rows
    })
    .await
}
