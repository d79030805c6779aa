//! The state that every handler reads.

use std::net::SocketAddr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::{Semaphore, watch};
use vernal_model::{Moment, RobotsAnswer, RobotsRow, Seed, Url};
use vernal_repository::Reader;

use super::access::AccessTokens;
use super::alerting::Alerting;
use super::answer::ApiError;
use super::backend::{Clock, CrawlBackend, TextIndex};
use super::connection_counts::ConnectionCounts;
use super::measures::LastMeasures;
use super::seed_entry::Defaults;
use super::settings::Settings;

/// Streams that read the store at the same time; others wait for their turn.
const STREAMS_READING_MAX: usize = 2;

/// Exports at the same time, those that follow included; further ones are refused.
const EXPORTS_MAX: usize = 8;

pub struct Shared {
    pub reader: Reader,
    pub clock: Arc<dyn Clock>,
    pub backend: Arc<dyn CrawlBackend>,
    pub settings: Settings,
    /// Becomes true when the process stops, so that streams without an end get one.
    pub stop: watch::Receiver<bool>,
    /// Streams that may read at the same time.
    pub stream_turns: Arc<Semaphore>,
    /// Exports that may be under way.
    pub export_turns: Arc<Semaphore>,
    /// The text index.
    pub search: Arc<dyn TextIndex>,
    /// Watches and deliveries; none where nobody serves them.
    pub alerts: Option<Arc<dyn Alerting>>,
    /// What the listener on the network counts.
    pub connections: Arc<ConnectionCounts>,
    pub last_measures: LastMeasures,
    /// `http`, or `https` where the listener speaks TLS.
    pub scheme: &'static str,
    /// Where archived bytes are served, if they are.
    pub archive_origin: Option<SocketAddr>,
    /// Who may ask through the port.
    pub tokens: Arc<AccessTokens>,
    /// Held so that `stop` never fires where there is no other sender.
    _never: Option<watch::Sender<bool>>,
}

impl Shared {
    pub fn new(
        settings: Settings,
        reader: Reader,
        clock: Arc<dyn Clock>,
        backend: Arc<dyn CrawlBackend>,
        search: Arc<dyn TextIndex>,
        tokens: Arc<AccessTokens>,
    ) -> Shared {
        let (never, stop) = watch::channel(false);
        Shared {
            tokens,
            search,
            alerts: None,
            reader,
            clock,
            backend,
            settings,
            stop,
            stream_turns: Arc::new(Semaphore::new(STREAMS_READING_MAX)),
            export_turns: Arc::new(Semaphore::new(EXPORTS_MAX)),
            connections: Arc::default(),
            last_measures: LastMeasures::default(),
            scheme: "http",
            archive_origin: None,
            _never: Some(never),
        }
    }

    pub fn with_alerts(self, alerts: Arc<dyn Alerting>) -> Shared {
        Shared { alerts: Some(alerts), ..self }
    }

    pub fn stopped_by(self, stop: watch::Receiver<bool>) -> Shared {
        Shared { stop, _never: None, ..self }
    }

    /// By which scheme this is served, and where archived bytes are.
    pub fn with_archive(self, scheme: &'static str, archive_origin: Option<SocketAddr>) -> Shared {
        Shared { scheme, archive_origin, ..self }
    }

    pub fn defaults(&self) -> Defaults {
        Defaults { scope: self.settings.crawler.scope, depth: self.settings.crawler.depth }
    }

    /// What the last failure of a URL's site was; nothing once it answers again.
    pub fn trouble(&self, url: &Url) -> Option<String> {
        self.reader.site(&url.site())?.profile.trouble.map(String::from)
    }

    /// How the last visit to the robots.txt for a URL ended; nothing before the first.
    pub fn robots(&self, url: &Url) -> Result<Option<RobotsVisit>, ApiError> {
        let visit = |row: RobotsRow| RobotsVisit {
            outcome: match row.answer {
                RobotsAnswer::Text(_) => "read".into(),
                RobotsAnswer::AllowAll => "there are no rules".into(),
                RobotsAnswer::DisallowAll => "could not be fetched, so no page is requested for now".into(),
                RobotsAnswer::MovedTo { to, .. } => format!("moved to {to}"),
            },
            asked: time(row.fetched),
            again: time(row.expires),
        };
        Ok(self.reader.robots(&url.origin())?.map(visit))
    }

    pub fn seeds(&self) -> Result<Seeds, ApiError> {
        Ok(Seeds(self.reader.seeds()?))
    }
}

/// The last visit to a robots.txt.
#[derive(Serialize, JsonSchema)]
pub struct RobotsVisit {
    outcome: String,
    asked: Option<String>,
    /// It is not asked again before this.
    again: Option<String>,
}

/// All seeds, to tell which tags a URL has by the seeds that cover it.
pub struct Seeds(pub Vec<Seed>);

impl Seeds {
    pub fn tags(&self, url: &Url, depth: u16) -> Vec<String> {
        let mut tags: Vec<String> =
            self.0.iter().filter(|seed| seed.covers(url, depth)).flat_map(|seed| seed.tags.iter().cloned()).collect();
        tags.sort_unstable();
        tags.dedup();
        tags
    }

    /// Whether a seed with this tag covers the URL; no tag covers everything.
    pub fn tagged(&self, tag: Option<&str>, url: &Url, depth: u16) -> bool {
        let Some(tag) = tag else { return true };
        self.0.iter().any(|seed| seed.tags.iter().any(|own| own == tag) && seed.covers(url, depth))
    }
}

/// A Moment as JSON has it; nothing for those that mean never.
pub fn time(moment: Moment) -> Option<String> {
    (moment != Moment::EPOCH && moment != Moment::NEVER).then(|| moment.rfc3339())
}
