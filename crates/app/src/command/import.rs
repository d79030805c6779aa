//! `vernal import warc|wacz|cdxj PATH…`: other people's archives become history.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use vernal_archive::import::{Archives, Form};
use vernal_crawler::{Crawler, Imported};
use vernal_repository::{Repository, runs};

use super::Context;
use super::printed_list::names_and_values;
use crate::error::{Error, OrFail, Result};
use crate::output::Sink;
use crate::runtime::clock::{Clock, wall};
use crate::runtime::live::Until;
use crate::runtime::{folder, parts, serving};

/// Records of one batch, and bytes of their blocks: these bound the memory.
const BATCH_RECORDS_MAX: usize = 512;
const BATCH_BYTES_MAX: usize = 32 << 20;
/// A progress line follows after so much of each pass.
const PROGRESS_BYTES: u64 = 256 << 20;
const PROGRESS_RECORDS: usize = 10_000;
/// Lines about single records that people see; `--json` has more.
const TOLD_MAX: usize = 10;

#[derive(Copy, Clone, Debug, ValueEnum)]
enum Format {
    /// WARC files, packed or not, or folders of them
    Warc,
    /// Web archive collections: ZIP files with WARC files in them
    Wacz,
    /// Indexes that name records of WARC files beside them
    Cdxj,
}

#[derive(Args)]
pub struct Arguments {
    /// What the files are
    #[arg(value_enum)]
    format: Format,
    /// The files; those that belong together are best given together
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Have the schedule learn from the imported visits too
    #[arg(long)]
    learn: bool,
}

pub async fn import(context: &Context, arguments: &Arguments) -> Result<()> {
    let settings = &context.settings;
    if serving::connect(&settings.data).await.is_ok() {
        return Err(Error::failed("a crawl runs in this folder; stop it first, then import"));
    }
    folder::check_place(&settings.data)?;
    let (repository, recovery) =
        Repository::open(&settings.data, parts::repository_settings(settings), wall()).or_fail()?;
    for line in folder::healed(&recovery) {
        tracing::warn!("{line}");
    }
    let form = match arguments.format {
        Format::Warc => Form::Warc,
        Format::Wacz => Form::Wacz,
        Format::Cdxj => Form::Cdxj,
    };
    let mut told = 0;
    let opened = Archives::open(form, &arguments.paths, &settings.data, &mut |done, total| {
        if done >= told + PROGRESS_BYTES {
            told = done;
            tracing::info!("read {} of {} MB", done / 1_000_000, total / 1_000_000);
        }
    });
    let mut archives = match opened {
        Ok(archives) => archives,
        Err(error) => {
            repository.close().or_fail()?;
            return Err(Error::failed(error));
        }
    };
    let imported = take_in(context, repository, &mut archives, arguments.learn)?;
    if runs::book(&settings.data) == runs::Book::default() {
        runs::note_repair(&settings.data, wall()).or_fail()?;
    }
    print(context, &imported, &archives)
}

fn take_in(context: &Context, repository: Repository, archives: &mut Archives, learn: bool) -> Result<Imported> {
    let settings = &context.settings;
    let reader = repository.reader();
    let clock = Clock::resume(reader.time_origin(), reader.last_moment(), settings.time_scale);
    let crawler_settings = parts::crawler_settings(settings, Until::default())?;
    let mut crawler = Crawler::open(repository, crawler_settings, clock.now()).or_fail()?;
    let mut imported = Imported::default();
    let (mut place, total) = (0, archives.len());
    while place < total {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while place < total && batch.len() < BATCH_RECORDS_MAX && bytes < BATCH_BYTES_MAX {
            let record = archives.record(place);
            bytes += record.as_ref().map_or(0, |record| record.block.len());
            batch.extend(record);
            place += 1;
            if place % PROGRESS_RECORDS == 0 {
                tracing::info!("imported {place} of {total} records, {} versions", imported.versions);
            }
        }
        crawler.import(batch, learn, clock.now(), &mut imported).or_fail()?;
    }
    crawler.close(clock.now()).or_fail()?;
    Ok(imported)
}

fn print(context: &Context, imported: &Imported, archives: &Archives) -> Result<()> {
    let left_out = archives.left_out();
    let refused: Vec<&String> = imported.refused.iter().chain(&left_out.told).collect();
    let total = imported.refused_total + left_out.total;
    let told = json!({
        "records": imported.records,
        "pages": imported.pages,
        "versions": imported.versions,
        "same": imported.same,
        "moved_or_gone": imported.moved_or_gone,
        "known": imported.known,
        "no_copy": imported.no_copy,
        "other_records": left_out.other,
        "refused": total,
        "refused_first": refused,
    });
    let mut sink = Sink::stdout();
    if context.json {
        sink.line(&told.to_string())?;
        return sink.flush();
    }
    let shown = [
        ("new pages", "pages"),
        ("versions", "versions"),
        ("visits that found the same", "same"),
        ("visits that found it moved or gone", "moved_or_gone"),
        ("here already", "known"),
        ("no copies of pages", "no_copy"),
        ("requests, metadata, robots.txt", "other_records"),
        ("refused", "refused"),
    ];
    let rows: Vec<(String, String)> =
        shown.iter().map(|(name, field)| ((*name).to_owned(), count(&told, field))).collect();
    names_and_values(&mut sink, &rows)?;
    sink.flush()?;
    for line in refused.iter().take(TOLD_MAX) {
        tracing::warn!("refused: {line}");
    }
    if total > TOLD_MAX as u64 {
        tracing::warn!("… and {} more; --json names more of them", total - TOLD_MAX as u64);
    }
    Ok(())
}

fn count(told: &Value, field: &str) -> String {
    told[field].as_u64().unwrap_or(0).to_string()
}
