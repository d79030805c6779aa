//! All kept records in the order of their requests. A repair follows it when only the segments are left.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use vernal_model::{Location, Moment, Site, Url};
use xxhash_rust::xxh3::xxh3_64;

use super::scan::scan;
use super::segment::segments;
use crate::Result;

/// The locations of all responses, revisits and resources. Each takes 32 bytes of memory.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Ordered by the second of the request and then by location, because compaction moves old records behind younger ones.
    pub records: Vec<(Moment, Location)>,
    /// The sites that were requested.
    pub sites: BTreeSet<Site>,
    /// Records that could not be read, each with its segment and byte.
    pub damaged: Vec<String>,
}

/// Reads the heads of all records of the repository in `dir`. `progress` is called with the bytes done and the total.
pub fn timeline(dir: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<Timeline> {
    let files = segments(dir)?;
    let total = files.iter().map(|file| file.bytes).sum();
    let mut timeline = Timeline::default();
    // A compaction that was cut short may leave a record in two places with the same id.
    let mut ids = HashSet::new();
    let mut done = 0;
    for file in &files {
        for item in scan(&file.path)? {
            let scanned = match item {
                Ok(scanned) => scanned,
                Err(damage) => {
                    let place = format!("segment {} at byte {}: {}", file.serial, damage.offset, damage.what);
                    timeline.damaged.push(place);
                    continue;
                }
            };
            progress(done + scanned.offset, total);
            let record = &scanned.record;
            let is_main = matches!(record.kind(), "response" | "revisit" | "resource");
            if !is_main || record.header("WARC-Concurrent-To").is_some() {
                continue;
            }
            if record.id().is_some_and(|id| !ids.insert(xxh3_64(id.as_bytes()))) {
                continue;
            }
            let url = record.target().and_then(|target| Url::parse(target).ok());
            let Some((moment, url)) = record.date().zip(url) else {
                let place = format!("segment {} at byte {}: no date or no URL", file.serial, scanned.offset);
                timeline.damaged.push(place);
                continue;
            };
            timeline.sites.insert(url.site());
            let length = scanned.length as u32;
            timeline.records.push((moment, Location { segment: file.serial, offset: scanned.offset, length }));
        }
        done += file.bytes;
        progress(done, total);
    }
    timeline.records.sort_unstable();
    Ok(timeline)
}
