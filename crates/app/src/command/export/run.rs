//! Chooses how a format is written, and says what was written.

use std::path::Path;

use super::arguments::{Arguments, Format};
use super::{file, follow, markdown, parquet, place, question, segments};
use crate::command::{Context, trace};
use crate::error::{Error, Result};
use crate::output::Sink;
use crate::runtime::folder::Folder;

/// What was written, for `--json` and for the line at the end.
pub struct Exported {
    pub cursor: String,
    pub out: String,
    /// What the export says of itself, where it does.
    pub told: serde_json::Value,
}

/// What lies in a folder that was named for one file.
const INDEX_FILE: &str = "index.cdxj";
const TRACE_FILE: &str = "trace.csv.gz";
pub const LINES_FILE: &str = "export.jsonl";
const WACZ_FILE: &str = "export.wacz";

pub async fn export(context: &Context, arguments: &Arguments) -> Result<()> {
    question::check(arguments)?;
    let folder = Folder::open(context, false).await?;
    let exported = exported(context, &folder, arguments).await;
    folder.close()?;
    let Exported { cursor, out, told } = exported?;
    if context.json && out != "-" {
        let mut shown = serde_json::json!({ "cursor": cursor, "out": out });
        if let (Some(shown), serde_json::Value::Object(told)) = (shown.as_object_mut(), told) {
            told.into_iter().filter(|(name, _)| name != "op").for_each(|(name, value)| {
                shown.entry(name).or_insert(value);
            });
        }
        let mut sink = Sink::stdout();
        sink.line(&shown.to_string())?;
        return sink.flush();
    }
    let shown = if out == "-" { "standard output" } else { &out };
    tracing::info!("exported to {shown}, consistent with cursor {cursor}");
    Ok(())
}

async fn exported(context: &Context, folder: &Folder, arguments: &Arguments) -> Result<Exported> {
    let out = arguments.out.as_str();
    let is_folder = out != "-" && (out.ends_with('/') || Path::new(out).is_dir());
    match arguments.format {
        Format::Trace => {
            let status = folder.get("/api/v1/status").await?.json().await?;
            let cursor = status["cursor"].as_str().unwrap_or_default().to_owned();
            let out = place::file_of(out, TRACE_FILE)?;
            let rows = trace::export(folder, &out, &cursor).await?;
            Ok(Exported { cursor, out, told: serde_json::json!({ "records": rows }) })
        }
        Format::Warc if is_folder => segments::export(context, folder, arguments).await,
        Format::Markdown if arguments.git && (out == "-" || Path::new(out).is_file()) => {
            Err(Error::usage("--git is for a folder, which becomes a repository"))
        }
        Format::Markdown if is_folder || arguments.git => markdown::export(context, folder, arguments).await,
        Format::Parquet if arguments.table.is_none() => {
            if out == "-" || Path::new(out).is_file() {
                return Err(Error::usage("parquet is written into a folder, or give one --table"));
            }
            parquet::export(context, folder, arguments).await
        }
        Format::Jsonl if arguments.follow => follow::export(context, folder, arguments).await,
        format => {
            let name = match format {
                Format::Cdxj => INDEX_FILE,
                Format::Wacz => WACZ_FILE,
                _ => LINES_FILE,
            };
            let out = place::file_of(out, name)?;
            file::export(context, folder, arguments, &out).await
        }
    }
}
