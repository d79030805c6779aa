//! A site: a host, with its port where that is not the scheme's own. The unit of politeness.

use std::borrow::Borrow;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Moment, Partition, Span};

/// The name of a site: `example.org` or `127.0.0.1:8080`. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Site(Arc<str>);

impl Site {
    pub fn new(name: &str) -> Self {
        Site(Arc::from(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Site {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Scheme, host and port: `https://example.org`. For robots only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin(Arc<str>);

impl Origin {
    pub fn new(text: &str) -> Self {
        Origin(Arc::from(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Origin {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the tables keep of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteRow {
    pub site: Site,
    pub partition: Partition,
    pub posture: SitePosture,
    pub counts: SiteCounts,
}

/// How we stand towards a site; set whole by a deed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SitePosture {
    pub standing: Standing,
    /// No request before this Moment (Retry-After, back-off).
    pub not_before: Moment,
    /// Failures of the site itself in a row (connect, timeout, 429, 5xx).
    pub failures: u16,
    /// The delay that robots.txt asks for, limited.
    pub crawl_delay: Option<Span>,
    /// Traps recognised here, in words, limited.
    pub traps: Vec<String>,
    /// What the last failure of the site was, in words; nothing once it answers again.
    pub trouble: Option<Box<str>>,
    /// Templates (see `noise::template_key`) that had their second look.
    pub looked_at: Vec<u32>,
    /// What the policy remembers of the site beyond its pages: its own bytes.
    pub policy: Box<[u8]>,
    /// The address that answered last, so that the limits of addresses hold from the first request of a new process on.
    pub address: Option<IpAddr>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    #[default]
    Active,
    /// A person said wait.
    Paused,
    /// A person said never.
    Blocked,
}

/// An address behind many sites has its own limit, wider than that of a site.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct AddressLimits {
    /// Requests under way.
    pub at_once: u32,
    /// Starts of requests.
    pub per_second: f64,
}

impl Default for AddressLimits {
    fn default() -> Self {
        AddressLimits { at_once: 16, per_second: 20.0 }
    }
}

/// Counted by the tables themselves as deeds are applied; each thing once.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteCounts {
    pub known: u64,
    pub waiting: u64,
    pub held: u64,
    pub gone: u64,
    /// Requests that really left (robots included).
    pub visits: u64,
    pub changes: u64,
    pub failures: u64,
    pub wire_bytes: u64,
}

/// The robots.txt of one origin, kept across restarts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RobotsRow {
    pub origin: Origin,
    pub fetched: Moment,
    /// Ask again after this.
    pub expires: Moment,
    pub answer: RobotsAnswer,
    /// When it was last read successfully, for the rule that an unreachable file may stay in force for a while.
    pub last_read: Option<Moment>,
    /// The last good copy, while `answer` is none itself: on the way to where the file has moved, say.
    pub copy: Option<RobotsAnswer>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RobotsAnswer {
    /// The file, at most 500 KiB.
    Text(Box<str>),
    /// 4xx: there are no rules.
    AllowAll,
    /// 5xx or unreachable: everything is forbidden for now.
    DisallowAll,
    /// It lives elsewhere: ask there next (a redirect is an order of its own).
    MovedTo { to: crate::Url, hops: u8 },
}
