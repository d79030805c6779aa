//! `vernal seeds list|add|remove`

use axum::http::Method;
use clap::{Args, Subcommand};
use serde_json::Value;

use super::Context;
use super::printed_list::{Question, cell, list, time};
use crate::config::Flags;
use crate::error::{Error, OrFail, Result};
use crate::output::{Column, Sink};
use crate::runtime::folder::{self, Folder};
use crate::seeds::{self, Reading, SeedEntry};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(Subcommand)]
enum Act {
    /// All seeds
    List {
        /// Only seeds with this tag
        #[arg(long)]
        tag: Option<String>,
        /// Show at most N
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// A column to sort by; -COLUMN puts the greatest first
        #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
        sort: Option<String>,
    },
    /// Add seeds, or renew what is said of known ones
    Add(Add),
    /// Remove a seed; its pages stay
    Remove { url: String },
}

#[derive(Args)]
struct Add {
    urls: Vec<String>,
    /// A file of seeds, or - for standard input: URL per line, CSV with a header, or JSON lines
    #[arg(long, value_name = "FILE")]
    seeds: Option<String>,
    /// A tag for the given URLs; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// How much their pages count in freshness
    #[arg(long, value_name = "NUMBER")]
    weight: Option<f32>,
    /// How far a crawl may go from them: page, prefix, site, domain or any
    #[arg(long)]
    scope: Option<vernal_model::Scope>,
    /// Links followed from them at most
    #[arg(long, value_name = "N")]
    depth: Option<u16>,
    /// Visited at least this often
    #[arg(long, value_name = "SPAN")]
    at_least_every: Option<String>,
    /// Visited at most this often
    #[arg(long, value_name = "SPAN")]
    at_most_every: Option<String>,
    /// Also take loopback and private addresses; a running crawl goes by its own setting
    #[arg(long)]
    allow_private: bool,
}

impl Arguments {
    /// The one setting that matters here.
    pub fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        if let Act::Add(Add { allow_private: true, .. }) = &self.act {
            flags.push("allow-private", "true".into());
        }
        flags
    }
}

const COLUMNS: [Column; 8] = [
    Column::address("url"),
    Column::left("scope"),
    Column::right("depth"),
    Column::right("weight").optional(),
    Column::left("tags"),
    Column::right("at least every").optional(),
    Column::right("at most every").optional(),
    Column::left("added").optional(),
];

pub async fn seeds(context: &Context, arguments: Arguments) -> Result<()> {
    match arguments.act {
        Act::List { tag, limit, sort } => {
            let question = Question::at("/api/v1/seeds").with("tag", tag).with("limit", limit).with("sort", sort);
            list(context, question, &COLUMNS, |row| {
                let mut cells: Vec<String> =
                    ["url", "scope", "depth", "weight", "tags", "at_least_every", "at_most_every"]
                        .map(|name| cell(row, name))
                        .into();
                cells.push(time(context, row, "added"));
                cells
            })
            .await
        }
        Act::Add(add) => add_seeds(context, add).await,
        Act::Remove { url } => remove(context, &url).await,
    }
}

async fn add_seeds(context: &Context, add: Add) -> Result<()> {
    if add.urls.is_empty() && add.seeds.is_none() {
        return Err(Error::usage("no seed was given: give URLs, or a file with --seeds"));
    }
    let entry_of = |url: &String| SeedEntry {
        url: url.clone(),
        tags: add.tags.clone(),
        weight: add.weight,
        scope: add.scope,
        depth: add.depth,
        at_least_every: add.at_least_every.clone(),
        at_most_every: add.at_most_every.clone(),
    };
    let given = add.urls.iter().map(entry_of).collect();
    let mut entries = gather(context, given, add.seeds.as_deref())?;
    if !folder::exists(&context.settings.data) {
        // Where no crawl runs, the setting given here counts, and no repository is made for seeds that are refused.
        entries = visitable_entries(context, entries)?;
    }
    let folder = Folder::open(context, true).await?;
    let (mut new, mut known) = (0, 0);
    for some in entries.chunks(seeds::SEEDS_AT_ONCE) {
        let body = some.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>().or_fail()?.join("\n");
        let told: Value = folder.ask(Method::POST, "/api/v1/seeds", body).await?.json().await?;
        new += told["new"].as_u64().unwrap_or(0);
        known += told["known"].as_u64().unwrap_or(0);
        for wrong in told["wrong"].as_array().into_iter().flatten() {
            tracing::warn!("{}", cell(wrong, "error"));
        }
    }
    if context.json {
        let mut sink = Sink::stdout();
        sink.line(&serde_json::json!({ "new": new, "known": known }).to_string())?;
        sink.flush()?;
    } else {
        tracing::info!("seeds: {new} new, {known} known already");
    }
    folder.close()
}

async fn remove(context: &Context, url: &str) -> Result<()> {
    let folder = Folder::open(context, false).await?;
    let question = Question::at("/api/v1/seeds").with("url", Some(url));
    let answer = folder.ask(Method::DELETE, question.text(), String::new()).await?;
    if context.json {
        let mut sink = Sink::stdout();
        sink.line(&answer.json().await?.to_string())?;
        sink.flush()?;
    } else {
        tracing::info!("{url} is no seed any more; what it led to is kept");
    }
    folder.close()
}

/// The entries of the command line and of a file. A bad URL among the arguments is wrong usage; bad lines of a file are
/// named by number and passed over, unless no line is good.
pub fn gather(context: &Context, given: Vec<SeedEntry>, file: Option<&str>) -> Result<Vec<SeedEntry>> {
    let defaults = seeds::Defaults { scope: context.settings.crawler.scope, depth: context.settings.crawler.depth };
    for entry in &given {
        entry.seed(defaults, vernal_model::Moment::EPOCH).or_usage()?;
    }
    let Some(file) = file else { return Ok(given) };
    let Reading { entries, wrong } = seeds::read(&text(file)?);
    let name = if file == "-" { "standard input" } else { file };
    for (line, what) in &wrong {
        tracing::warn!("{name}, line {line}: {what}");
    }
    if entries.is_empty() {
        return Err(Error::Failed(format!("{name} holds no seed")));
    }
    Ok(given.into_iter().chain(entries).collect())
}

/// The entries whose addresses may be visited. The others are named in warnings; if there are only others, that is wrong
/// usage.
pub fn visitable_entries(context: &Context, entries: Vec<SeedEntry>) -> Result<Vec<SeedEntry>> {
    let allow_private = context.settings.fetch.allow_private;
    let why =
        |entry: &SeedEntry| seeds::url(&entry.url).ok().and_then(|url| seeds::why_never_visited(&url, allow_private));
    let told: Vec<String> = entries.iter().filter_map(why).collect();
    if !told.is_empty() && told.len() == entries.len() {
        let others = if told.len() > 1 { format!(" (and so are {} others)", told.len() - 1) } else { String::new() };
        return Err(Error::Usage(format!("{}{others}", told[0])));
    }
    for line in &told {
        tracing::warn!("{line}");
    }
    Ok(entries.into_iter().filter(|entry| why(entry).is_none()).collect())
}

fn text(file: &str) -> Result<String> {
    let bytes = if file == "-" {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    let bytes = bytes.map_err(|error| Error::Failed(format!("read {file}: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
