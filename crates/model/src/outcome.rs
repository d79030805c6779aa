//! The outcome of one visit. Faults of the web are data: none of this is an `Err`.

use serde::{Deserialize, Serialize};

use crate::{Span, Url};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// A whole body was read.
    Read { status: u16 },
    /// The site confirmed that our version is current (304 to our validators).
    NotModified,
    /// The page has moved. `to` is `None` when the target is missing or is no URL that we can request.
    Moved { status: u16, to: Option<Url>, permanent: bool },
    /// 404, 410 or the equivalent of another protocol.
    Gone { status: u16 },
    /// The answer is not the page but a wall in front of it.
    Blocked { wall: Wall, status: u16, evidence: String },
    /// No request was made.
    Refused(Refusal),
    /// The request got no usable answer.
    Failed(Failure),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wall {
    /// A challenge or a refusal for robots: it says so, or a challenge service answered.
    Bot,
    Login,
    /// A parked domain.
    Parking,
    /// A page that says "not found" with status 200.
    SoftMissing,
    /// A plain refusal (401, 403, 407, 451) that says nothing of robots.
    Forbidden,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Refusal {
    /// robots.txt forbids it.
    Robots,
    /// robots.txt could not be read (5xx or unreachable), so everything is forbidden for now.
    RobotsUnreachable,
    /// The guard refuses the address. The text names the address and the rule.
    Guard(String),
    Scope,
    /// An unsupported scheme.
    Scheme,
    /// More redirects than we follow.
    Hops,
    Trap(String),
    /// A person had it forgotten: the number of the entry in the ledger.
    Forgotten(u32),
}

/// The part of a visit that timed out.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    Connect,
    Tls,
    FirstByte,
    Total,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Failure {
    /// The name could not be resolved.
    Dns(String),
    Connect(String),
    Tls(String),
    Timeout(Stage),
    /// The body exceeds the limit.
    TooLarge,
    /// The body unpacks to far more than its size.
    Bomb,
    /// The head exceeds the limit.
    HeadTooLarge,
    /// The answer violates the protocol.
    Protocol(String),
    /// The body ended before its announced end.
    Truncated,
    /// The body does not unpack as its Content-Encoding says.
    Encoding(String),
    /// A status that means "not now": 429, 5xx and others without an answer. With Retry-After, limited.
    Status {
        status: u16,
        retry_after: Option<Span>,
    },
    /// The process stopped before the answer came.
    Lost,
}

impl Outcome {
    /// The HTTP status, where there was one.
    pub fn status(&self) -> Option<u16> {
        match *self {
            Outcome::Read { status }
            | Outcome::Moved { status, .. }
            | Outcome::Gone { status }
            | Outcome::Blocked { status, .. }
            | Outcome::Failed(Failure::Status { status, .. }) => Some(status),
            Outcome::NotModified => Some(304),
            Outcome::Refused(_) | Outcome::Failed(_) => None,
        }
    }

    /// One word for tables and JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Read { .. } => "read",
            Outcome::NotModified => "not-modified",
            Outcome::Moved { .. } => "moved",
            Outcome::Gone { .. } => "gone",
            Outcome::Blocked { .. } => "blocked",
            Outcome::Refused(_) => "refused",
            Outcome::Failed(_) => "failed",
        }
    }

    /// The reason, in words; empty where the name is enough.
    pub fn detail(&self) -> String {
        match self {
            Outcome::Read { .. } | Outcome::NotModified | Outcome::Gone { .. } => String::new(),
            Outcome::Moved { to, permanent, .. } => {
                let how = if *permanent { "permanently" } else { "for now" };
                match to {
                    Some(to) => format!("{how} to {to}"),
                    None => format!("{how}, to nowhere we could ask"),
                }
            }
            Outcome::Blocked { wall, evidence, .. } => {
                let wall = match wall {
                    Wall::Bot => "bot wall",
                    Wall::Login => "login wall",
                    Wall::Parking => "parked domain",
                    Wall::SoftMissing => "soft 404",
                    Wall::Forbidden => "forbidden",
                };
                format!("{wall}: {evidence}")
            }
            Outcome::Refused(refusal) => match refusal {
                Refusal::Robots => "robots.txt forbids it".into(),
                Refusal::RobotsUnreachable => "robots.txt could not be had".into(),
                Refusal::Guard(why) => format!("guard: {why}"),
                Refusal::Scope => "out of scope".into(),
                Refusal::Scheme => "a scheme we do not speak".into(),
                Refusal::Hops => "too many redirects".into(),
                Refusal::Trap(why) => format!("trap: {why}"),
                Refusal::Forgotten(id) => format!("forgotten: entry {id} of the ledger"),
            },
            Outcome::Failed(failure) => match failure {
                Failure::Dns(why) => format!("dns: {why}"),
                Failure::Connect(why) => format!("connect: {why}"),
                Failure::Tls(why) => format!("tls: {why}"),
                Failure::Timeout(stage) => format!(
                    "time ran out ({})",
                    match stage {
                        Stage::Connect => "connect",
                        Stage::Tls => "tls",
                        Stage::FirstByte => "first byte",
                        Stage::Total => "whole answer",
                    }
                ),
                Failure::TooLarge => "body too large: --body-max allows no more".into(),
                Failure::Bomb => "unpacks to far more than it weighs".into(),
                Failure::HeadTooLarge => "head too large".into(),
                Failure::Protocol(why) => format!("protocol: {why}"),
                Failure::Truncated => "body cut short".into(),
                Failure::Encoding(why) => format!("encoding: {why}"),
                Failure::Status { status, .. } => format!("status {status}"),
                Failure::Lost => "the process stopped before the answer came".into(),
            },
        }
    }

    /// Whether a request was sent (and so counts against budget and delay).
    pub fn asked(&self) -> bool {
        !matches!(self, Outcome::Refused(_))
    }
}
