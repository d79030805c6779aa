//! The body of a version, found and read for its words.

use vernal_document::{Input, UnpackLimits, diff, unpack};
use vernal_model::{Document, NumberRun, PageKey, Url, Version};
use vernal_repository::Reader;

use crate::Result;

/// A version with its meaning.
pub struct ReadVersion {
    pub version: Version,
    pub document: Document,
}

impl ReadVersion {
    /// The words of its paragraphs, in their order.
    pub fn texts(&self) -> Vec<&str> {
        diff::texts(&self.document)
    }
}

/// Reads a version of a page; `None` where no body is kept of it, or none that can be read.
pub fn read_version(reader: &Reader, key: PageKey, url: &Url, number: u32) -> Result<Option<ReadVersion>> {
    let Some(version) = version_of(reader, key, number)? else { return Ok(None) };
    read_known_version(reader, url, version)
}

/// Reads a version that was looked up before.
pub fn read_known_version(reader: &Reader, url: &Url, version: Version) -> Result<Option<ReadVersion>> {
    let record = match reader.record_of(url, version) {
        Ok(Some(record)) => record,
        Ok(None) => return Ok(None),
        // A damaged body is the affair of `verify`; the index goes on without it.
        Err(error) => {
            tracing::debug!("version {} of {url} is not in the index: {error}", version.number);
            return Ok(None);
        }
    };
    let Some(payload) = record.payload() else { return Ok(None) };
    let head = &record.block[..record.block.len() - payload.len()];
    let Ok(bytes) = unpack(head, payload, &UnpackLimits::default()) else { return Ok(None) };
    let http = record.http();
    let header = |name: &str| http.as_ref().and_then(|message| message.header(name));
    let robots: Vec<&str> = http
        .iter()
        .flat_map(|message| message.headers.iter())
        .filter(|(name, _)| name.eq_ignore_ascii_case("x-robots-tag"))
        .map(|(_, value)| value)
        .collect();
    // A resource has no head of a response; its record says what it is.
    let of_record = record.header("Content-Type").filter(|_| record.kind() == "resource");
    let input = Input {
        url,
        bytes: &bytes,
        content_type: header("content-type").or(of_record),
        content_language: header("content-language"),
        robots_tags: &robots,
        payload: version.payload,
    };
    Ok(Some(ReadVersion { version, document: vernal_document::read(&input).document }))
}

fn version_of(reader: &Reader, key: PageKey, number: u32) -> Result<Option<Version>> {
    let newest = reader.page(key)?.and_then(|page| page.version);
    if let Some(version) = newest.filter(|version| version.number == number) {
        return Ok(Some(version));
    }
    Ok(reader.versions(key)?.into_iter().find(|version| version.number == number))
}

/// The numbers of the paragraphs of a version that has so many of them; empty where they were not kept.
pub fn numbers(reader: &Reader, key: PageKey, version: u32, count: usize) -> Result<Vec<u32>> {
    let found = match reader.version_row(key, version)? {
        Some(row) => NumberRun::numbers(&row.numbers, count + 1),
        None if version == 1 => (1..=count as u32).collect(),
        None => Vec::new(),
    };
    Ok(if found.len() == count { found } else { Vec::new() })
}
