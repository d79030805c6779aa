//! Puts a crawl together and starts it: repository, crawler, workers, loop, socket and listener.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use vernal_api::{AccessGuard, AccessTokens, ArchiveOrigin, ConnectionCounts, CorsOrigins, Shared, is_loopback};
use vernal_crawler::{Act, Acted, Crawler};
use vernal_fetch::Workers;
use vernal_model::{Moment, Seed};
use vernal_repository::runs;
use vernal_repository::{Reader, Recovery, Repository, note_damage};

use super::alerts::{AlertService, AlertsFollowing};
use super::backend::LiveCrawl;
use super::clock::{Clock, wall};
use super::connections::ConnectionLimits;
use super::live::{self, Ended, Ending, Handle, LoopError, Until};
use super::search::{Following, SearchService};
use super::shutdown::Signals;
use super::tls::Tls;
use super::{dashboard, descriptors, folder, local_token, network, parts, serving};
use crate::command::Context;
use crate::config::Settings;
use crate::error::{Error, OrFail, Result};
use crate::seeds::{self, Defaults, SEEDS_AT_ONCE, SeedEntry};

/// How often and how long a crawl tries to lock a folder while nobody answers on its socket.
const TRIES_MAX: usize = 30;
const TRY_EVERY: std::time::Duration = std::time::Duration::from_millis(100);

/// What a crawl is begun with.
pub struct Beginning {
    pub entries: Vec<SeedEntry>,
    pub until: Until,
    /// Whether API and dashboard are served on the network.
    pub serve: bool,
    /// The clock that an invented web goes by; `None` starts one at the time of the wall clock.
    pub clock: Option<Arc<Clock>>,
}

/// A crawl that runs.
pub struct Crawl {
    pub handle: Handle,
    pub reader: Reader,
    pub clock: Arc<Clock>,
    /// Where the API is served, as a URL.
    pub serving_on: Option<String>,
    /// Where archived bytes are served, as a URL.
    pub showing_on: Option<String>,
    ended: oneshot::Receiver<Ending>,
    thread: JoinHandle<()>,
    stop: watch::Sender<bool>,
    servers: Vec<tokio::task::JoinHandle<()>>,
    search: Option<Following>,
    alerts: AlertsFollowing,
    data: std::path::PathBuf,
}

/// Settings and seeds that passed every check which needs no data folder.
pub struct Checked {
    pub crawler: vernal_crawler::Settings,
    pub token: Option<String>,
    pub tls: Option<Tls>,
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
    let tls = if beginning.serve { tls(context)? } else { None };
    Ok(Checked { crawler, token, tls, warning })
}

fn seeds_of(context: &Context, entries: &[SeedEntry], now: Moment) -> Result<Vec<Seed>> {
    let defaults = Defaults { scope: context.settings.crawler.scope, depth: context.settings.crawler.depth };
    entries.iter().map(|entry| entry.seed(defaults, now).or_usage()).collect()
}

/// Certificate and key of the listener, if it speaks TLS.
pub(super) fn tls(context: &Context) -> Result<Option<Tls>> {
    let files = context.settings.access.tls().map_err(Error::Usage)?;
    files.map(Tls::open).transpose().or_usage()
}

/// The token that a person gave for the API. Beyond loopback there must be this one or one with a role.
pub(super) fn token(context: &Context) -> Result<Option<String>> {
    let settings = &context.settings;
    let token = match &settings.access.token_file {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| Error::Usage(format!("read the token of {}: {error}", path.display())))?;
            text.lines().next().map(|line| line.trim().to_owned())
        }
        None => context.token.clone(),
    };
    match token {
        Some(token) if token.is_empty() => Err(Error::usage("the token is empty")),
        None => match [Some(settings.listen), settings.access.archive_listen]
            .into_iter()
            .flatten()
            .find(|at| !is_loopback(at))
        {
            Some(address) if !has_tokens(settings)? => Err(Error::Usage(format!(
                "listening on {address} needs a token: make one with `vernal token add NAME --role admin`, give --token-file or \
                 VERNAL_TOKEN, or listen on loopback"
            ))),
            _ => Ok(None),
        },
        token => Ok(token),
    }
}

/// Whether the folder has a token with a role that has not expired.
fn has_tokens(settings: &Settings) -> Result<bool> {
    AccessTokens::of_folder(settings.data.clone(), wall).any_at_work().or_fail()
}

/// The folder and the port of a crawl, taken and not yet written to.
pub struct Opened {
    repository: Repository,
    reader: Reader,
    clock: Arc<Clock>,
    seeds: Vec<Seed>,
    listener: Option<TcpListener>,
    archive_listener: Option<TcpListener>,
    warnings: Vec<String>,
}

/// Locks the folder and binds the port, or says who has them.
pub async fn open(context: &Context, beginning: &Beginning) -> Result<Opened> {
    let settings = &context.settings;
    let (repository, recovery) = take_folder(context).await?;
    let mut warnings = folder::healed(&recovery);
    if recovery.journal_bytes_cut + recovery.segment_bytes_cut > 0 {
        warnings.push("the last run ended in the middle of a write; nothing acknowledged was lost".into());
    }
    let reader = repository.reader();
    let start = || Arc::new(Clock::resume(reader.time_origin(), reader.last_moment(), settings.time_scale));
    let clock = beginning.clock.clone().unwrap_or_else(start);
    let seeds = seeds_of(context, &beginning.entries, clock.now())?;
    warnings.extend(judge_seeds(context, &reader, &seeds)?);
    let listener = if beginning.serve { Some(listen(settings.listen, "listen")?) } else { None };
    let archive = settings.access.archive_listen.filter(|_| beginning.serve);
    let archive_listener = archive.map(|address| listen(address, "archive-listen")).transpose()?;
    Ok(Opened { repository, reader, clock, seeds, listener, archive_listener, warnings })
}

fn add_seeds(crawler: &mut Crawler, seeds: &[Seed], now: Moment) -> Result<()> {
    for some in seeds.chunks(SEEDS_AT_ONCE) {
        if let Acted::ForgottenSeed(url, id) = crawler.act(Act::AddSeeds(some.to_vec()), now).or_fail()? {
            let how = format!("`vernal forget --undo {id}` lets it in again");
            return Err(Error::Failed(format!("{url} was forgotten (entry {id} of the ledger); {how}")));
        }
    }
    Ok(())
}

/// Starts the crawl.
pub async fn begin(context: &Context, until: Until, checked: Checked, opened: Opened) -> Result<Crawl> {
    let settings = &context.settings;
    let Opened { repository, reader, clock, seeds, listener, archive_listener, warnings } = opened;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    let last = runs::settings_of_last_run(&settings.data);
    let larger_bodies = last.is_some_and(|last| last.body_max > 0 && last.body_max < body_max(settings));
    let crawler_settings =
        vernal_crawler::Settings { time_origin: Some(clock.origin()), larger_bodies, ..checked.crawler };
    let crawler = Crawler::open(repository, crawler_settings, clock.now());
    if let Err(vernal_crawler::Error::Repository(error)) = &crawler {
        note_damage(&reader, error);
    }
    let mut crawler = crawler.or_fail()?;
    add_seeds(&mut crawler, &seeds, clock.now())?;
    note_run(context, clock.now())?;
    let address_of = |listener: &Option<TcpListener>| listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let (listening, showing) = (address_of(&listener), address_of(&archive_listener));
    let scheme = if checked.tls.is_some() { "https" } else { "http" };
    let url_of = |address| format!("{scheme}://{address}/");
    let (serving_on, showing_on) = (listening.map(url_of), showing.map(url_of));
    let links_to = serving_on.as_deref().map(|at| at.trim_end_matches('/').to_owned());
    let alerts = Arc::new(AlertService::new(settings, reader.clone(), listening, links_to));
    agree(&alerts, settings, clock.now())?;
    let inbox = live::inbox();
    let fetch = parts::fetch_settings(settings, listening.into_iter().chain(showing).collect());
    if fetch.concurrency < settings.crawler.concurrency {
        tracing::warn!("only {} requests at a time: this process may open no more files", fetch.concurrency);
    }
    let workers_clock: Arc<dyn vernal_fetch::Clock> = Arc::<Clock>::clone(&clock);
    let workers = Workers::start(fetch, workers_clock, vernal_fetch::dns::system(), inbox.0.sink()).or_fail()?;
    let (ended_sender, ended) = oneshot::channel();
    let (handle, thread) = live::start(crawler, workers, Arc::clone(&clock), until, inbox, ended_sender).or_fail()?;
    let (stop, stopped) = watch::channel(false);
    let backend = Arc::new(LiveCrawl { handle: handle.clone(), reader: reader.clone() });
    let search = Arc::new(SearchService::new(settings.data.clone(), reader.clone()));
    let answers_by = parts::api_settings(context, settings)?;
    let shared = Shared::new(
        answers_by,
        reader.clone(),
        Arc::<Clock>::clone(&clock),
        backend,
        Arc::<SearchService>::clone(&search),
        Arc::new(AccessTokens::of_folder(settings.data.clone(), wall)),
    );
    let shared = shared.with_alerts(Arc::<AlertService>::clone(&alerts)).with_archive(scheme, showing);
    let (counts, tokens) = (Arc::clone(&shared.connections), Arc::clone(&shared.tokens));
    let search = settings.search.then(|| search.follow()).transpose().or_fail()?;
    let shared = Arc::new(shared.stopped_by(stopped.clone()));
    let alerts = alerts.follow(Arc::clone(&shared)).or_fail()?;
    let router = vernal_api::router(shared);
    let mut servers =
        vec![serving::serve_socket(serving::bind_socket(&settings.data)?, router.clone(), stopped.clone())];
    if let (Some(listener), Some(listening_on)) = (listener, listening) {
        let guard = guard(settings, listening_on, checked.token, tokens, Arc::clone(&counts))?;
        let limits = ConnectionLimits::of_descriptors(descriptors::limit());
        if let Some(listener) = archive_listener.zip(showing) {
            let origin = ArchiveOrigin { reader: reader.clone(), main: format!("{scheme}://{listening_on}") };
            servers.push(show_archive(settings, listener, origin, guard.clone(), stopped.clone())?);
        }
        let archive = showing.map(|at| format!("{scheme}://{at}"));
        let before = dashboard::before(guard.guard(router), checked.tls.is_some(), archive, false);
        servers.push(network::serve(listener, before, limits, counts, checked.tls, stopped));
    }
    let data = settings.data.clone();
    Ok(Crawl { handle, reader, clock, serving_on, showing_on, ended, thread, stop, servers, search, alerts, data })
}

/// Watches and routes as the settings name them; what cannot be is refused before anything is visited.
fn agree(alerts: &AlertService, settings: &Settings, now: Moment) -> Result<()> {
    alerts.agree(&settings.alerts.wanted(), now).map_err(|error| match error {
        vernal_watch::Error::Wrong(line) => Error::Usage(line),
        other => Error::failed(other),
    })
}

/// Serves archived bytes on an origin of their own, for those who may ask the main one.
fn show_archive(
    settings: &Settings,
    (listener, listening_on): (TcpListener, SocketAddr),
    origin: ArchiveOrigin,
    guard: AccessGuard,
    stopped: watch::Receiver<bool>,
) -> Result<tokio::task::JoinHandle<()>> {
    let guard = AccessGuard { listening_on, keyed: Vec::new(), cors: CorsOrigins::default(), ..guard };
    let files = settings.access.tls().map_err(Error::Usage)?;
    let tls = files.map(Tls::open).transpose().or_usage()?;
    let limits = ConnectionLimits::of_descriptors(descriptors::limit());
    let router = guard.guard(vernal_api::archive_router(origin));
    Ok(network::serve(listener, router, limits, Arc::default(), tls, stopped))
}

/// Who may ask the listener.
fn guard(
    settings: &Settings,
    listening_on: SocketAddr,
    token: Option<String>,
    tokens: Arc<AccessTokens>,
    counts: Arc<ConnectionCounts>,
) -> Result<AccessGuard> {
    if let Err(error) = tokens.list() {
        tracing::error!("{error}");
    }
    Ok(AccessGuard {
        listening_on,
        token,
        local_token: local_token::make(&settings.data)?,
        tokens,
        keyed: settings.keyed_paths(),
        cors: settings.access.cors.clone(),
        requests_per_second: settings.access.rate,
        counts,
    })
}

fn body_max(settings: &Settings) -> u64 {
    settings.fetch.body_bytes_max as u64
}

fn note_run(context: &Context, started: Moment) -> Result<()> {
    let settings = &context.settings;
    let given = |name: &str| context.in_force.given(name).map(|given| given.values.clone()).unwrap_or_default();
    let politeness = runs::Politeness { started, delay: settings.crawler.delay, per_site: settings.crawler.per_site };
    let run_settings = runs::RunSettings {
        budget: settings.crawler.budget.to_string(),
        policy: settings.crawler.policy.clone(),
        allow_private: settings.fetch.allow_private,
        strict: settings.crawler.strict,
        strict_sites: settings.crawler.strict_sites.clone(),
        body_max: body_max(settings),
        journal: settings.repository.journal.name().to_owned(),
        promises: given("promises"),
        url_thresholds: given("url-thresholds"),
    };
    runs::append(&settings.data, politeness, run_settings).or_fail()
}

/// Locks the folder. A command that holds it for a question lets go soon; another crawl does not.
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
    let shut: Vec<String> = seeds
        .iter()
        .filter_map(|seed| seeds::why_never_visited(&seed.url, context.settings.fetch.allow_private))
        .collect();
    if shut.len() == seeds.len() {
        return Err(Error::Usage(shut.into_iter().next().unwrap_or_default()));
    }
    let mut warnings: Vec<String> = parts::identity(&context.settings, &seeds)?.into_iter().collect();
    if let Some(first) = shut.first() {
        warnings.push(format!("{} of {} seeds cannot be visited; the first is {first}", shut.len(), seeds.len()));
    }
    Ok(warnings)
}

pub(super) fn listen(address: SocketAddr, setting: &str) -> Result<TcpListener> {
    network::listen(address)
        .map_err(|error| Error::Failed(format!("listen on {address}: {error}; give --{setting} or --no-serve")))
}

impl Crawl {
    /// Waits until the crawl has ended by itself.
    pub async fn ended(&mut self) -> Ending {
        let ending = (&mut self.ended).await.unwrap_or_else(|_| Ended::Failed(LoopError::ThreadLost).into());
        if let Ended::Failed(LoopError::Crawler(vernal_crawler::Error::Repository(error))) = &ending.ended {
            note_damage(&self.reader, error);
        }
        ending
    }

    /// Asks for a clean stop and waits for it; another signal ends the process at once.
    pub async fn stop(&mut self, signals: Signals) -> Ending {
        self.handle.stop();
        signals.end_at_once_on_next();
        self.ended().await
    }

    /// Stops the servers. The loop has ended, and with it everything is on disk.
    pub async fn close(self) {
        let _ = self.stop.send(true);
        for server in self.servers {
            // Streams have been told to end; connections that stay open all the same are not waited for.
            let patience = std::time::Duration::from_millis(500);
            let abort = server.abort_handle();
            if tokio::time::timeout(patience, server).await.is_err() {
                abort.abort();
            }
        }
        self.alerts.stop();
        if let Some(search) = self.search {
            search.stop();
        }
        serving::remove_socket(&self.data);
        local_token::remove(&self.data);
        let _ = self.thread.join();
    }
}
