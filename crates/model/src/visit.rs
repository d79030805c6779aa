//! One attempt to read a page: a row of the visit book.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::{DecidedBy, Location, Moment, Outcome, Url, Version};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    pub started: Moment,
    pub finished: Moment,
    pub outcome: Outcome,
    pub address: Option<IpAddr>,
    pub wire_bytes: u64,
    /// The version that this visit made, if any.
    pub version: Option<Version>,
    /// The WARC record of this visit, whatever its type.
    pub record: Option<Location>,
    pub decided_by: Option<DecidedBy>,
    /// Whether it found a change that counts for the schedule; `None` if nothing could be compared.
    pub changed: Option<bool>,
    /// Whether it was a second look, made to learn noise. It is no observation of the change rate.
    pub second_look: bool,
    /// For visits that are not to a page: the URL of the robots.txt or the hub.
    pub robots: Option<Url>,
}

impl Visit {
    /// Whether somebody else made it, and it came here with an imported archive: there is an answer, and no byte was sent for it.
    pub fn is_imported(&self) -> bool {
        let is_answered = matches!(self.outcome, Outcome::Read { .. } | Outcome::Moved { .. } | Outcome::Gone { .. });
        is_answered && self.wire_bytes == 0 && self.robots.is_none()
    }
}
