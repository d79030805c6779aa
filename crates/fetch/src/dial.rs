//! The only place that opens connections: it resolves the name, asks the guard, connects and starts TLS.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};
use vernal_model::{Failure, Outcome, Refusal, Stage, Url};

use crate::dns::Resolve;
use crate::guard::{self, Guard};
use crate::hosts::Hosts;
use crate::{Error, Result, Settings, Timeouts};

/// So many addresses of one name are tried before the site counts as unreachable.
const ADDRESSES_TRIED_MAX: usize = 4;

#[derive(Clone)]
pub struct Dialler {
    guard: Guard,
    timeouts: Timeouts,
    hosts: Arc<Hosts>,
    resolver: Arc<dyn Resolve>,
    tls: TlsConnector,
}

/// The addresses of a site that the guard allows, and the time left to connect to one of them.
pub struct Targets {
    addresses: Vec<SocketAddr>,
    time_left: Duration,
}

impl Targets {
    /// The address that is dialled first.
    pub fn address(&self) -> Option<IpAddr> {
        self.addresses.first().map(SocketAddr::ip)
    }
}

impl Dialler {
    pub fn new(settings: &Settings, resolver: Arc<dyn Resolve>) -> Result<Self> {
        Ok(Dialler {
            guard: Guard { allow_private: settings.allow_private, own_listeners: settings.own_listeners.clone() },
            timeouts: settings.timeouts,
            hosts: Arc::new(settings.hosts.clone()),
            resolver,
            tls: TlsConnector::from(Arc::new(tls_settings(settings)?)),
        })
    }

    /// The same, which trusts these certificates too.
    pub fn trusting(&self, settings: &Settings, certificates: &[Vec<u8>]) -> Result<Self> {
        if certificates.is_empty() {
            return Ok(self.clone());
        }
        let extra_roots = settings.extra_roots.iter().chain(certificates).cloned().collect();
        let settings = Settings { extra_roots, ..settings.clone() };
        Ok(Dialler { tls: TlsConnector::from(Arc::new(tls_settings(&settings)?)), ..self.clone() })
    }

    /// Resolves the site of this URL. The outcome says why there is no address.
    /// With `public_only` no private address is among them, whatever the settings allow.
    pub async fn look_up(&self, url: &Url, public_only: bool) -> std::result::Result<Targets, Outcome> {
        guard::check_port(url.scheme(), url.port()).map_err(|why| Outcome::Refused(Refusal::Guard(why)))?;
        self.look_up_host(url.host(), url.port(), public_only).await
    }

    /// The same for a host and a port that whoever asks has judged.
    pub async fn look_up_host(
        &self,
        host: &str,
        port: u16,
        public_only: bool,
    ) -> std::result::Result<Targets, Outcome> {
        let deadline = Instant::now() + self.timeouts.connect;
        let named = self.hosts.targets(host, port);
        let at_port =
            |addresses: Vec<IpAddr>| addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect();
        let targets = match guard::literal(host) {
            _ if !named.is_empty() => named,
            Some(address) => at_port(vec![address]),
            None => match timeout_at(deadline, self.resolver.resolve(host)).await {
                Ok(Ok(addresses)) => at_port(addresses),
                Ok(Err(why)) => return Err(Outcome::Failed(Failure::Dns(why))),
                Err(_) => return Err(Outcome::Failed(Failure::Dns("no answer in time".into()))),
            },
        };
        let addresses = self.allowed(targets, public_only)?;
        Ok(Targets { addresses, time_left: deadline.saturating_duration_since(Instant::now()) })
    }

    /// Connects to the first of these addresses that answers.
    pub async fn connect(&self, found: &Targets) -> std::result::Result<TcpStream, Outcome> {
        let (allowed, deadline) = (&found.addresses, Instant::now() + found.time_left);
        let mut trouble = Failure::Connect("the name has no address".into());
        for (number, target) in allowed.iter().enumerate() {
            // Each address gets its share of the time, so that a dead one leaves time for the rest.
            let tries_left = (allowed.len() - number) as u32;
            let share = deadline.saturating_duration_since(Instant::now()) / tries_left;
            match self.dial(*target, share).await {
                Ok(stream) => return Ok(stream),
                Err(Outcome::Failed(failure)) => trouble = failure,
                Err(refused) => return Err(refused),
            }
        }
        Err(Outcome::Failed(trouble))
    }

    /// Opens a second connection to a known peer (FTP data).
    pub async fn connect_to(&self, address: IpAddr, port: u16) -> std::result::Result<TcpStream, Outcome> {
        let target = SocketAddr::new(address, port);
        guard::check_data_port(port).map_err(|why| Outcome::Refused(Refusal::Guard(why)))?;
        self.guard.check(target).map_err(|why| Outcome::Refused(Refusal::Guard(why)))?;
        self.dial(target, self.timeouts.connect).await
    }

    pub async fn secure(&self, stream: TcpStream, url: &Url) -> std::result::Result<TlsStream<TcpStream>, Outcome> {
        self.secure_host(stream, url.host()).await
    }

    pub async fn secure_host(
        &self,
        stream: TcpStream,
        host: &str,
    ) -> std::result::Result<TlsStream<TcpStream>, Outcome> {
        let failed = |why: String| Outcome::Failed(Failure::Tls(why));
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host).map_err(|error| failed(error.to_string()))?;
        match timeout(self.timeouts.tls, self.tls.connect(name, stream)).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(_) => Err(Outcome::Failed(Failure::Timeout(Stage::Tls))),
        }
    }

    /// The addresses that the guard allows; an outcome when it allows none.
    fn allowed(&self, targets: Vec<SocketAddr>, public_only: bool) -> std::result::Result<Vec<SocketAddr>, Outcome> {
        let mut refusal = None;
        let mut allowed = Vec::new();
        for target in targets {
            match self.guard.check(target).and_then(|()| guard::check_led_to(target.ip(), public_only)) {
                Ok(()) => allowed.push(target),
                Err(why) => {
                    tracing::debug!(%target, %why, "address refused by the guard");
                    refusal = refusal.or(Some(why));
                }
            }
        }
        allowed.truncate(ADDRESSES_TRIED_MAX);
        match refusal {
            Some(why) if allowed.is_empty() => Err(Outcome::Refused(Refusal::Guard(why))),
            _ => Ok(allowed),
        }
    }

    async fn dial(&self, target: SocketAddr, limit: Duration) -> std::result::Result<TcpStream, Outcome> {
        let failed = |error: std::io::Error| Outcome::Failed(Failure::Connect(error.to_string()));
        let stream = match timeout(limit, TcpStream::connect(target)).await {
            Ok(connected) => connected.map_err(failed).inspect_err(|outcome| {
                tracing::debug!(%target, why = outcome.detail(), "dial failed");
            })?,
            Err(_) => {
                tracing::debug!(%target, "dial timed out");
                return Err(Outcome::Failed(Failure::Timeout(Stage::Connect)));
            }
        };
        let local = stream.local_addr().map_err(failed)?;
        self.guard.check_dialled(local, target).map_err(|why| Outcome::Refused(Refusal::Guard(why)))?;
        // A request is one small write. Waiting to fill a TCP segment would only delay it.
        stream.set_nodelay(true).map_err(failed)?;
        tracing::debug!(%target, "dialled");
        Ok(stream)
    }
}

fn tls_settings(settings: &Settings) -> Result<ClientConfig> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for certificate in &settings.extra_roots {
        roots.add(CertificateDer::from(certificate.clone())).map_err(|error| Error::Tls(error.to_string()))?;
    }
    let mut tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Tls(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = match settings.http2 {
        true => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        false => vec![b"http/1.1".to_vec()],
    };
    Ok(tls)
}
