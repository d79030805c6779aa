//! A body we kept, with the Moment of its visit.

use serde::{Deserialize, Serialize};

use crate::{Digest, Moment};

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Counts from 1 within the page.
    pub number: u32,
    pub moment: Moment,
    pub status: u16,
    pub payload: Digest,
    pub body_bytes: u32,
    /// `None` when the page asked not to be archived or the body was given up since: then only digests are kept.
    pub location: Option<Location>,
}

/// Where a WARC record begins, and how many bytes its gzip member has.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    pub segment: u32,
    pub offset: u64,
    pub length: u32,
}
