//! A version: a kept body with the Moment of its visit.

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
    /// `None` when the page must not be archived or the body was dropped: then only digests are kept.
    pub location: Option<Location>,
}

/// The start of a WARC record, and the length of its gzip member.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    pub segment: u32,
    pub offset: u64,
    pub length: u32,
}
