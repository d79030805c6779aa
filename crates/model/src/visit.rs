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
    /// The version that this visit made, if it made one.
    pub version: Option<Version>,
    /// The WARC record of this visit, whatever its type.
    pub record: Option<Location>,
    pub decided_by: Option<DecidedBy>,
    /// Whether it found a change of the kind that counts for the schedule; `None` if nothing could be compared.
    pub changed: Option<bool>,
    /// It was a second look, ordered to learn what is noise: no observation of how often the page changes.
    pub second_look: bool,
    /// Set for visits that are not to a page of the books: the robots.txt that was asked for, or the hub.
    pub robots: Option<Url>,
}
