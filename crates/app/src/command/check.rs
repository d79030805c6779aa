//! `vernal check URL`

use clap::Args;

use super::Context;
use super::listing::{Question, cell, show, time};
use crate::config::Flags;
use crate::error::Result;

#[derive(Args)]
pub struct Arguments {
    url: String,
    #[command(flatten)]
    pub flags: Flags,
}

pub async fn check(context: &Context, arguments: &Arguments) -> Result<()> {
    let question = Question::at("/api/v1/check").with("url", Some(&arguments.url));
    show(context, question, |check| {
        let names = [
            "url",
            "in_scope",
            "seed",
            "robots",
            "crawl_delay_secs",
            "guard",
            "trap",
            "state",
            "site",
            "site_standing",
        ];
        let mut rows: Vec<(String, String)> =
            names.iter().map(|name| (name.replace('_', " "), cell(check, name))).collect();
        rows.push(("next slot".into(), time(context, check, "next_slot")));
        rows
    })
    .await
}
