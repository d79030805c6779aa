//! `vernal check URL`

use clap::Args;

use super::Context;
use super::printed_list::{Question, cell, robots_visit, show, time};
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
        if check["robots_stale"] == true {
            let read = time(context, check, "robots_read");
            rows.push(("robots copy".into(), format!("of {read}: later requests for the file failed")));
        }
        if check["robots_visit"].is_object() {
            rows.push(("robots.txt".into(), robots_visit(context, check)));
        }
        if !check["trouble"].is_null() {
            rows.push(("trouble".into(), cell(check, "trouble")));
        }
        rows
    })
    .await
}
