//! The listeners: one for each site, on ports of one address or on addresses of their own.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use vernal_model::Moment;

use super::answer_cache::AnswerCache;
use super::connection::{Shared, serve_connection};
use super::log::{Counts, Log, Logged};
use crate::scenario::Scenario;
use crate::web::{Request, Web};
use crate::{Error, Result};

/// Tells the served web what time it is.
pub type Clock = Arc<dyn Fn() -> Moment + Send + Sync>;

/// More connections than this wait to be accepted.
const CONNECTIONS_MAX: usize = 8_192;
const BACKLOG: u32 = 1_024;

/// How often a port is tried that is free on all the spread addresses.
const PORT_TRIES_MAX: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServeOptions {
    pub address: IpAddr,
    /// The first site's port, and that of all sites with `spread_addresses`; the others follow. 0 takes what is free.
    pub port: u16,
    /// Site i listens on 127.0.(1+i/250).(1+i%250), so that sites have addresses of their own.
    pub spread_addresses: bool,
    /// Sites keep their names in links. Who visits them needs a hosts table that leads to `Served::addresses`.
    pub named: bool,
    pub threads: usize,
    /// Whole answers kept ready.
    pub cache_bytes_max: usize,
    /// Requests kept in the log; 0 keeps none.
    pub log_requests_max: usize,
    /// Whether every lasting answer is made before the first request comes.
    pub warm: bool,
}

impl Default for ServeOptions {
    fn default() -> Self {
        ServeOptions {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            spread_addresses: false,
            named: false,
            threads: 1,
            cache_bytes_max: 128 << 20,
            log_requests_max: 200_000,
            warm: false,
        }
    }
}

/// A web that is being served until this is stopped or dropped.
pub struct Served {
    web: Arc<Web>,
    addresses: Vec<(String, SocketAddr)>,
    shared: Arc<Shared>,
    runtime: Option<Runtime>,
}

/// Serves a web on a runtime of its own. Links between sites use the addresses that the sites got.
pub fn serve(web: &Web, clock: Clock, options: &ServeOptions) -> Result<Served> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(options.threads.max(1))
        .thread_name("invented-web")
        .enable_all()
        .build()
        .map_err(Error::Runtime)?;
    let listeners = {
        let _within = runtime.enter();
        listen(web.sites(), options)?
    };
    let root = |(site, (_, address)): (usize, &(TcpListener, SocketAddr))| {
        let root = if options.named { web.root(site).to_owned() } else { format!("http://{address}") };
        (root, *address)
    };
    let addresses: Vec<(String, SocketAddr)> = listeners.iter().enumerate().map(root).collect();
    let web = Arc::new(web.rooted(addresses.iter().map(|(root, _)| root.clone()).collect()));
    let shared = Arc::new(Shared {
        kept: AnswerCache::new(options.cache_bytes_max),
        log: Log::new(web.sites(), options.log_requests_max),
        clock,
        web: Arc::clone(&web),
    });
    if options.warm {
        warm(&shared);
    }
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    for (site, (listener, _)) in listeners.into_iter().enumerate() {
        runtime.spawn(accept(listener, site, Arc::clone(&shared), Arc::clone(&room)));
    }
    Ok(Served { web, addresses, shared, runtime: Some(runtime) })
}

/// Serves a scenario's web, whose first version is that of `origin`, or of now.
pub fn standalone(scenario: &Scenario, origin: Option<Moment>, clock: Clock) -> Result<Served> {
    let mut settings = scenario.web.clone();
    settings.origin = origin.unwrap_or_else(|| clock());
    serve(&Web::new(settings)?, clock, &scenario.serve)
}

impl Served {
    /// The web under the addresses it is served at.
    pub fn web(&self) -> &Arc<Web> {
        &self.web
    }

    /// Root URL (no slash at the end) and address of each site.
    pub fn addresses(&self) -> &[(String, SocketAddr)] {
        &self.addresses
    }

    /// The URLs of all sites' first pages.
    pub fn seeds(&self) -> Vec<String> {
        self.addresses.iter().map(|(root, _)| format!("{root}/")).collect()
    }

    pub fn counts(&self) -> Counts {
        self.shared.log.counts()
    }

    /// The newest requests, in the order in which they were finished.
    pub fn log(&self) -> Vec<Logged> {
        self.shared.log.entries()
    }

    pub fn stop(self) {}
}

/// Connections are cut off at once, as the slow ones would never end.
impl Drop for Served {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn listen(sites: usize, options: &ServeOptions) -> Result<Vec<(TcpListener, SocketAddr)>> {
    let tries = if options.spread_addresses && options.port == 0 { PORT_TRIES_MAX } else { 1 };
    let mut outcome = Ok(Vec::new());
    for _ in 0..tries {
        outcome = listen_once(sites, options);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

fn listen_once(sites: usize, options: &ServeOptions) -> Result<Vec<(TcpListener, SocketAddr)>> {
    let mut listeners: Vec<(TcpListener, SocketAddr)> = Vec::with_capacity(sites);
    for site in 0..sites {
        let first_port = listeners.first().map_or(options.port, |(_, address)| address.port());
        let address = match options.spread_addresses {
            true => SocketAddr::new(spread_address(site), first_port),
            false if options.port == 0 => SocketAddr::new(options.address, 0),
            false => SocketAddr::new(options.address, options.port.saturating_add(site as u16)),
        };
        let bound = listen_at(address).map_err(|source| Error::Listen { site, address, source })?;
        listeners.push(bound);
    }
    Ok(listeners)
}

fn spread_address(site: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, (1 + site / 250) as u8, (1 + site % 250) as u8))
}

fn listen_at(address: SocketAddr) -> std::io::Result<(TcpListener, SocketAddr)> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

async fn accept(listener: TcpListener, site: usize, shared: Arc<Shared>, room: Arc<Semaphore>) {
    // The semaphore is never closed, so this ends only with the runtime.
    while let Ok(place) = Arc::clone(&room).acquire_owned().await {
        // An accept fails because of the client, or for want of descriptors, which passes when connections end.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::task::yield_now().await;
            continue;
        };
        shared.log.connections.fetch_add(1, Relaxed);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            // A reader that goes away in the middle is nothing to report.
            let _ = serve_connection(stream, site, &shared).await;
            drop(place);
        });
    }
}

fn warm(shared: &Shared) {
    let now = (shared.clock)();
    for site in 0..shared.web.sites() {
        for page in shared.web.pages_of(site) {
            let path_and_query = shared.web.path(page);
            let request = Request { site, path_and_query, accepts_gzip: true, ..Request::default() };
            shared.prepare(&request, now);
        }
    }
}
