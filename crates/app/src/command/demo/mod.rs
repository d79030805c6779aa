//! `vernal demo`: an invented, changing web on loopback, and a crawl of it in fast time.
//!
//! - `invented`: the web, and the names of its sites.
//! - `truth`: how fresh the copy is, held against what really changed. `plot`: that over time, for the eye.

mod invented;
mod plot;
mod truth;

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use vernal_model::Span;
use vernal_simulator::serve::Served;

use super::Context;
use crate::config::{Flags, Settings, Source};
use crate::error::{Error, OrFail, Result};
use crate::output::{Sink, bytes_shown};
use crate::runtime::clock::Clock;
use crate::runtime::crawl::{self, Beginning, Crawl};
use crate::runtime::live::{Ended, Until};
use crate::runtime::local_token;
use crate::runtime::network;
use crate::runtime::shutdown::Signals;
use crate::seeds::SeedEntry;

use truth::Truth;

#[derive(Args)]
pub struct Arguments {
    /// End after so much real time; without it, go on until stopped
    #[arg(long = "for", value_name = "SPAN")]
    real_time: Option<String>,
    /// Sites of the invented web
    #[arg(long, value_name = "N", default_value_t = 8)]
    sites: usize,
    /// Pages of each site, on average
    #[arg(long, value_name = "N", default_value_t = 60)]
    pages: usize,
    #[command(flatten)]
    pub flags: Flags,
}

/// Defaults of a demonstration: an hour passes in a second, and the budget shows something within a minute.
const DEMO_SETTINGS: [(&str, &str); 4] =
    [("time-scale", "3600"), ("budget", "600%/day"), ("allow-private", "true"), ("listen", "127.0.0.1:0")];

/// One line of the demonstration.
#[derive(Clone, Debug, Serialize)]
struct Second {
    second: u64,
    moment: String,
    held: u64,
    waiting: u64,
    visits: u64,
    /// Visits that found what really changed: never more than `true_changes`.
    changes: u64,
    /// Visits that took noise for a change, before it was known to be noise.
    noise_found: u64,
    freshness: f64,
    wire_bytes: u64,
    /// What a found change has cost so far; null before the first.
    visits_per_change: Option<f64>,
    /// Held pages within traps, which count nowhere else, and the changes that were found on them.
    trap_pages: u64,
    trap_changes: u64,
    /// Changes of the sites' sitemaps.
    list_changes: u64,
    /// What happened on the held pages since their first visits.
    true_changes: u64,
}

#[derive(Serialize)]
struct Summary {
    summary: bool,
    seconds: u64,
    simulated: String,
    held: u64,
    visits: u64,
    changes: u64,
    noise_found: u64,
    versions: u64,
    wire_bytes: u64,
    freshness_last: f64,
    freshness_mean: f64,
    true_changes: u64,
    trap_pages: u64,
    trap_changes: u64,
    list_changes: u64,
    requests_served: u64,
    budget: String,
    policy: String,
}

pub fn demo(context: &Context, arguments: Arguments) -> Result<()> {
    let real_time = arguments.real_time.as_deref().map(Span::parse).transpose().or_usage()?;
    // A temporary folder lives as long as the crawl; a folder that was given stays.
    let scratch = tempfile::Builder::new().prefix("vernal-demo-").tempdir().or_fail()?;
    let context = with_demo_settings(context, scratch.path())?;
    let clock = Arc::new(Clock::start(last_moment(&context)?, context.settings.time_scale));
    let served = invented::web(&arguments, &context.settings, &clock)?;
    let context = invented::with_hosts(context, &served)?;
    let entries = served.seeds().iter().map(|url| SeedEntry::of(url)).collect();
    let beginning = Beginning { entries, until: Until::default(), serve: true, clock: Some(Arc::clone(&clock)) };
    let checked = crawl::check(&context, &beginning)?;
    let runtime = network::runtime(1)?;
    let shown = runtime.block_on(async {
        let opened = crawl::open(&context, &beginning).await?;
        let crawl = crawl::begin(&context, beginning.until, checked, opened).await?;
        show(&context, crawl, &served, real_time).await
    });
    runtime.shutdown_timeout(Duration::from_millis(100));
    shown
}

/// The settings of a demonstration, in place of plain defaults.
fn with_demo_settings(context: &Context, scratch: &std::path::Path) -> Result<Context> {
    let mut in_force = context.in_force.clone();
    let data = scratch.join("data").display().to_string();
    let demo = DEMO_SETTINGS.into_iter().chain([("data", data.as_str())]);
    for (name, value) in demo {
        for given in &mut in_force.all {
            if given.setting.name == name && given.source == Source::Default {
                given.values = vec![value.to_owned()];
                given.source = Source::Demonstration;
            }
        }
    }
    let settings = Settings::read(&in_force)?;
    Ok(Context {
        log: context.log.clone(),
        json: context.json,
        time: context.time,
        token: context.token.clone(),
        in_force,
        settings,
    })
}

/// A given folder may hold an earlier demonstration; time goes on behind it.
fn last_moment(context: &Context) -> Result<vernal_model::Moment> {
    let data = &context.settings.data;
    if !crate::runtime::folder::exists(data) {
        return Ok(vernal_model::Moment::EPOCH);
    }
    let settings = crate::runtime::parts::repository_settings(&context.settings);
    let (repository, _) =
        vernal_repository::Repository::open(data, settings, crate::runtime::clock::wall()).or_fail()?;
    let last = repository.reader().last_moment();
    repository.close().or_fail()?;
    Ok(last)
}

async fn show(context: &Context, mut crawl: Crawl, served: &Served, real_time: Option<Span>) -> Result<()> {
    let mut signals = Signals::listen()?;
    let sites = served.addresses().len();
    let settings = &context.settings;
    tracing::info!(
        "{sites} invented sites; one second is {} seconds; budget {}, policy {}",
        settings.time_scale,
        settings.crawler.budget,
        settings.crawler.policy
    );
    if let Some(url) = &crawl.serving_on {
        tracing::info!("serving on {url}");
        if real_time.is_none() && !context.json {
            let mut sink = Sink::stdout();
            sink.line(&format!("The dashboard is on {url} and goes on until you stop it with Ctrl-C."))?;
            if let Some(token) = local_token::of(&settings.data).filter(|_| context.token.is_none()) {
                // The folder goes with the demonstration, and the token with it.
                sink.line(&format!("To change things in it, open {url}login?token={token}"))?;
            }
            sink.flush()?;
        }
    }
    let truth = Truth::new(served.web());
    let mut sink = Sink::stdout();
    let mut seconds: Vec<Second> = Vec::new();
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    ticks.tick().await;
    let time_is_up = async {
        match real_time {
            Some(real_time) => tokio::time::sleep(Duration::from_micros(real_time.micros())).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(time_is_up);
    let ended = loop {
        tokio::select! {
            ended = crawl.ended() => break Some(ended),
            _ = signals.next() => break None,
            () = &mut time_is_up => break None,
            _ = ticks.tick() => {
                let second = measure(&crawl, &truth, seconds.len() as u64 + 1)?;
                tell(context, &mut sink, &second)?;
                seconds.push(second);
            }
        }
    };
    let last = measure(&crawl, &truth, seconds.len() as u64 + 1)?;
    seconds.push(last);
    let summary = summary(context, &crawl, &seconds, served);
    let ended = match ended {
        Some(ended) => ended,
        None => crawl.stop(signals).await,
    };
    crawl.close().await;
    if let Ended::Failed(error) = ended.ended {
        return Err(Error::failed(error));
    }
    conclude(context, &mut sink, &summary, &seconds)
}

fn measure(crawl: &Crawl, truth: &Truth, second: u64) -> Result<Second> {
    let totals = crawl.reader.totals();
    let now = crawl.clock.now();
    let check = truth.check_copy(&crawl.reader, now)?;
    let changes = check.changes_found;
    Ok(Second {
        second,
        moment: now.rfc3339(),
        held: check.held,
        waiting: totals.waiting,
        visits: totals.visits,
        changes,
        noise_found: check.noise_found,
        freshness: check.freshness().value(),
        wire_bytes: totals.wire_bytes,
        visits_per_change: (changes > 0).then(|| totals.visits as f64 / changes as f64),
        trap_pages: check.trap_pages,
        trap_changes: check.trap_changes,
        list_changes: check.list_changes,
        true_changes: check.changes_happened,
    })
}

fn tell(context: &Context, sink: &mut Sink, second: &Second) -> Result<()> {
    if context.json {
        sink.line(&serde_json::to_string(second).or_fail()?)?;
    } else {
        sink.line(&format!(
            "{:>3}s  {:>6} held  {:>6} waiting  {:>7} visits  {:>6} changes  {:>5.1}% fresh  {:>6.1} MB{}",
            second.second,
            second.held,
            second.waiting,
            second.visits,
            second.changes,
            second.freshness * 100.0,
            second.wire_bytes as f64 / 1e6,
            second.visits_per_change.map_or_else(String::new, |cost| format!("  {cost:.1} visits per change"))
        ))?;
    }
    sink.flush()
}

fn summary(context: &Context, crawl: &Crawl, seconds: &[Second], served: &Served) -> Summary {
    let totals = crawl.reader.totals();
    let now = crawl.clock.now();
    let last = seconds.last();
    let count = |of: fn(&Second) -> u64| last.map_or(0, of);
    let mean = seconds.iter().map(|second| second.freshness).sum::<f64>() / seconds.len().max(1) as f64;
    Summary {
        summary: true,
        seconds: seconds.len() as u64,
        simulated: now.since(crawl.clock.began()).to_string(),
        held: count(|last| last.held),
        visits: totals.visits,
        changes: count(|last| last.changes),
        noise_found: count(|last| last.noise_found),
        versions: totals.versions,
        wire_bytes: totals.wire_bytes,
        freshness_last: last.map_or(0.0, |second| second.freshness),
        freshness_mean: mean,
        true_changes: count(|last| last.true_changes),
        trap_pages: count(|last| last.trap_pages),
        trap_changes: count(|last| last.trap_changes),
        list_changes: count(|last| last.list_changes),
        requests_served: served.counts().requests,
        budget: context.settings.crawler.budget.to_string(),
        policy: context.settings.crawler.policy.clone(),
    }
}

fn conclude(context: &Context, sink: &mut Sink, summary: &Summary, seconds: &[Second]) -> Result<()> {
    if context.json {
        sink.line(&serde_json::to_string(summary).or_fail()?)?;
        return sink.flush();
    }
    let freshness: Vec<f64> = seconds.iter().map(|second| second.freshness).collect();
    sink.line("")?;
    sink.line("freshness against the truth, over time")?;
    for line in plot::lines(&freshness) {
        sink.line(&line)?;
    }
    sink.line("")?;
    sink.line(&format!(
        "{} of invented time: {} pages held and {} more within traps, {} visits, {} versions, {}",
        summary.simulated,
        summary.held,
        summary.trap_pages,
        summary.visits,
        summary.versions,
        bytes_shown(summary.wire_bytes)
    ))?;
    sink.line(&format!(
        "{} visits found what really changed; {} changes happened on those pages since they were first visited",
        summary.changes, summary.true_changes
    ))?;
    sink.line(&format!(
        "{} more took for a change what was none, such as a counter on the page that was not yet known to be noise",
        summary.noise_found
    ))?;
    sink.line(&format!(
        "{} changes more were found on pages within traps, most of them copies of pages counted above, and {} of sitemaps; \
         `status` and `changes` count all of these",
        summary.trap_changes, summary.list_changes
    ))?;
    sink.line(&format!(
        "freshness {:.1}% at the end, {:.1}% on average",
        summary.freshness_last * 100.0,
        summary.freshness_mean * 100.0
    ))?;
    sink.flush()
}
