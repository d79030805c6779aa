//! `vernal watch add`

use axum::http::Method;
use clap::{ArgGroup, Args};
use serde_json::{Map, Value, json};

use super::acts::{encoded, say};
use crate::command::Context;
use crate::command::printed_list::{cell, time};
use crate::error::{Error, OrFail, Result};
use crate::output::{Column, Sink, Table, readable};

#[derive(Args)]
pub struct Arguments {
    /// A name for people
    name: Option<String>,
    #[command(flatten)]
    over: Over,
    #[command(flatten)]
    to: Telling,
    #[command(flatten)]
    when: Conditions,
    #[command(flatten)]
    number: NumberCondition,
    /// Also tell when nothing was seen, or the page could not be read, for so long
    #[arg(long, value_name = "SPAN")]
    silent_for: Option<String>,
    /// Do not tell that what matched before is gone from the page
    #[arg(long)]
    no_region_lost: bool,
    /// Who answers for it
    #[arg(long, default_value = "")]
    owner: String,
    /// Begin at this cursor or time instead of now
    #[arg(long, value_name = "CURSOR|TIME")]
    since: Option<String>,
    /// Show what it would have told in 30 days, and make nothing
    #[arg(long, conflicts_with = "since")]
    dry_run: bool,
}

// A documentation comment here would become that of the command.
// What is watched.
#[derive(Args)]
#[command(group = ArgGroup::new("over").required(true).multiple(false))]
struct Over {
    /// Watch this page
    #[arg(long, group = "over")]
    url: Option<String>,
    /// Watch the pages whose URL begins with this
    #[arg(long, group = "over")]
    prefix: Option<String>,
    /// Watch this site
    #[arg(long, group = "over")]
    site: Option<String>,
    /// Watch what a seed with this tag covers
    #[arg(long, group = "over")]
    tag: Option<String>,
    /// Watch the pages that this query of `vernal search` finds
    #[arg(long, value_name = "QUERY", group = "over")]
    search: Option<String>,
}

// Where to, and how.
#[derive(Args)]
struct Telling {
    /// Where to, and how if not at once: press, press=hourly, press="daily 07:00", press="weekly mon 07:00"; `atom` is a feed of
    /// this watch that readers ask for; may be repeated
    #[arg(long, value_name = "ROUTE[=HOW]")]
    to: Vec<String>,
    /// Of what is sent at once: at most so many in 24 hours, and the rest as a digest
    #[arg(long, value_name = "N/day")]
    at_most: Option<String>,
    /// When the digest of the rest is sent: hourly, daily 07:00 or weekly mon 07:00
    #[arg(long, value_name = "WHEN", requires = "at_most")]
    then: Option<String>,
    /// When it tells nothing, such as 22:00-07:00 by the clock of each route; what was held back is told after
    #[arg(long, value_name = "FROM-TO")]
    quiet_hours: Option<String>,
    /// A file with a template of its own
    #[arg(long, value_name = "FILE")]
    template: Option<std::path::PathBuf>,
}

// When it tells.
#[derive(Args)]
struct Conditions {
    /// Only these events: new, changed, gone, back, moved, blocked, unblocked, template (default: all but new)
    #[arg(long, value_delimiter = ',')]
    event: Vec<String>,
    /// Only changes with one of these kinds left: structure, content, presentation or behaviour
    #[arg(long, value_delimiter = ',')]
    kind: Vec<String>,
    /// Only changes of at least this degree: hidden, slight, moderate, large or total
    #[arg(long, value_name = "DEGREE")]
    min: Option<String>,
    /// Only changes of at least this magnitude, from 0 to 1
    #[arg(long)]
    magnitude: Option<f64>,
    /// Only where this word or phrase came or went; `budget*` has any ending; may be repeated, one is enough
    #[arg(long, value_name = "WORDS")]
    word: Vec<String>,
    /// Only where something that this pattern matches came or went
    #[arg(long, value_name = "PATTERN")]
    regex: Option<String>,
    /// Where words are looked for: added, removed, either, or paragraph for anywhere in a changed one
    #[arg(long = "in", value_name = "WHERE")]
    within: Option<String>,
    /// Only paragraphs of these roles: main, heading, list-item, table-row, title, navigation or footer
    #[arg(long, value_delimiter = ',')]
    role: Vec<String>,
    /// No paragraphs of these roles
    #[arg(long, value_delimiter = ',')]
    not_role: Vec<String>,
    /// Nothing of pages that change back and forth
    #[arg(long)]
    not_flapping: bool,
    /// Only pages in this language, such as de
    #[arg(long)]
    lang: Option<String>,
}

// What it asks of the first number of a paragraph.
#[derive(Args)]
struct NumberCondition {
    /// When the first number of a paragraph rises above this
    #[arg(long, allow_negative_numbers = true)]
    above: Option<f64>,
    /// When it falls below this
    #[arg(long, allow_negative_numbers = true)]
    below: Option<f64>,
    /// When it moves by at least this: a number, or a percentage such as 5%
    #[arg(long, value_name = "BY")]
    moves_by: Option<String>,
    /// Only the number of this paragraph, by its id
    #[arg(long, value_name = "ID")]
    paragraph: Option<String>,
}

const COLUMNS: [Column; 4] =
    [Column::left("seen"), Column::left("event"), Column::address("url"), Column::left("what")];

pub async fn add(context: &Context, arguments: &Arguments) -> Result<()> {
    let watch = arguments.watch()?;
    if arguments.dry_run {
        let preview = say(context, Method::POST, "/api/v1/watches/preview", Some(&json!({ "watch": watch }))).await?;
        return preview.map_or(Ok(()), |preview| print(context, &preview));
    }
    let since = arguments.since.as_ref().map_or_else(String::new, |since| format!("?since={}", encoded(since)));
    let path = format!("/api/v1/watches{since}");
    let Some(added) = say(context, Method::POST, &path, Some(&watch)).await? else { return Ok(()) };
    print(context, &added["preview"])?;
    tracing::info!("the watch {} is made", cell(&added["watch"], "id"));
    if let Some(feed) = added["watch"]["feed"].as_str() {
        tell_feed(feed)?;
    }
    if arguments.to.to.is_empty() {
        tracing::warn!(
            "it has no route, so it tells nobody: give --to atom for a feed, or see `vernal watch route add --help`"
        );
    }
    Ok(())
}

/// The address stands alone on standard output, so that scripts can take it.
fn tell_feed(feed: &str) -> Result<()> {
    if feed.starts_with('/') {
        tracing::info!("its feed is at this path of the crawl, once that runs:");
    } else {
        tracing::info!("its feed, which asks for a token with the role read beyond this machine:");
    }
    let mut sink = Sink::stdout();
    sink.line(feed)?;
    sink.flush()
}

/// What it would have told.
fn print(context: &Context, preview: &Value) -> Result<()> {
    let mut sink = Sink::stdout();
    let mut table = Table::new(&COLUMNS);
    for told in preview["latest"].as_array().into_iter().flatten().rev() {
        let what = readable(told["line"].as_str().unwrap_or_default());
        table.row(
            &mut sink,
            vec![time(context, told, "seen_different"), cell(told, "event"), cell(told, "url"), what],
        )?;
    }
    table.end(&mut sink)?;
    let matches = preview["matches"].as_u64().unwrap_or(0);
    let since = time(context, preview, "since");
    tracing::info!("{matches} of {} events since {since} would have been told", cell(preview, "covered"));
    if let Some(advice) = preview["advice"].as_str() {
        tracing::warn!("{advice}");
    }
    Ok(())
}

impl Arguments {
    fn watch(&self) -> Result<Value> {
        let over = &self.over;
        let template = self.to.template.as_ref().map(std::fs::read_to_string).transpose().or_fail()?;
        let to: Vec<Value> = self.to.to.iter().map(|to| self.to.route(to)).collect();
        let mut when = self.when.asked();
        if let Some(number) = self.number.asked()? {
            when.insert("number".to_owned(), number);
        }
        Ok(json!({
            "name": self.name.as_deref().unwrap_or_default(),
            "owner": self.owner,
            "over": { "url": over.url, "prefix": over.prefix, "site": over.site, "tag": over.tag, "search": over.search },
            "when": when,
            "to": to,
            "also": { "silent_for": self.silent_for, "region_lost": self.no_region_lost.then_some(false) },
            "quiet": self.to.quiet_hours,
            "template": template,
        }))
    }
}

impl Conditions {
    fn asked(&self) -> Map<String, Value> {
        let all = [
            ("events", json!(self.event)),
            ("kinds", json!(self.kind)),
            ("min", json!(self.min)),
            ("magnitude", json!(self.magnitude)),
            ("words", json!(self.word)),
            ("regex", json!(self.regex)),
            ("in", json!(self.within)),
            ("roles", json!(self.role)),
            ("not_roles", json!(self.not_role)),
            ("not_flapping", json!(self.not_flapping.then_some(true))),
            ("language", json!(self.lang)),
        ];
        let is_given = |value: &Value| !value.is_null() && value.as_array().is_none_or(|items| !items.is_empty());
        let given = all.into_iter().filter(|(_, value)| is_given(value));
        given.map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl NumberCondition {
    fn asked(&self) -> Result<Option<Value>> {
        let has_limit = self.above.is_some() || self.below.is_some() || self.moves_by.is_some();
        if self.paragraph.is_some() && !has_limit {
            return Err(Error::usage("--paragraph needs --above, --below or --moves-by"));
        }
        let NumberCondition { above, below, moves_by, paragraph } = self;
        let asked = json!({ "paragraph": paragraph, "above": above, "below": below, "moves_by": moves_by });
        Ok(has_limit.then_some(asked))
    }
}

impl Telling {
    fn route(&self, to: &str) -> Value {
        let (route, how) = to.split_once('=').unwrap_or((to, "at-once"));
        let is_at_once = how == "at-once";
        let at_most = self.at_most.as_ref().filter(|_| is_at_once);
        let then = self.then.as_ref().filter(|_| is_at_once);
        json!({ "route": route, "how": how, "at_most": at_most, "then": then })
    }
}
