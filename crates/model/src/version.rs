//! A version: a kept body with the Moment of its visit.

use schemars::JsonSchema;
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

impl Version {
    /// Where its body can be read: it was kept, and is not known to be lost.
    pub fn body(&self) -> Option<Location> {
        self.location.filter(|location| !location.is_lost())
    }

    /// Its body was kept and is lost.
    pub fn is_lost(&self) -> bool {
        self.location.is_some_and(|location| location.is_lost())
    }
}

/// The start of a WARC record, and the length of its gzip member. A length of 0 says that the record is lost.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    pub segment: u32,
    pub offset: u64,
    pub length: u32,
}

impl Location {
    /// The same place, marked as one where nothing can be read any more.
    pub fn lost(self) -> Location {
        Location { length: 0, ..self }
    }

    pub fn is_lost(&self) -> bool {
        self.length == 0
    }
}
