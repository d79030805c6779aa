//! `vernal config`

use clap::Args;
use serde::Serialize;

use super::Context;
use super::listing::{Question, cell};
use crate::config::Flags;
use crate::error::{OrFail, Result};
use crate::output::{Column, Sink, Table};
use crate::runtime::folder::{self, Folder};
use crate::runtime::live::Until;
use crate::runtime::parts;

#[derive(Args)]
pub struct Arguments {
    /// What is in force for this URL: the wishes of the seed that covers it, and what its site asks for
    #[arg(long = "for", value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    pub flags: Flags,
}

#[derive(Serialize)]
struct Row {
    name: String,
    value: serde_json::Value,
    source: String,
}

pub fn config(context: &Context, arguments: &Arguments) -> Result<()> {
    parts::crawler_settings(&context.settings, Until::default())?;
    let mut rows = rows(context);
    if let Some(url) = &arguments.url {
        let url = vernal_model::Url::parse(url).or_usage()?;
        if folder::exists(&context.settings.data) {
            context.block_on(narrow(context, &url, &mut rows))?;
        }
    }
    print(context, rows)
}

fn rows(context: &Context) -> Vec<Row> {
    let row = |given: &crate::config::Given| Row {
        name: given.setting.key(),
        value: match given.values.as_slice() {
            [] => serde_json::Value::Null,
            [one] => one.clone().into(),
            many => many.to_vec().into(),
        },
        source: given.source.to_string(),
    };
    context.in_force.all.iter().map(row).collect()
}

/// Puts the wishes of the seed that covers a URL, and its site's own delay, in place of the settings.
async fn narrow(context: &Context, url: &vernal_model::Url, rows: &mut [Row]) -> Result<()> {
    let folder = Folder::open(context, false).await?;
    let check = folder.get(Question::at("/api/v1/check").with("url", Some(url)).text()).await?.json().await?;
    let mut put = |name: &str, value: String, source: &str| {
        for row in rows.iter_mut().filter(|row| row.name == name) {
            row.value = value.clone().into();
            row.source = source.to_owned();
        }
    };
    if let Some(seed) = check["seed"].as_str() {
        let source = format!("seed {seed}");
        folder
            .get("/api/v1/seeds")
            .await?
            .each_line(|line| {
                let row: serde_json::Value = serde_json::from_str(line).or_fail()?;
                if row["url"] == seed {
                    put("scope", cell(&row, "scope"), &source);
                    if !row["depth"].is_null() {
                        put("depth", cell(&row, "depth"), &source);
                    }
                }
                Ok(())
            })
            .await?;
    }
    if let Some(secs) = check["crawl_delay_secs"].as_f64() {
        put("delay", format!("{secs}s"), "robots.txt");
    }
    folder.close()
}

fn print(context: &Context, rows: Vec<Row>) -> Result<()> {
    let mut sink = Sink::stdout();
    if context.json {
        for row in &rows {
            sink.line(&serde_json::to_string(row).or_fail()?)?;
        }
        return sink.flush();
    }
    let mut table = Table::new(&[Column::left("setting"), Column::left("value"), Column::left("source")]);
    for row in rows {
        table.row(&mut sink, vec![row.name, super::listing::shown(&row.value), row.source])?;
    }
    table.end(&mut sink)
}
