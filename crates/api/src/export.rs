//! Copies of the pages for other programs, as one stream each. The cursor that an answer is consistent with is in its head.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::runtime::Handle;
use vernal_archive::export::json_lines::{self, Unit};
use vernal_archive::export::markdown::{self, FileOptions};
use vernal_archive::export::tables::{self, Table};
use vernal_archive::export::{Asked, Error, Manifest, PageFilter, Until, records, wacz};
use vernal_document::tell::escaped;
use vernal_model::{Moment, PageKey, Partition};
use vernal_repository::Cursor;

use super::answer::{self, ApiError, ApiResult, Exported, Lines, StreamError};
use super::nouns::Nouns;
use super::parameters::{Parameters, site};
use super::shared::Shared;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportQuery {
    /// warc, wacz, cdxj, parquet, jsonl or markdown (a tar)
    format: Format,
    /// A host, with its port where that is not the scheme's own
    site: Option<String>,
    /// Only what a seed with this tag covers
    tag: Option<String>,
    /// Only pages whose URL begins so
    prefix: Option<String>,
    /// Only what leads from this state: a cursor, or a time.
    since: Option<String>,
    /// The state of this time.
    at: Option<String>,
    /// The state that this cursor names; the newest if none is given.
    until: Option<String>,
    /// Goes on behind this page, as `12/2`.
    after: Option<String>,
    /// paragraph (default) or page for jsonl; file: markdown as JSON lines
    unit: Option<LineUnit>,
    /// pages, versions, paragraphs, events or visits (parquet)
    table: Option<String>,
    /// The name of the WARC file that an index is of.
    warc: Option<String>,
    /// Everything on a page and not the main content alone (markdown)
    #[serde(default)]
    all: bool,
    /// The ids of paragraphs behind them (markdown)
    #[serde(default)]
    ids: bool,
    /// Also the words of the pages (wacz)
    #[serde(default)]
    text: bool,
    /// Also the text of pages that ask not to be indexed
    #[serde(default)]
    with_noindex: bool,
    /// Go on with what changes (jsonl)
    #[serde(default)]
    follow: bool,
    /// Seconds in which changes are gathered before they are told.
    every: Option<u64>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Warc,
    Wacz,
    Cdxj,
    Parquet,
    Jsonl,
    Markdown,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum LineUnit {
    Paragraph,
    Page,
    /// The files of Markdown, as lines.
    File,
}

/// Changes are gathered for so long, if nothing else is asked for.
const FOLLOW_EVERY_SECS: u64 = 2;
const FOLLOW_EVERY_SECS_MAX: u64 = 86_400;
/// A stream without changes shows so often that it is still there.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);
/// Threads of exports get the processor when nobody else wants it.
const NICE: i32 = 10;

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/export", "A copy for other programs; `vernal-cursor` in the head names its state", stream)
}

pub async fn stream(
    State(shared): State<Arc<Shared>>,
    Parameters(query): Parameters<ExportQuery>,
) -> ApiResult<Exported> {
    let asked = asked(&shared, &query)?;
    let what = what(&query)?;
    let turn = Arc::clone(&shared.export_turns).try_acquire_owned();
    let turn = turn.map_err(|_| {
        let line = "too many exports are under way; ask again when one of them has ended";
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, line)
    })?;
    let cursor = asked.to.cursor.to_string();
    let response = answer::streamed_as(what.content_type(), move |lines| {
        let runtime = Handle::current();
        let written = thread::scope(|scope| {
            let work = scope.spawn(|| {
                // On Linux this is the priority of this thread alone.
                let _ = rustix::process::setpriority_process(None, NICE);
                written(&shared, &asked, &what, &runtime, lines)
            });
            work.join().unwrap_or_else(|_| Err(Error::Asked("the export could not be made".into())))
        });
        drop(turn);
        written.map_err(|error| match error {
            error if error.is_reader_gone() => StreamError::ReaderGone,
            error => StreamError::Export(error),
        })
    });
    Ok(Exported(with_cursor(response, &cursor)))
}

fn with_cursor(mut response: Response, cursor: &str) -> Response {
    let value = HeaderValue::from_str(cursor).unwrap_or(HeaderValue::from_static(""));
    response.headers_mut().insert(HeaderName::from_static("vernal-cursor"), value);
    response
}

/// One kind of stream, with what it alone needs to know.
#[derive(Clone, Debug)]
enum What {
    Warc,
    Wacz {
        text: bool,
    },
    Cdxj {
        warc: Option<String>,
    },
    Parquet(Table),
    Lines(Unit),
    /// Lines that do not end while a crawl runs.
    Following {
        unit: Unit,
        every: Duration,
    },
    Tar(FileOptions),
    FileLines(FileOptions),
}

impl What {
    fn content_type(&self) -> &'static str {
        match self {
            What::Warc => "application/warc",
            What::Wacz { .. } => "application/wacz",
            What::Cdxj { .. } => "text/plain; charset=utf-8",
            What::Parquet(_) => "application/vnd.apache.parquet",
            What::Lines(_) | What::Following { .. } | What::FileLines(_) => "application/x-ndjson",
            What::Tar(_) => "application/x-tar",
        }
    }
}

fn what(query: &ExportQuery) -> Result<What, ApiError> {
    let only = |given: bool, name: &str, of: &[Format]| {
        if given && !of.contains(&query.format) {
            return Err(ApiError::bad_request(format!("`{name}` is not for this format")));
        }
        Ok(())
    };
    only(query.table.is_some(), "table", &[Format::Parquet])?;
    only(query.warc.is_some(), "warc", &[Format::Cdxj])?;
    only(query.text, "text", &[Format::Wacz])?;
    only(query.all, "all", &[Format::Markdown])?;
    only(query.ids, "ids", &[Format::Markdown])?;
    only(query.follow, "follow", &[Format::Jsonl])?;
    only(query.after.is_some(), "after", &[Format::Jsonl, Format::Markdown])?;
    only(query.unit.is_some(), "unit", &[Format::Jsonl, Format::Markdown])?;
    if query.follow && query.at.is_some() {
        return Err(ApiError::bad_request("a state of the past does not change: leave out `at` or `follow`"));
    }
    let options = FileOptions { all: query.all, ids: query.ids };
    Ok(match (query.format, query.unit) {
        (Format::Warc, _) => What::Warc,
        (Format::Wacz, _) => What::Wacz { text: query.text },
        (Format::Cdxj, _) => What::Cdxj { warc: query.warc.clone() },
        (Format::Parquet, _) => What::Parquet(table(query.table.as_deref())?),
        (Format::Jsonl, None | Some(LineUnit::Paragraph)) => lines_of(query, Unit::Paragraph),
        (Format::Jsonl, Some(LineUnit::Page)) => lines_of(query, Unit::Page),
        (Format::Markdown, None) => What::Tar(options),
        (Format::Markdown, Some(LineUnit::File)) => What::FileLines(options),
        (Format::Jsonl | Format::Markdown, Some(_)) => {
            return Err(ApiError::bad_request("the unit of jsonl is paragraph or page, and that of markdown is file"));
        }
    })
}

fn lines_of(query: &ExportQuery, unit: Unit) -> What {
    if !query.follow {
        return What::Lines(unit);
    }
    let secs = query.every.unwrap_or(FOLLOW_EVERY_SECS).min(FOLLOW_EVERY_SECS_MAX);
    What::Following { unit, every: Duration::from_secs(secs) }
}

fn table(name: Option<&str>) -> Result<Table, ApiError> {
    let names = Table::ALL.map(Table::name).join(", ");
    let name = name.ok_or_else(|| ApiError::bad_request(format!("name a `table`: {names}")))?;
    Table::named(name).ok_or_else(|| ApiError::bad_request(format!("`{name}` is no table; there are {names}")))
}

fn asked(shared: &Shared, query: &ExportQuery) -> Result<Asked, ApiError> {
    let end = shared.reader.cursor();
    let cursor = |text: &str| -> Result<Option<Cursor>, ApiError> {
        match text.parse() {
            Ok(cursor) => Ok(Some(cursor)),
            Err(_) if text.starts_with('c') => {
                Err(ApiError::bad_request(format!("`{text}` is no cursor of this repository")))
            }
            Err(_) => Ok(None),
        }
    };
    let moment = |text: &str| Moment::parse(text, shared.clock.now()).map_err(ApiError::bad_request);
    let to = match &query.until {
        None => end,
        Some(text) => cursor(text)?.ok_or_else(|| ApiError::bad_request(format!("`{text}` is no cursor")))?,
    };
    let from = match &query.since {
        None => None,
        Some(text) => Some(match cursor(text)? {
            Some(cursor) => Until { cursor, moment: None },
            None => Until { cursor: to, moment: Some(moment(text)?) },
        }),
    };
    let asked = Asked {
        filter: PageFilter {
            site: query.site.as_deref().map(site).transpose()?,
            prefix: query.prefix.clone(),
            tag: query.tag.clone(),
            seeds: shared.reader.seeds()?,
            with_noindex: query.with_noindex,
        },
        from,
        to: Until { cursor: to, moment: query.at.as_deref().map(moment).transpose()? },
        after: query.after.as_deref().map(page_key).transpose()?,
        made: shared.clock.now(),
    };
    asked.check(&shared.reader).map_err(ApiError::bad_request)?;
    Ok(asked)
}

fn page_key(text: &str) -> Result<PageKey, ApiError> {
    let key = || {
        let (partition, number) = text.split_once('/')?;
        Some(PageKey::new(Partition(partition.parse().ok()?), number.parse().ok()?))
    };
    key().ok_or_else(|| ApiError::bad_request(format!("`{text}` is no key of a page")))
}

type Written = Result<(), Error>;

fn written(shared: &Shared, asked: &Asked, what: &What, runtime: &Handle, lines: &mut Lines<()>) -> Written {
    let reader = &shared.reader;
    let quiet = &mut |_| {};
    match what {
        What::Warc => records::warc(reader, asked, quiet, lines).map(drop),
        What::Wacz { text } => wacz::write(reader, asked, *text, quiet, lines).map(drop),
        What::Cdxj { warc } => records::cdxj(reader, asked, warc.as_deref(), lines).map(drop),
        What::Parquet(table) => tables::write(reader, asked, *table, quiet, lines).map(drop),
        What::Tar(options) => markdown::tar(reader, asked, *options, quiet, lines).map(drop),
        What::FileLines(options) => {
            let mut out = SafeLines::of(lines);
            let manifest = markdown::lines(reader, asked, *options, quiet, &mut out)?;
            json_lines::line(&mut out, &manifest.as_line())
        }
        What::Lines(unit) => {
            let mut out = SafeLines::of(lines);
            let manifest = json_lines::write(reader, asked, *unit, quiet, &mut out)?;
            json_lines::line(&mut out, &manifest.as_line())
        }
        What::Following { unit, every } => follow(shared, asked, (*unit, *every), runtime, lines),
    }
}

/// Lines as changes come. After each round a line names the cursor to go on from.
fn follow(
    shared: &Shared,
    asked: &Asked,
    (unit, every): (Unit, Duration),
    runtime: &Handle,
    lines: &mut Lines<()>,
) -> Written {
    let mut acknowledged = shared.backend.acknowledged();
    let mut stop = shared.stop.clone();
    let mut asked = asked.clone();
    loop {
        if let Some(acknowledged) = &mut acknowledged {
            acknowledged.mark_unchanged();
        }
        let mut out = SafeLines::of(lines);
        let manifest = json_lines::write(&shared.reader, &asked, unit, &mut |_| {}, &mut out)?;
        let Some(acknowledged) = acknowledged.as_mut().filter(|_| !*stop.borrow()) else {
            return json_lines::line(&mut out, &manifest.as_line());
        };
        json_lines::line(&mut out, &Manifest { op: Some("cursor".into()), ..manifest })?;
        Write::flush(lines)?;
        let stops = runtime.block_on(async {
            tokio::select! {
                () = tokio::time::sleep(every) => false,
                _ = stop.changed() => true,
            }
        });
        // A quiet stretch ends with a line, so that a reader who has gone is noticed.
        let moved = async {
            tokio::select! {
                moved = acknowledged.changed() => moved.is_err(),
                _ = stop.changed() => true,
                () = tokio::time::sleep(KEEP_ALIVE_EVERY) => false,
            }
        };
        let _ = stops || runtime.block_on(moved);
        asked.from = Some(asked.to);
        asked.to = Until { cursor: shared.reader.cursor(), moment: None };
        (asked.after, asked.made) = (None, shared.clock.now());
    }
}

/// Commands print these lines as they come, and what sites wrote must not turn a line on a terminal.
struct SafeLines<'a> {
    out: &'a mut Lines<()>,
    line: Vec<u8>,
}

impl<'a> SafeLines<'a> {
    fn of(out: &'a mut Lines<()>) -> SafeLines<'a> {
        SafeLines { out, line: Vec::new() }
    }
}

impl Write for SafeLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if bytes.ends_with(b"\n") {
            match std::str::from_utf8(&self.line) {
                Ok(line) => self.out.write_all(escaped(line).as_bytes())?,
                Err(_) => self.out.write_all(&self.line)?,
            }
            self.line.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Write::flush(self.out)
    }
}
