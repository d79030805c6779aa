//! `vernal config`

use clap::Args;
use vernal_api::SettingRow;

use super::Context;
use super::printed_list::{Question, cell};
use crate::config::Flags;
use crate::error::{OrFail, Result};
use crate::output::{Column, Sink, Table};
use crate::runtime::folder::{self, Folder};
use crate::runtime::live::Until;
use crate::runtime::parts;

#[derive(Args)]
pub struct Arguments {
    /// The settings for this URL: those of the seed that covers it, and what its site asks for
    #[arg(long = "for", value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    pub flags: Flags,
}

pub async fn config(context: &Context, arguments: &Arguments) -> Result<()> {
    parts::crawler_settings(&context.settings, Until::default())?;
    let mut rows = rows(context, arguments).await?;
    if let Some(url) = &arguments.url {
        let url = crate::seeds::url(url).or_usage()?;
        if folder::exists(&context.settings.data) {
            narrow(context, &url, &mut rows).await?;
        }
    }
    print(context, rows)
}

/// The settings of the crawl that runs in the folder. Where none runs, or flags ask what they would do, those that a
/// run would begin with.
async fn rows(context: &Context, arguments: &Arguments) -> Result<Vec<SettingRow>> {
    let running = if arguments.flags.given.is_empty() { Folder::running(context).await } else { None };
    let Some(folder) = running else { return Ok(context.in_force.rows()) };
    tracing::info!("a crawl runs in {}: these are its settings", context.settings.data.display());
    let mut rows = Vec::new();
    let answer = folder.get("/api/v1/settings").await?;
    answer
        .each_line(|line| {
            rows.push(serde_json::from_str(line).or_fail()?);
            Ok(())
        })
        .await?;
    Ok(rows)
}

/// Puts what the seed that covers a URL says, and its site's own delay, in place of the settings.
async fn narrow(context: &Context, url: &vernal_model::Url, rows: &mut [SettingRow]) -> Result<()> {
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

fn print(context: &Context, rows: Vec<SettingRow>) -> Result<()> {
    let mut sink = Sink::stdout();
    if context.json {
        for row in &rows {
            sink.line(&serde_json::to_string(row).or_fail()?)?;
        }
        return sink.flush();
    }
    let mut table = Table::new(&[Column::left("setting"), Column::left("value"), Column::left("source")]);
    for row in rows {
        table.row(&mut sink, vec![row.name, super::printed_list::shown(&row.value), row.source])?;
    }
    table.end(&mut sink)
}
