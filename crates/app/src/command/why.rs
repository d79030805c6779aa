//! `vernal why URL`

use clap::Args;

use super::Context;
use super::printed_list::{Question, cell, show};
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
        for reason in why["reasons"].as_array().into_iter().flatten() {
            let value = context.time.within(&cell(reason, "value"));
            put(&mut rows, cell(reason, "name"), value);
        }
        rows
    })
    .await
}

/// A reason that the policy gives replaces the crawler's reason of the same name: it says more.
fn put(rows: &mut Vec<(String, String)>, name: String, value: String) {
    match rows.iter_mut().find(|(known, _)| *known == name) {
        Some(row) => row.1 = value,
        None => rows.push((name, value)),
    }
}
