//! `vernal verify [--deep] [--repair]`

use clap::Args;
use serde_json::{Value, json};
use vernal_repository::{bodies, verify_journal};

use super::printed_list::{bytes, cell, names_and_values};
use super::{Context, repair};
use crate::error::{Error, OrFail, Result};
use crate::output::Sink;
use crate::runtime::folder::{Folder, exists};

#[derive(Args)]
pub struct Arguments {
    /// Also apply the whole journal to an empty store and compare every row; a journal below 64 MiB is always compared.
    /// This needs a stopped crawl, and as much free disk as the tables take
    #[arg(long)]
    deep: bool,
    /// First repair: rebuild tables from the journal, or a damaged journal from the tables, or everything from the segments
    /// where neither can be read; then check. The damaged files are moved to DIR/damaged-…, and what is lost is listed
    #[arg(long)]
    repair: bool,
}

pub async fn verify(context: &Context, arguments: &Arguments) -> Result<()> {
    let repaired = match arguments.repair {
        true => Some(repair::repair(context).await?),
        false => None,
    };
    if let Some(repaired) = repaired.as_ref().filter(|_| !context.json) {
        print_repair(repaired)?;
    }
    let folder = match Folder::open(context, false).await {
        Ok(folder) => folder,
        Err(error) => return files_alone(context, error),
    };
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
    if let Some(repaired) = repaired {
        verdict["repair"] = repaired;
    }
    if arguments.deep && verdict["tables_compared"] == false {
        tracing::warn!("the tables were not held against the journal: that needs a stopped crawl and a sound journal");
    }
    print_verdict(context, &verdict)?;
    if verdict["sound"] == true { Ok(()) } else { Err(Error::failed(complaint(&verdict))) }
}

/// Where the repository does not open, its files are checked one by one, so that one run names every fault.
fn files_alone(context: &Context, error: Error) -> Result<()> {
    let dir = &context.settings.data;
    let Some(line) = error.line().map(str::to_owned).filter(|_| exists(dir)) else { return Err(error) };
    let segments = bodies::verify(dir, &mut |_, _| {}).or_fail()?;
    let journal = verify_journal(dir, &mut |_, _| {}).or_fail()?;
    let faults: Vec<String> =
        segments.faults.iter().map(ToString::to_string).chain(journal.faults.iter().cloned()).collect();
    let verdict = json!({
        "sound": false,
        "segments": segments.segments,
        "records": segments.records,
        "responses": segments.responses,
        "revisits": segments.revisits,
        "segment_faults": segments.faults_total,
        "journal_files": journal.files,
        "journal_frames": journal.frames,
        "journal_deeds": journal.deeds,
        "journal_begins_after": journal.begins_after,
        "journal_faults": journal.faults_total,
        "tables_compared": false,
        "faults": faults,
    });
    print_verdict(context, &verdict)?;
    let hint = if line.contains("--repair") { "" } else { "; `vernal verify --repair` restores what can be restored" };
    Err(Error::failed(format!("{line}{hint}")))
}

fn print_repair(repaired: &Value) -> Result<()> {
    if repaired["runs"].is_string() {
        tracing::info!("the book of runs was lost and is begun anew: the politeness of earlier visits is not judged");
    }
    for line in repaired["lost_bodies"].as_array().into_iter().flatten() {
        tracing::warn!("the body is lost, and its page is asked for again: {}", line.as_str().unwrap_or_default());
    }
    match repaired["done"].as_str() {
        Some("restored") => {}
        Some("mended") => {
            let line = format!(
                "the journal was mended: {} deeds were read from it, and the tables had what {} lost ones did; the damaged \
                 journal is in {}",
                cell(repaired, "deeds_from_journal"),
                cell(repaired, "deeds_from_tables"),
                cell(repaired, "aside"),
            );
            tracing::info!("{line}");
            return Ok(());
        }
        Some("tables") => {
            let why = repaired["why"].as_str().unwrap_or_default();
            tracing::info!("the tables were made anew from the journal: {why}");
            return Ok(());
        }
        _ => {
            tracing::info!("nothing to repair");
            return Ok(());
        }
    }
    let names = ["pages", "versions", "visits", "robots", "links_found", "seeds_saved", "records_lost", "aside"];
    let rows: Vec<(String, String)> =
        names.iter().map(|name| (format!("restored {}", name.replace('_', " ")), cell(repaired, name))).collect();
    let mut sink = Sink::stdout();
    names_and_values(&mut sink, &rows)?;
    sink.flush()?;
    for line in repaired["lost"].as_array().into_iter().flatten() {
        tracing::warn!("not restored: {}", line.as_str().unwrap_or_default());
    }
    Ok(())
}

fn show_progress(context: &Context, progress: &Value) {
    let part = progress["part"].as_str().unwrap_or_default();
    let line = format!("{part}: {} of {}", bytes(progress, "done_bytes"), bytes(progress, "total_bytes"));
    if context.log.progress_is_live() {
        context.log.progress(&line);
    } else {
        tracing::info!("{line}");
    }
}

fn print_verdict(context: &Context, verdict: &Value) -> Result<()> {
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
        "journal_begins_after",
        "journal_faults",
        "pages",
        "versions",
        "versions_lost",
        "tables_compared",
        "table_faults",
        "visits",
        "visits_unjudged",
        "politeness_breaches",
    ];
    let rows: Vec<(String, String)> = names.iter().map(|name| (name.replace('_', " "), cell(verdict, name))).collect();
    names_and_values(&mut sink, &rows)?;
    for fault in verdict["faults"].as_array().into_iter().flatten() {
        tracing::error!("{}", fault.as_str().unwrap_or_default());
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
