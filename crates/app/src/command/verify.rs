//! `vernal verify`

use clap::Args;
use serde_json::Value;

use super::Context;
use super::listing::{bytes, cell, names_and_values};
use crate::error::{Error, OrFail, Result};
use crate::output::Sink;
use crate::runtime::folder::Folder;

#[derive(Args)]
pub struct Arguments {
    /// Also apply the whole journal to an empty store and compare every row; a journal below 64 MiB is always compared.
    /// It takes the disk that the tables take once more, and a stopped crawl
    #[arg(long)]
    deep: bool,
}

pub async fn verify(context: &Context, arguments: &Arguments) -> Result<()> {
    let folder = Folder::open(context, false).await?;
    let answer = folder.get(&format!("/api/v1/verify?deep={}", arguments.deep)).await?;
    let mut verdict = Value::Null;
    answer
        .each_line(|line| {
            let value: Value = serde_json::from_str(line).or_fail()?;
            match value.get("progress") {
                Some(progress) => show_progress(context, progress),
                None => verdict = value,
            }
            Ok(())
        })
        .await?;
    folder.close()?;
    tell(context, &verdict)?;
    if verdict["sound"] == true { Ok(()) } else { Err(Error::failed(complaint(&verdict))) }
}

fn show_progress(context: &Context, progress: &Value) {
    let part = progress["part"].as_str().unwrap_or_default();
    let line = format!("{part}: {} of {}", bytes(progress, "done_bytes"), bytes(progress, "total_bytes"));
    if context.log.progress_is_live() {
        context.log.progress(&line);
    } else {
        context.log.info(line);
    }
}

fn tell(context: &Context, verdict: &Value) -> Result<()> {
    let mut sink = Sink::stdout();
    if context.json {
        sink.line(&verdict.to_string())?;
        return sink.flush();
    }
    let names = [
        "segments",
        "records",
        "responses",
        "revisits",
        "segment_faults",
        "journal_files",
        "journal_frames",
        "journal_deeds",
        "journal_faults",
        "pages",
        "versions",
        "tables_compared",
        "table_faults",
        "visits",
        "politeness_breaches",
    ];
    let rows: Vec<(String, String)> = names.iter().map(|name| (name.replace('_', " "), cell(verdict, name))).collect();
    names_and_values(&mut sink, &rows)?;
    for fault in verdict["faults"].as_array().into_iter().flatten() {
        context.log.error(fault.as_str().unwrap_or_default());
    }
    Ok(())
}

fn complaint(verdict: &Value) -> String {
    let count = |name: &str| verdict[name].as_u64().unwrap_or(0);
    format!(
        "{} faults in segments, {} in the journal, {} in tables, {} breaches of politeness",
        count("segment_faults"),
        count("journal_faults"),
        count("table_faults"),
        count("politeness_breaches")
    )
}
