//! The record with the body of a version. A record that only says "the same as then" leads to the one that has the bytes, and so
//! does a lost body whose bytes another version of the page has.

use vernal_model::{Location, Moment, Url, Version};

use crate::bodies::Record;
use crate::{Reader, Result};

/// A revisit refers to a response, never to another revisit. One more hop is allowed for records of other tools.
const REVISIT_HOPS_MAX: usize = 2;

impl Reader {
    /// The record with the body of a version of the page; `None` where no body is kept of it, or its record leads nowhere.
    pub fn record_of(&self, url: &Url, version: Version) -> Result<Option<Record>> {
        let Some(mut location) = version.location else { return Ok(None) };
        if location.is_lost() {
            location = same_bytes(self, url, version)?.unwrap_or(location);
        }
        for _ in 0..=REVISIT_HOPS_MAX {
            let record = self.body(&location)?;
            let Some((target, moment)) = record.refers_to().filter(|_| record.kind() == "revisit") else {
                return Ok(Some(record));
            };
            let Ok(target) = Url::parse(target) else { return Ok(None) };
            match referred(self, &target, moment, &record)? {
                Some(next) => location = next,
                None => return Ok(None),
            }
        }
        Ok(None)
    }
}

/// Where another version of the page has the same bytes.
fn same_bytes(reader: &Reader, url: &Url, version: Version) -> Result<Option<Location>> {
    let Some(page) = reader.page_by_url(url)? else { return Ok(None) };
    let same = |other: Version| other.body().filter(|_| other.payload == version.payload);
    Ok(reader.versions(page.key)?.into_iter().find_map(same))
}

/// WARC dates have whole seconds, so the digest decides between versions of one second.
fn referred(reader: &Reader, url: &Url, moment: Moment, from: &Record) -> Result<Option<Location>> {
    let Some(page) = reader.page_by_url(url)? else { return Ok(None) };
    let is_meant = |version: &Version| {
        version.moment.secs() == moment.secs() && from.payload_digest().is_none_or(|digest| digest == version.payload)
    };
    Ok(reader.versions(page.key)?.into_iter().find(is_meant).and_then(|version| version.location))
}
