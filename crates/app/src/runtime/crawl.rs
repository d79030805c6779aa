//! A crawl put together and set going: repository, crawler, workers, loop, socket and listener.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use vernal_crawler::{Act, Crawler};
use vernal_fetch::Workers;
use vernal_model::{Moment, Seed};
use vernal_repository::{Reader, Recovery, Repository, TablesRecovery};

use super::clock::{Clock, wall};
use super::live::{self, Ended, Handle, LoopError, Until};
use super::{folder, parts, runs, serving};
use crate::api::{self, AccessGuard, CrawlBackend, Shared, is_loopback};
use crate::command::Context;
use crate::error::{Error, OrFail, Result};
use crate::seeds::{self, Defaults, SEEDS_AT_ONCE, SeedEntry};

/// How often and how long a crawl tries to get at a folder in which nobody answers.
const TRIES_MAX: usize = 30;
const TRY_EVERY: std::time::Duration = std::time::Duration::from_millis(100);

/// What a crawl is begun with.
pub struct Beginning {
    pub entries: Vec<SeedEntry>,
    pub until: Until,
    /// Whether API and status page are served on the network.
    pub serve: bool,
    /// Sites of an invented web have their own time; `None` starts a clock at the wall's hour.
    pub clock: Option<Arc<Clock>>,
}

/// A crawl that runs.
pub struct Crawl {
    pub handle: Handle,
    pub reader: Reader,
    pub clock: Arc<Clock>,
    pub listening: Option<SocketAddr>,
    ended: oneshot::Receiver<Ended>,
    thread: JoinHandle<()>,
    stop: watch::Sender<bool>,
    servers: Vec<tokio::task::JoinHandle<()>>,
    data: std::path::PathBuf,
}

/// What must be right before anything is opened or written.
pub struct Checked {
    pub crawler: vernal_crawler::Settings,
    pub token: Option<String>,
    pub warning: Option<String>,
}

/// Judges the settings of a crawl without touching the data folder.
pub fn check(context: &Context, beginning: &Beginning) -> Result<Checked> {
    let settings = &context.settings;
    folder::check_place(&settings.data)?;
    let crawler = parts::crawler_settings(settings, beginning.until)?;
    let seeds = seeds_of(context, &beginning.entries, wall())?;
    let warning = if seeds.is_empty() { None } else { parts::identity(settings, &seeds)? };
    let token = if beginning.serve { token(context)? } else { None };
    Ok(Checked { crawler, token, warning })
}

fn seeds_of(context: &Context, entries: &[SeedEntry], now: Moment) -> Result<Vec<Seed>> {
    let defaults = Defaults { scope: context.settings.scope, depth: context.settings.depth };
    entries.iter().map(|entry| entry.seed(defaults, now).or_usage()).collect()
}

/// Beyond loopback nobody listens without a token.
fn token(context: &Context) -> Result<Option<String>> {
    let settings = &context.settings;
    let token = match &settings.token_file {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| Error::Usage(format!("read the token of {}: {error}", path.display())))?;
            text.lines().next().map(|line| line.trim().to_owned())
        }
        None => context.token.clone(),
    };
    match token {
        Some(token) if token.is_empty() => Err(Error::usage("the token is empty")),
        None if !is_loopback(&settings.listen) => Err(Error::Usage(format!(
            "listening on {} needs a token: give --token-file or VERNAL_TOKEN, or listen on loopback",
            settings.listen
        ))),
        token => Ok(token),
    }
}

/// What a crawl stands on, taken and not yet written to.
pub struct Opened {
    repository: Repository,
    reader: Reader,
    clock: Arc<Clock>,
    seeds: Vec<Seed>,
    listener: Option<TcpListener>,
    warnings: Vec<String>,
}

/// Takes the folder and the port, or says who has them.
pub async fn open(context: &Context, beginning: &Beginning) -> Result<Opened> {
    let settings = &context.settings;
    let (repository, recovery) = take_folder(context).await?;
    let mut warnings = Vec::new();
    if let TablesRecovery::Rebuilt(why) = &recovery.tables {
        warnings.push(format!("the tables were made anew from the journal: {why}"));
    }
    if recovery.journal_bytes_cut + recovery.segment_bytes_cut > 0 {
        warnings.push("the last run ended in the middle of a write; nothing acknowledged was lost".into());
    }
    let reader = repository.reader();
    let start = || Arc::new(Clock::resume(reader.time_origin(), reader.last_moment(), settings.time_scale));
    let clock = beginning.clock.clone().unwrap_or_else(start);
    let seeds = seeds_of(context, &beginning.entries, clock.now())?;
    warnings.extend(judge_seeds(context, &reader, &seeds)?);
    let listener = if beginning.serve { Some(listen(settings.listen).await?) } else { None };
    Ok(Opened { repository, reader, clock, seeds, listener, warnings })
}

/// Sets the crawl going.
pub async fn begin(context: &Context, until: Until, checked: Checked, opened: Opened) -> Result<Crawl> {
    let settings = &context.settings;
    let Opened { repository, reader, clock, seeds, listener, warnings } = opened;
    for warning in warnings {
        context.log.warn(warning);
    }
    let crawler_settings = vernal_crawler::Settings { time_origin: Some(clock.origin()), ..checked.crawler };
    let mut crawler = Crawler::open(repository, crawler_settings, clock.now()).or_fail()?;
    for some in seeds.chunks(SEEDS_AT_ONCE) {
        crawler.act(Act::AddSeeds(some.to_vec()), clock.now()).or_fail()?;
    }
    note_run(context, clock.now())?;
    let listening = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let inbox = live::inbox();
    let fetch = parts::fetch_settings(settings, listening.into_iter().collect());
    let workers_clock: Arc<dyn vernal_fetch::Clock> = Arc::<Clock>::clone(&clock);
    let workers = Workers::start(fetch, workers_clock, vernal_fetch::dns::system(), inbox.0.sink()).or_fail()?;
    let (ended_sender, ended) = oneshot::channel();
    let log = context.log.clone();
    let (handle, thread) =
        live::start(crawler, workers, Arc::clone(&clock), until, inbox, log, ended_sender).or_fail()?;
    let (stop, stopped) = watch::channel(false);
    let backend = CrawlBackend::Live(handle.clone());
    let shared = Shared::new(context, settings.clone(), reader.clone(), Arc::clone(&clock), backend);
    let router = api::router(Arc::new(shared.stopped_by(stopped.clone())));
    let mut servers =
        vec![serving::serve_socket(serving::bind_socket(&settings.data)?, router.clone(), stopped.clone())];
    if let (Some(listener), Some(listening_on)) = (listener, listening) {
        let guarded = AccessGuard { listening_on, token: checked.token, keyed: settings.keyed_paths() }.guard(router);
        servers.push(serving::serve_tcp(listener, guarded, stopped));
    }
    let data = settings.data.clone();
    Ok(Crawl { handle, reader, clock, listening, ended, thread, stop, servers, data })
}

fn note_run(context: &Context, started: Moment) -> Result<()> {
    let settings = &context.settings;
    let politeness = runs::Politeness { started, delay: settings.delay, per_site: settings.per_site };
    let run_settings = runs::RunSettings {
        budget: settings.budget.to_string(),
        policy: settings.policy.clone(),
        allow_private: settings.allow_private,
        strict: settings.strict,
        strict_sites: settings.strict_sites.clone(),
        promises: context.in_force.given("promises").map(|given| given.values.clone()).unwrap_or_default(),
    };
    runs::append(&settings.data, politeness, run_settings)
}

/// Takes the folder. A command that only asks something lets go of it soon; another crawl does not.
async fn take_folder(context: &Context) -> Result<(Repository, Recovery)> {
    let settings = &context.settings;
    let mut tries = 0;
    loop {
        tries += 1;
        match Repository::open(&settings.data, parts::repository_settings(settings), wall()) {
            Err(vernal_repository::Error::Held { .. })
                if tries < TRIES_MAX && serving::connect(&settings.data).await.is_err() =>
            {
                tokio::time::sleep(TRY_EVERY).await;
            }
            Err(error @ vernal_repository::Error::Held { .. }) => {
                return Err(Error::Failed(format!("{error}; stop that, or give another folder with --data")));
            }
            opened => return opened.or_fail(),
        }
    }
}

/// Identity and addresses are judged over all seeds, those of earlier runs included.
fn judge_seeds(context: &Context, reader: &Reader, given: &[Seed]) -> Result<Vec<String>> {
    let mut seeds = reader.seeds().or_fail()?;
    seeds.extend_from_slice(given);
    if seeds.is_empty() {
        return Err(Error::usage("no seed was given and none is known: give URLs, or a file with --seeds"));
    }
    let shut: Vec<String> =
        seeds.iter().filter_map(|seed| seeds::shut(&seed.url, context.settings.allow_private)).collect();
    if shut.len() == seeds.len() {
        return Err(Error::Usage(shut.into_iter().next().unwrap_or_default()));
    }
    let mut warnings: Vec<String> = parts::identity(&context.settings, &seeds)?.into_iter().collect();
    if let Some(first) = shut.first() {
        warnings.push(format!("{} of {} seeds cannot be visited; the first is {first}", shut.len(), seeds.len()));
    }
    Ok(warnings)
}

async fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .map_err(|error| Error::Failed(format!("listen on {address}: {error}; give --listen or --no-serve")))
}

impl Crawl {
    /// Waits until the crawl has ended by itself.
    pub async fn ended(&mut self) -> Ended {
        (&mut self.ended).await.unwrap_or(Ended::Failed(LoopError::ThreadLost))
    }

    /// Stops the servers. The loop has ended, and with it everything is on disk.
    pub async fn close(self) {
        let _ = self.stop.send(true);
        for server in self.servers {
            // Those who still listen have had their end announced; the rest is not waited for.
            let patience = std::time::Duration::from_millis(500);
            let abort = server.abort_handle();
            if tokio::time::timeout(patience, server).await.is_err() {
                abort.abort();
            }
        }
        serving::remove_socket(&self.data);
        let _ = self.thread.join();
    }
}
