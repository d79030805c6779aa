//! `vernal search QUERY`

use axum::http::Method;
use clap::Args;
use serde_json::Value;

use super::Context;
use super::printed_list::{Question, bytes, cell, copy, shown, time};
use crate::error::{Error, OrFail, Result};
use crate::output::{Sink, plain};
use crate::runtime::folder::{Answer, Folder};

#[derive(Args)]
pub struct Arguments {
    /// Words; "exact words"; begin*; site: title: anchor: lang: url: before: after: tag: topic: kind:; AND OR NOT - ( )
    #[arg(value_name = "QUERY", required_unless_present_any = ["like", "rebuild"])]
    query: Option<String>,
    #[command(flatten)]
    filters: Filters,
    /// The text that was held then: RFC 3339, a date, or an age such as 7d
    #[arg(long, value_name = "TIME", conflicts_with_all = ["removed", "past"])]
    at: Option<String>,
    /// Only text that came, or with --removed went, since then
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only text that came, or went, before then
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Text that changes took away: who had it last, and between which two visits it went
    #[arg(long, conflicts_with = "past")]
    removed: bool,
    /// Current and removed text together
    #[arg(long)]
    past: bool,
    /// Pages with the telling words of this one
    #[arg(long, value_name = "URL")]
    like: Option<String>,
    /// relevance, fresh (newer counts more) or newest
    #[arg(long, value_name = "ORDER")]
    sort: Option<String>,
    /// Show at most N hits [default: 10]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Show what comes behind the hits of an earlier answer
    #[arg(long, value_name = "PLACE")]
    after: Option<String>,
    /// Make the index anew from the journal and the bodies
    #[arg(long, conflicts_with_all = ["query", "like"])]
    rebuild: bool,
}

/// What a page, or the part of it, must be.
#[derive(Args)]
struct Filters {
    /// Only pages of this site
    #[arg(long)]
    site: Option<String>,
    /// Only pages that a seed with this tag covers
    #[arg(long)]
    tag: Option<String>,
    /// Only pages of this topic; `vernal topics` lists them
    #[arg(long)]
    topic: Option<String>,
    /// Only pages in this language, such as en
    #[arg(long)]
    lang: Option<String>,
    /// Only versions made, or paragraphs taken, by this kind of change: content, structure, presentation, behaviour or new
    #[arg(long)]
    kind: Option<String>,
    /// Only words of this part of pages: main or frame
    #[arg(long)]
    role: Option<String>,
}

pub async fn search(context: &Context, arguments: &Arguments) -> Result<()> {
    if arguments.rebuild {
        return rebuild(context).await;
    }
    let folder = Folder::open(context, false).await?;
    let answer = folder.get(question(arguments).text()).await.map_err(|error| with_place(error, arguments))?;
    let mut sink = Sink::stdout();
    if context.json {
        copy(answer, &mut sink).await?;
        return folder.close();
    }
    let mut hits = 0;
    answer
        .each_line(|line| {
            let value: Value = serde_json::from_str(line).or_fail()?;
            match () {
                () if !value["total"].is_null() => head(&mut sink, &value),
                () if !value["after"].is_null() => rest(&mut sink, &value),
                () => {
                    hits += 1;
                    hit(context, &mut sink, hits, &value)
                }
            }
        })
        .await?;
    sink.flush()?;
    folder.close()
}

fn question(arguments: &Arguments) -> Question {
    let within = match (arguments.removed, arguments.past) {
        (true, _) => Some("removed"),
        (_, true) => Some("past"),
        _ => None,
    };
    Question::at("/api/v1/search")
        .with("q", arguments.query.as_ref())
        .with("in", within)
        .with("at", arguments.at.as_ref())
        .with("like", arguments.like.as_ref())
        .with("site", arguments.filters.site.as_ref())
        .with("tag", arguments.filters.tag.as_ref())
        .with("topic", arguments.filters.topic.as_ref())
        .with("lang", arguments.filters.lang.as_ref())
        .with("kind", arguments.filters.kind.as_ref())
        .with("role", arguments.filters.role.as_ref())
        .with("from", arguments.since.as_ref())
        .with("until", arguments.until.as_ref())
        .with("sort", arguments.sort.as_ref())
        .with("after", arguments.after.as_ref())
        .with("limit", arguments.limit)
}

/// A wrong query is shown with a caret below the place.
fn with_place(error: Error, arguments: &Arguments) -> Error {
    let (Error::Usage(line), Some(query)) = (&error, &arguments.query) else { return error };
    let column = line.strip_prefix("column ").and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
    match column {
        Some(column) => {
            let shown: String = query.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
            Error::Usage(format!("{line}\n  {}\n  {}^", plain(&shown), " ".repeat(column.saturating_sub(1))))
        }
        None => error,
    }
}

fn head(sink: &mut Sink, head: &Value) -> Result<()> {
    let total = head["total"].as_u64().unwrap_or(0);
    let about = if head["exact"] == false { "about " } else { "" };
    let noun = if total == 1 { "hit" } else { "hits" };
    let sites: Vec<String> = head["by_site"]
        .as_array()
        .into_iter()
        .flatten()
        .take(4)
        .map(|count| format!("{} {}", cell(count, "value"), cell(count, "count")))
        .collect();
    let sites = if sites.len() > 1 { format!("; {}", sites.join(", ")) } else { String::new() };
    let took = head["took_ms"].as_f64().unwrap_or(0.0);
    sink.line(&format!("{about}{total} {noun} in {took:.0} ms{sites}"))
}

fn rest(sink: &mut Sink, rest: &Value) -> Result<()> {
    sink.line("")?;
    sink.line(&format!("there is more: --after {}", shown(&rest["after"])))
}

fn hit(context: &Context, sink: &mut Sink, number: usize, hit: &Value) -> Result<()> {
    let title = hit["title"].as_str().filter(|title| !title.trim().is_empty()).unwrap_or("(no title)");
    sink.line("")?;
    sink.line(&format!("{number}. {}", plain(title)))?;
    let seen = if hit["gone"].is_null() { format!(", {}", time(context, hit, "time")) } else { String::new() };
    sink.line(&format!("   {}  version {}{seen}", cell(hit, "url"), cell(hit, "version")))?;
    if let Some(text) = hit["text"].as_str().filter(|text| !text.is_empty()) {
        sink.line(&format!("   {}", marked(text, &hit["marks"])))?;
    }
    let said: Vec<String> = hit["anchors"].as_array().into_iter().flatten().map(shown).collect();
    if !said.is_empty() {
        sink.line(&format!("   links to it say: {}", said.join("; ")))?;
    }
    let gone = &hit["gone"];
    if !gone.is_null() {
        let until = match gone["version"].as_u64() {
            Some(version) => format!("version {version} no longer has it"),
            None => "the page is gone".into(),
        };
        let (same, different) = (time(context, gone, "seen_same"), time(context, gone, "seen_different"));
        let line = format!("{}: version {} had it last, {until}", cell(gone, "op"), cell(gone, "previous"));
        sink.line(&format!("   {line}; between {same} and {different}"))?;
        sink.line(&format!("   {}", cell(gone, "command")))?;
    }
    Ok(())
}

/// The words that were asked for stand between stars, or bold on a terminal.
fn marked(text: &str, marks: &Value) -> String {
    let (begin, end) = if Sink::takes_colours() { ("\u{1b}[1m", "\u{1b}[0m") } else { ("*", "*") };
    let places: Vec<(usize, usize)> = serde_json::from_value(marks.clone()).unwrap_or_default();
    let mut out = String::with_capacity(text.len() + places.len() * 8);
    for (place, letter) in text.chars().enumerate() {
        if places.iter().any(|(_, to)| *to == place) {
            out.push_str(end);
        }
        if places.iter().any(|(from, _)| *from == place) {
            out.push_str(begin);
        }
        out.push(if letter.is_control() { ' ' } else { letter });
    }
    if places.iter().any(|(_, to)| *to >= text.chars().count()) {
        out.push_str(end);
    }
    out
}

async fn rebuild(context: &Context) -> Result<()> {
    let folder = Folder::open(context, false).await?;
    let answer: Answer = folder.ask(Method::POST, "/api/v1/search/rebuild", String::new()).await?;
    let mut sink = Sink::stdout();
    if context.json {
        copy(answer, &mut sink).await?;
        return folder.close();
    }
    let mut failed = None;
    answer
        .each_line(|line| {
            let value: Value = serde_json::from_str(line).or_fail()?;
            let done = &value["done"];
            if let Some(error) = value["error"].as_str() {
                failed = Some(Error::Failed(error.to_owned()));
            } else if done.is_null() {
                tracing::info!("{} events read, {} units so far", cell(&value, "events"), cell(&value, "units"));
            } else {
                let line =
                    format!("{} units, {}, up to {}", cell(done, "units"), bytes(done, "bytes"), cell(done, "cursor"));
                sink.line(&line)?;
            }
            Ok(())
        })
        .await?;
    sink.flush()?;
    folder.close()?;
    failed.map_or(Ok(()), Err)
}
