//! A site: a host, with its port where that is not the scheme's own. The unit of politeness.

use std::borrow::Borrow;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use schemars::JsonSchema;
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
    pub profile: SiteProfile,
    pub counts: SiteCounts,
}

/// What is known of a site and decided about it. A deed sets it as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteProfile {
    pub standing: SiteState,
    /// No request before this Moment (Retry-After, back-off).
    pub not_before: Moment,
    /// Failures of the site itself in a row (connect, timeout, 429, 5xx).
    pub failures: u16,
    /// The crawl-delay of robots.txt, limited.
    pub crawl_delay: Option<Span>,
    /// The recognised traps, in words, limited.
    pub traps: Vec<String>,
    /// The last failure of the site, in words; `None` once it answers again.
    pub trouble: Option<Box<str>>,
    /// Templates (see `noise::template_key`) that had their second look.
    pub looked_at: Vec<u32>,
    /// The state of the policy for the site, in bytes of its own.
    pub policy: Box<[u8]>,
    /// The last address that answered, so that a new process can apply the limits of addresses from its first request on.
    pub address: Option<IpAddr>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SiteState {
    #[default]
    Active,
    /// Paused by a person.
    Paused,
    /// Blocked by a person.
    Blocked,
}

/// The limits of an address, which may have many sites. They are wider than those of a site.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct AddressLimits {
    /// Requests in flight.
    pub at_once: u32,
    /// Starts of requests.
    pub per_second: f64,
}

impl AddressLimits {
    /// Requests in flight beyond which none to slow sites begins, so that they leave some to the others: three quarters.
    pub fn at_once_of_slow(&self) -> u32 {
        (self.at_once - self.at_once / 4).max(1)
    }
}

impl Default for AddressLimits {
    fn default() -> Self {
        AddressLimits { at_once: 16, per_second: 20.0 }
    }
}

/// Counters of a site, which the tables update as deeds are applied.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteCounts {
    pub known: u64,
    pub waiting: u64,
    pub held: u64,
    pub gone: u64,
    /// Requests that were sent, including those for robots.txt.
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
    /// When it is requested again.
    pub expires: Moment,
    pub answer: RobotsAnswer,
    /// When it was last read successfully, because an unreachable file may be used for some time.
    pub last_read: Option<Moment>,
    /// The last good copy, while `answer` is none, for example while a redirect is followed.
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
    /// It has moved: the target is requested next (a redirect is an order of its own).
    MovedTo { to: crate::Url, hops: u8 },
}
