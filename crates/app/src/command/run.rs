//! `vernal run`: the main job.

use std::time::Duration;

use clap::Args;
use vernal_crawler::UnreachedSeed;
use vernal_model::{BudgetUnit, Span};
use vernal_repository::Totals;

use super::{Context, printed_list, seeds};
use crate::config::{Flags, Source};
use crate::error::{Error, OrFail, Result};
use crate::output::Sink;
use crate::runtime::crawl::{self, Beginning, Checked, Crawl};
use crate::runtime::folder;
use crate::runtime::live::{Ended, Ending, Until};
use crate::runtime::network;
use crate::runtime::parts;
use crate::runtime::progress::Progress;
use crate::runtime::shutdown::Signals;
use crate::seeds::SeedEntry;

#[derive(Args)]
#[command(after_help = "With --json, standard output gets one JSON object when the run has ended.")]
pub struct Arguments {
    /// Seeds to begin with; without any the crawl continues
    urls: Vec<String>,
    /// End when nothing waits and no held page is due that this process has not visited
    #[arg(long)]
    until_idle: bool,
    /// End after so much real time
    #[arg(long = "for", value_name = "SPAN")]
    real_time: Option<String>,
    /// End after so many requests
    #[arg(long, value_name = "N")]
    visits: Option<u64>,
    /// No API and no dashboard on the network; the socket in the data folder stays
    #[arg(long)]
    no_serve: bool,
    /// Say what would be done; send no request and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub flags: Flags,
}

pub fn run(context: &Context, arguments: Arguments) -> Result<()> {
    let real_time = arguments.real_time.as_deref().map(Span::parse).transpose().or_usage()?;
    let until = Until { idle: arguments.until_idle, visits: arguments.visits };
    parts::crawler_settings(&context.settings, until)?;
    let given = arguments.urls.iter().map(|url| SeedEntry::of(url)).collect();
    let entries = seeds::gather(context, given, context.settings.seeds.as_deref())?;
    let entries = seeds::visitable_entries(context, entries)?;
    let beginning = Beginning { entries, until, serve: !arguments.no_serve, clock: None };
    folder::check_place(&context.settings.data)?;
    if beginning.entries.is_empty() && !folder::exists(&context.settings.data) {
        return Err(Error::usage("no seed was given and none is known: give URLs, or a file with --seeds"));
    }
    let checked = crawl::check(context, &beginning)?;
    if arguments.dry_run {
        return say_what_would_be_done(context, &beginning, &checked);
    }
    let runtime = network::runtime(2)?;
    let ended = runtime.block_on(crawl_until_the_end(context, beginning, checked, real_time));
    runtime.shutdown_timeout(Duration::from_millis(100));
    ended
}

async fn crawl_until_the_end(
    context: &Context,
    beginning: Beginning,
    checked: Checked,
    real_time: Option<Span>,
) -> Result<()> {
    let mut signals = Signals::listen()?;
    let opened = crawl::open(context, &beginning).await?;
    print_settings(context);
    let mut crawl = crawl::begin(context, beginning.until, checked, opened).await?;
    if let Some(url) = &crawl.serving_on {
        tracing::info!("serving on {url}");
    }
    if let Some(url) = &crawl.showing_on {
        tracing::info!("archived pages on {url}");
    }
    let ended = watch(context, &mut crawl, &mut signals, real_time).await;
    let ended = match ended {
        Some(ended) => ended,
        None => crawl.stop(signals).await,
    };
    let totals = crawl.reader.totals();
    crawl.close().await;
    conclude(context, ended, &totals)
}

/// Unreached seeds named one by one; the others are counted.
const UNREACHED_TOLD_MAX: usize = 10;

/// Logs why the crawl ended and its totals; with `--json`, prints them as one JSON object on standard output.
fn conclude(context: &Context, Ending { ended, unreached }: Ending, totals: &Totals) -> Result<()> {
    // Whoever stops a crawl knows that it was not done; one that ends by itself must not pass for done.
    let ends_by_itself = matches!(ended, Ended::Idle | Ended::VisitsSpent);
    let (name, why) = match ended {
        Ended::Failed(error) => return Err(Error::failed(error)),
        Ended::Idle => ("idle", "nothing is left to do"),
        Ended::VisitsSpent => ("visits-spent", "the visits are spent"),
        Ended::Stopped => ("stopped", "stopped"),
    };
    tracing::info!(
        "{why}: {} held, {} waiting, {} visits, {} changes",
        totals.held,
        totals.waiting,
        totals.visits,
        totals.changes
    );
    if context.json {
        print_summary(context, name, totals, &unreached)?;
    }
    let Some(first) = unreached.first() else { return Ok(()) };
    for seed in unreached.iter().skip(1).take(UNREACHED_TOLD_MAX) {
        tracing::warn!("the seed {} could not be reached: {}", seed.url, seed.why);
    }
    let told = match unreached.len() {
        1 => format!("the seed {} could not be reached: {}", first.url, first.why),
        many => format!("{many} seeds could not be reached; the first is {}: {}", first.url, first.why),
    };
    if ends_by_itself {
        return Err(Error::Failed(told));
    }
    tracing::warn!("{told}");
    Ok(())
}

fn print_summary(context: &Context, name: &str, totals: &Totals, unreached: &[UnreachedSeed]) -> Result<()> {
    let unreached: Vec<_> =
        unreached.iter().map(|seed| serde_json::json!({ "url": seed.url.as_str(), "why": seed.why })).collect();
    let summary = serde_json::json!({
        "ended": name, "data": context.settings.data.display().to_string(), "held": totals.held,
        "waiting": totals.waiting, "found_pending": totals.found_pending, "gone": totals.gone, "moved": totals.moved,
        "blocked": totals.blocked, "refused": totals.refused, "failed": totals.failed, "visits": totals.visits,
        "versions": totals.versions, "changes": totals.changes, "events": totals.events,
        "wire_bytes": totals.wire_bytes, "body_bytes": totals.body_bytes, "seeds_unreached": unreached,
    });
    let mut sink = Sink::stdout();
    sink.line(&summary.to_string())?;
    sink.flush()
}

/// Shows progress until the crawl ends by itself, whose reason is returned, or until a signal or the time stops it.
async fn watch(context: &Context, crawl: &mut Crawl, signals: &mut Signals, real_time: Option<Span>) -> Option<Ending> {
    let mut progress = Progress::new(context.log.clone(), &crawl.reader.totals());
    let mut ticks = tokio::time::interval(progress.every());
    ticks.tick().await;
    let time_is_up = async {
        match real_time {
            Some(span) => tokio::time::sleep(Duration::from_micros(span.micros())).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(time_is_up);
    loop {
        tokio::select! {
            ended = crawl.ended() => return Some(ended),
            name = signals.next() => {
                tracing::info!("{name}: stopping; once more to end at once");
                return None;
            }
            () = &mut time_is_up => return None,
            _ = ticks.tick() => progress.show(crawl),
        }
    }
}

/// All settings in force are logged at the start. Each setting that was given has its own line; the defaults share one.
pub fn print_settings(context: &Context) {
    let (defaults, given): (Vec<_>, Vec<_>) =
        context.in_force.all.iter().partition(|given| given.source == Source::Default);
    for given in given {
        tracing::info!("{} = {} ({})", given.setting.key(), given.text(), given.source);
    }
    let defaults: Vec<String> =
        defaults.iter().map(|given| format!("{}={}", given.setting.key(), given.text())).collect();
    tracing::info!("defaults: {}", defaults.join(" "));
    for row in context.in_force.policy_rows() {
        tracing::info!("{} = {} ({})", row.name, printed_list::shown(&row.value), row.source);
    }
    tracing::info!(
        "{}",
        match context.settings.crawler.budget.unit {
            BudgetUnit::PercentOfHeld => "the budget pays for refreshing alone; what is new is bounded by politeness",
            BudgetUnit::Visits | BudgetUnit::WireBytes => "the budget pays for every request, for what is new as well",
        }
    );
}

fn say_what_would_be_done(context: &Context, beginning: &Beginning, checked: &Checked) -> Result<()> {
    let settings = &context.settings;
    let exists = folder::exists(&settings.data);
    let mut sink = Sink::stdout();
    if context.json {
        let seeds: Vec<&str> = beginning.entries.iter().map(|entry| entry.url.as_str()).collect();
        let set: serde_json::Map<String, serde_json::Value> =
            context.in_force.all.iter().map(|given| (given.setting.key(), given.row().value)).collect();
        let told = serde_json::json!({
            "dry_run": true, "data": settings.data.display().to_string(), "continues": exists, "seeds": seeds,
            "serve": beginning.serve, "until_idle": beginning.until.idle, "visits": beginning.until.visits,
            "warning": checked.warning, "settings": set,
        });
        sink.line(&told.to_string())?;
        return sink.flush();
    }
    let what = if exists { "continue the repository in" } else { "make a repository in" };
    sink.line(&format!("would {what} {}", settings.data.display()))?;
    for entry in &beginning.entries {
        sink.line(&format!("would take the seed {}", entry.url))?;
    }
    if beginning.serve {
        let scheme = if checked.tls.is_some() { "https" } else { "http" };
        sink.line(&format!("would serve on {scheme}://{}/", settings.listen))?;
    }
    if let Some(warning) = &checked.warning {
        sink.line(&format!("would warn: {warning}"))?;
    }
    for given in &context.in_force.all {
        sink.line(&format!("{} = {} ({})", given.setting.key(), given.text(), given.source))?;
    }
    for row in context.in_force.policy_rows() {
        sink.line(&format!("{} = {} ({})", row.name, printed_list::shown(&row.value), row.source))?;
    }
    sink.flush()
}
