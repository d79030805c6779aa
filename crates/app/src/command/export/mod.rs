//! `vernal export warc|wacz|cdxj|parquet|jsonl|markdown|trace`
//!
//! - `question`: what is asked of the API. `transfer`: an answer on its way, with progress.
//! - `file`: one file, written beside its place and renamed. `segments`: WARC into a folder, a file per segment.
//! - `follow`: lines that are appended as they come. `markdown`, `parquet`: folders that are kept up to date.

mod file;
mod follow;
mod markdown;
mod parquet;
mod place;
mod question;
mod segments;
mod transfer;

use std::path::Path;

use clap::{Args, ValueEnum};

use super::{Context, trace};
use crate::error::{Error, Result};
use crate::output::Sink;
use crate::runtime::folder::Folder;

#[derive(Args)]
pub struct Arguments {
    format: Format,
    /// A file to write to; - is standard output, and a path that ends with a slash is a folder
    #[arg(long, value_name = "PATH")]
    out: String,
    /// Only pages of this site
    #[arg(long)]
    site: Option<String>,
    /// Only pages that a seed with this tag covers
    #[arg(long)]
    tag: Option<String>,
    /// Only pages whose URL begins so
    #[arg(long, value_name = "URL")]
    prefix: Option<String>,
    /// Only what changed since this state: a cursor, or a time (RFC 3339, a date, an age such as 7d, 14 digits)
    #[arg(long, value_name = "CURSOR|TIME")]
    since: Option<String>,
    /// The state that was held at this time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Go on writing what changes, as it changes (jsonl, markdown)
    #[arg(long, conflicts_with = "at")]
    follow: bool,
    /// Seconds in which changes are gathered before they are written (with --follow) [default: 2]
    #[arg(long, value_name = "SECONDS", requires = "follow")]
    every: Option<u64>,
    /// What a line is about (jsonl) [default: paragraph]
    #[arg(long)]
    unit: Option<Unit>,
    /// One table as one file, instead of a folder with all (parquet)
    #[arg(long)]
    table: Option<Table>,
    /// Also the table of all visits (parquet)
    #[arg(long)]
    with_visits: bool,
    /// Everything on a page, and not its main content alone (markdown)
    #[arg(long)]
    all: bool,
    /// The ids of paragraphs behind them (markdown)
    #[arg(long)]
    ids: bool,
    /// Also the words of the pages (wacz)
    #[arg(long)]
    text: bool,
    /// Also the text of pages that ask not to be indexed (jsonl, markdown, parquet, wacz)
    #[arg(long)]
    with_noindex: bool,
    /// The index (cdxj) of the one file that `export warc --out FILE` writes, instead of a file per segment
    #[arg(long, value_name = "FILE")]
    warc: Option<String>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// WARC 1.1 records, byte for byte
    Warc,
    /// Records, index and pages in one file, for ReplayWeb.page and pywb
    Wacz,
    /// The index that replay tools read, of the files that `export warc` writes into a folder
    Cdxj,
    /// Tables for databases and data frames, in a folder
    Parquet,
    /// A line for each paragraph or page, and after it only what changed
    Jsonl,
    /// A file for each page, in a folder that the next export brings up to date; a tar if the path is a file
    Markdown,
    /// When pages changed, for `lab replay`: gzipped CSV if the path ends so, with a head file beside it
    Trace,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
enum Unit {
    Paragraph,
    Page,
    /// The change feed, as `vernal changes --json` gives it
    Event,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
enum Table {
    Pages,
    Versions,
    Paragraphs,
    Events,
    Visits,
}

/// What was written, for `--json` and for the line at the end.
struct Exported {
    cursor: String,
    out: String,
    /// What the export says of itself, where it does.
    told: serde_json::Value,
}

/// What lies in a folder that was named for one file.
const INDEX_FILE: &str = "index.cdxj";
const TRACE_FILE: &str = "trace.csv.gz";
const LINES_FILE: &str = "export.jsonl";
const WACZ_FILE: &str = "export.wacz";

impl Format {
    fn name(self) -> &'static str {
        match self {
            Format::Warc => "warc",
            Format::Wacz => "wacz",
            Format::Cdxj => "cdxj",
            Format::Parquet => "parquet",
            Format::Jsonl => "jsonl",
            Format::Markdown => "markdown",
            Format::Trace => "trace",
        }
    }
}

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
        Format::Markdown if is_folder => markdown::export(context, folder, arguments).await,
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
