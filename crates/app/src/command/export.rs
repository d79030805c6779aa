//! `vernal export warc|cdxj|trace`

use std::path::Path;

use clap::{Args, ValueEnum};
use vernal_model::Site;
use vernal_repository::Record;
use vernal_repository::archive::{self, ExportTo, IndexOf};

use super::{Context, trace};
use crate::error::{Error, OrFail, Result};
use crate::output::Sink;
use crate::runtime::folder::Folder;

/// The files that an export into a folder makes.
const INDEX_FILE: &str = "index.cdxj";
const TRACE_FILE: &str = "trace.csv.gz";

#[derive(Args)]
pub struct Arguments {
    format: Format,
    /// A file to write to; - is standard output, and a path that ends with a slash is a folder
    #[arg(long, value_name = "PATH")]
    out: String,
    /// Only records of this site (warc, cdxj)
    #[arg(long)]
    site: Option<String>,
    /// The index (cdxj) of the one file that `export warc --out FILE` writes, instead of a file per segment
    #[arg(long, value_name = "FILE")]
    warc: Option<String>,
}

#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
enum Format {
    /// WARC 1.1 records, byte for byte
    Warc,
    /// The index that replay tools read, of the files that `export warc` writes into a folder
    Cdxj,
    /// When pages changed, for `lab replay`: gzipped CSV if the path ends so, with a head file beside it
    Trace,
}

/// Segments are only ever appended to, so that an export reads them beside a running crawl; the cursor it names is asked
/// for first, and everything up to it is in the export.
pub async fn export(context: &Context, arguments: &Arguments) -> Result<()> {
    match arguments.format {
        Format::Trace if arguments.site.is_some() => return Err(Error::usage("--site is for warc and cdxj")),
        Format::Warc | Format::Trace if arguments.warc.is_some() => return Err(Error::usage("--warc is for cdxj")),
        _ => {}
    }
    let folder = Folder::open(context, false).await?;
    let status = folder.get("/api/v1/status").await?.json().await?;
    let cursor = status["cursor"].as_str().unwrap_or_default().to_owned();
    let out = match arguments.format {
        Format::Warc => arguments.out.clone(),
        Format::Cdxj => file_of(&arguments.out, INDEX_FILE)?,
        Format::Trace => file_of(&arguments.out, TRACE_FILE)?,
    };
    let exported = match arguments.format {
        Format::Warc => warc(context, arguments),
        Format::Cdxj => cdxj(context, arguments, &out),
        Format::Trace => trace::export(&folder, &out, &cursor).await,
    };
    folder.close()?;
    let told = exported?;
    if context.json && out != "-" {
        let mut sink = Sink::stdout();
        sink.line(&serde_json::json!({ "cursor": cursor, "out": out, "records": told }).to_string())?;
        return sink.flush();
    }
    tracing::info!("exported to {}, consistent with cursor {cursor}", shown(&out));
    Ok(())
}

/// What is one file goes into a folder by a name of ours; the folder is made if there is none.
fn file_of(out: &str, name: &str) -> Result<String> {
    let path = Path::new(out);
    if !out.ends_with('/') && !path.is_dir() {
        return Ok(out.to_owned());
    }
    std::fs::create_dir_all(path).map_err(|error| Error::Failed(format!("create {out}: {error}")))?;
    Ok(path.join(name).display().to_string())
}

fn shown(out: &str) -> &str {
    if out == "-" { "standard output" } else { out }
}

fn warc(context: &Context, arguments: &Arguments) -> Result<Option<u64>> {
    let data = &context.settings.data;
    let site = site(arguments)?;
    let filter = |record: &Record| site.as_ref().is_none_or(|site| is_of(record, site));
    if arguments.out == "-" {
        // The exporter names files; standard output gets a copy of one.
        let scratch = tempfile::tempdir().or_fail()?;
        let path = scratch.path().join("export.warc.gz");
        archive::export_warc(data, ExportTo::File(&path), &filter).or_fail()?;
        let mut file = std::fs::File::open(&path).or_fail()?;
        let mut sink = Sink::stdout();
        std::io::copy(&mut file, sink.writer()).map_err(|error| Error::writing("standard output", &error))?;
        sink.flush()?;
        return Ok(None);
    }
    let path = Path::new(&arguments.out);
    let to = if arguments.out.ends_with('/') || path.is_dir() { ExportTo::Folder(path) } else { ExportTo::File(path) };
    let report = archive::export_warc(data, to, &filter).or_fail()?;
    if report.damaged > 0 {
        tracing::warn!("{} places could not be read and were passed over", report.damaged);
    }
    Ok(Some(report.records))
}

fn site(arguments: &Arguments) -> Result<Option<Site>> {
    arguments.site.as_deref().map(crate::seeds::site).transpose().or_usage()
}

fn is_of(record: &Record, site: &Site) -> bool {
    let target = record.target().and_then(|target| vernal_model::Url::parse(target).ok());
    target.is_some_and(|target| target.site_text() == site.as_str())
}

fn cdxj(context: &Context, arguments: &Arguments, out: &str) -> Result<Option<u64>> {
    let site = site(arguments)?;
    let filter = |record: &Record| site.as_ref().is_none_or(|site| is_of(record, site));
    let name = arguments.warc.as_deref().map(|path| Path::new(path).file_name().unwrap_or_default().to_string_lossy());
    let of = name.as_deref().map_or(IndexOf::Folder, IndexOf::File);
    let mut sink = Sink::named(out)?;
    let written = archive::cdxj(&context.settings.data, of, &filter, sink.writer());
    if let Err(vernal_repository::Error::Io { source, .. }) = &written
        && source.kind() == std::io::ErrorKind::BrokenPipe
    {
        return Err(Error::PipeClosed);
    }
    written.or_fail()?;
    sink.flush()?;
    Ok(None)
}
