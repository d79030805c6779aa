//! The alerts of the folder: followed by a thread of low priority while a crawl runs. Its requests go through the guard of the
//! fetchers; nothing of the crawl waits for it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::watch;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use vernal_api::{Alerting, Shared, WatchFeed};
use vernal_fetch::Poster;
use vernal_model::{Moment, Url};
use vernal_repository::Reader;
use vernal_watch::{
    Alerts, Connection, Delivery, DialTls, Error, Follow, LocalFuture, MailStream, Marks, Network, OfSettings, Outcome,
    Post, PostAnswer, Result, Route, SendError,
};

use super::clock::wall;
use super::search::NICE;
use crate::config::Settings;

/// After a failure nothing is tried for so long.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// Threads that read bodies for alerts and look up names; a name that hangs must not hold up another route.
const BLOCKING_MAX: usize = 32;

/// The watches and the outbox of one folder.
pub struct AlertService {
    data: PathBuf,
    reader: Reader,
    programs: Vec<Route>,
    fetch: vernal_fetch::Settings,
    links: Option<String>,
    alerts: Mutex<Option<Arc<Mutex<Alerts>>>>,
    marks: Mutex<Option<Arc<Mutex<Marks>>>>,
}

/// The thread that follows.
pub struct AlertsFollowing {
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

impl AlertService {
    /// `listening` is where the API is served, if it is, and links begin with `links_to` where no public URL is given.
    pub fn new(
        settings: &Settings,
        reader: Reader,
        listening: Option<SocketAddr>,
        links_to: Option<String>,
    ) -> AlertService {
        let fetch = vernal_fetch::Settings {
            allow_private: settings.alerts.allow_private,
            own_listeners: listening.into_iter().collect(),
            ..settings.fetch.clone()
        };
        let public = settings.alerts.public_url.clone();
        AlertService {
            data: settings.data.clone(),
            reader,
            programs: settings.alerts.programs.clone(),
            fetch,
            links: public.or(links_to),
            alerts: Mutex::default(),
            marks: Mutex::default(),
        }
    }

    /// Brings watches and routes into agreement with those of the settings, as each run begins with.
    pub fn agree(&self, wanted: &OfSettings, crawl_now: Moment) -> Result<()> {
        if wanted.watches.is_empty() && wanted.routes.is_empty() && !self.is_used() {
            return Ok(());
        }
        let alerts = self.alerts()?;
        let mut alerts = alerts.lock().unwrap_or_else(PoisonError::into_inner);
        let told = alerts.agree(wanted, self.reader.cursor(), (crawl_now, wall()))?;
        told.iter().for_each(|line| tracing::warn!("{line}"));
        Ok(())
    }

    fn network(&self) -> Result<Guarded> {
        let poster = Poster::new(self.fetch.clone(), vernal_fetch::dns::system());
        Ok(Guarded(poster.map_err(|error| Error::Wrong(error.to_string()))?))
    }

    /// Starts the thread that follows the feed and empties the outbox.
    pub fn follow(self: Arc<Self>, shared: Arc<Shared>) -> std::io::Result<AlertsFollowing> {
        let (stop, stopped) = watch::channel(false);
        let thread =
            std::thread::Builder::new().name("alerts".into()).spawn(move || self.followed(&shared, stopped))?;
        Ok(AlertsFollowing { stop, thread })
    }

    /// The life of the thread.
    fn followed(&self, shared: &Arc<Shared>, mut stopped: watch::Receiver<bool>) {
        // On Linux this is the priority of this thread and of those that it starts.
        let _ = rustix::process::setpriority_process(None, NICE);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(BLOCKING_MAX).build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => return tracing::warn!("no alerts are sent: {error}"),
        };
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, async {
            // A short crawl may be told to stop before this thread has begun: what it found is told all the same.
            loop {
                match self.followed_until(shared, stopped.clone()).await {
                    Ok(()) => return,
                    Err(error) => tracing::warn!("alerts wait for {} s: {error}", RETRY_AFTER.as_secs()),
                }
                tokio::select! {
                    () = tokio::time::sleep(RETRY_AFTER) => {}
                    _ = stopped.changed() => {}
                }
                if *stopped.borrow() {
                    return;
                }
            }
        });
        // A body that is being read is not waited for.
        runtime.shutdown_background();
    }

    async fn followed_until(&self, shared: &Arc<Shared>, stopped: watch::Receiver<bool>) -> Result<()> {
        let feed = Arc::new(WatchFeed::new(Arc::clone(shared)));
        let network = Arc::new(self.network()?);
        let mut follow = Follow::new(self.alerts()?, feed, network, Arc::new(wall), self.links.clone());
        follow.run(stopped).await
    }
}

impl Alerting for AlertService {
    fn alerts(&self) -> Result<Arc<Mutex<Alerts>>> {
        let mut open = self.alerts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(alerts) = &*open {
            return Ok(Arc::clone(alerts));
        }
        let (alerts, damage) = Alerts::open(&self.data, self.programs.clone(), self.reader.cursor())?;
        if let Some(damage) = damage {
            tracing::warn!("the watch log: {damage}");
        }
        Ok(Arc::clone(open.insert(Arc::new(Mutex::new(alerts)))))
    }

    fn marks(&self) -> Result<Arc<Mutex<Marks>>> {
        let mut open = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(marks) = &*open {
            return Ok(Arc::clone(marks));
        }
        let (marks, damage) = Marks::open(&self.data)?;
        if let Some(damage) = damage {
            tracing::warn!("the marks of events: {damage}");
        }
        Ok(Arc::clone(open.insert(Arc::new(Mutex::new(marks)))))
    }

    fn is_used(&self) -> bool {
        vernal_watch::outbox::Outbox::exists(&self.data)
    }

    fn send(&self, route: Route, delivery: Delivery) -> BoxFuture<'_, Outcome> {
        let failed = |answer: String| Outcome { taken: false, status: None, answer, gone: false };
        let network = self.network();
        let links = self.links.clone();
        // A request stays on one thread, and the router's tasks do not.
        let sent = tokio::task::spawn_blocking(move || -> std::result::Result<Outcome, String> {
            let network = network.map_err(|error| error.to_string())?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| error.to_string())?;
            let sent = vernal_watch::send::send(&route, &delivery, &network, links.as_deref(), wall());
            Ok(runtime.block_on(sent))
        });
        Box::pin(async move {
            match sent.await {
                Ok(outcome) => outcome.unwrap_or_else(failed),
                Err(error) => failed(error.to_string()),
            }
        })
    }

    fn now(&self) -> Moment {
        wall()
    }

    fn links(&self) -> Option<String> {
        self.links.clone()
    }
}

impl AlertsFollowing {
    /// Ends the thread; what is under way is sent anew by the next one, with the same ids.
    pub fn stop(self) {
        let _ = self.stop.send(true);
        let _ = self.thread.join();
    }
}

/// The fetchers' guard and dialling, for requests that people asked for.
struct Guarded(Poster);

impl Network for Guarded {
    fn post(&self, post: Post) -> LocalFuture<'_, std::result::Result<PostAnswer, SendError>> {
        Box::pin(async move {
            let url = Url::parse(&post.url).map_err(|_| SendError("the address of the webhook is no URL".into()))?;
            let posted = self.0.post(&url, &post.headers, &post.body).await.map_err(SendError)?;
            Ok(PostAnswer { status: posted.status, body: posted.body })
        })
    }

    fn dial<'a>(
        &'a self,
        host: &'a str,
        port: u16,
        tls: DialTls<'a>,
    ) -> LocalFuture<'a, std::result::Result<Connection, SendError>> {
        Box::pin(async move {
            let tls = match tls {
                DialTls::No => None,
                DialTls::Yes { trusted } => Some(trusted.map_or(Ok(Vec::new()), certificates)?),
            };
            let (stream, peer) = self.0.dial(host, port, tls.as_deref()).await.map_err(SendError)?;
            Ok((Box::new(stream) as Box<dyn MailStream>, peer))
        })
    }
}

/// The certificates of a PEM file.
fn certificates(pem: &[u8]) -> std::result::Result<Vec<Vec<u8>>, SendError> {
    let read: std::result::Result<Vec<Vec<u8>>, _> =
        CertificateDer::pem_slice_iter(pem).map(|certificate| certificate.map(|one| one.to_vec())).collect();
    read.map_err(|error| SendError(format!("read the trusted certificates: {error}")))
}
