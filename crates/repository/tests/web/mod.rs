//! A small web to keep, shared by the tests of segments.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::Write;

use sha1::{Digest as _, Sha1};
use vernal_model::{Digest, Exchange, Location, Moment, Url};
use vernal_repository::bodies::{Keep, KeepKind, Segments, WarcInfo};

pub const LIMIT: u64 = 1_000_000_000;
pub const BODY: &[u8] = b"<html><title>One</title><p>The first page, in full.</html>\n";

pub fn info() -> WarcInfo {
    WarcInfo {
        software: "vernal/0".into(),
        operator: "The Tests".into(),
        contact: "tests@example.org".into(),
        user_agent: "vernal/0 (+https://example.org/)".into(),
        robots: "obey".into(),
        repository: 0x1234_5678,
    }
}

/// So many seconds after the beginning of 2026.
pub fn moment(second: i64) -> Moment {
    Moment::from_secs(1_767_225_600 + second)
}

pub fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

pub fn digest(bytes: &[u8]) -> Digest {
    Digest(Sha1::digest(bytes).into())
}

pub fn page(response_head: &[u8], body: &[u8]) -> Exchange {
    Exchange {
        address: Some("192.0.2.7".parse().unwrap()),
        request_head: b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".to_vec(),
        response_head: response_head.to_vec(),
        body: body.to_vec(),
        ..Exchange::default()
    }
}

pub fn keep<'a>(url: &'a Url, moment: Moment, exchange: &'a Exchange, what: KeepKind<'a>) -> Keep<'a> {
    Keep { url, moment, exchange, payload: digest(&exchange.body), what }
}

/// One group: a page, the same bytes again a minute later, a 304 after another minute, and a page that came gzipped.
/// Returns the places of the four main records.
pub fn sample(writer: &mut Segments) -> [Location; 4] {
    let one = url("http://example.org/page");
    let first = page(b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nETag: \"x\"\r\n\r\n", BODY);
    let not_modified = page(b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n", b"");
    let packed_head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n";
    let packed = Exchange { content_encoded: true, ..page(packed_head, &gzipped(BODY)) };
    let two = url("http://www.example.org/other?b=2&a=1");
    let revisit = |server_not_modified| KeepKind::Revisit { target: &one, date: moment(100), server_not_modified };
    let mut same = keep(&one, moment(160), &first, revisit(false));
    same.payload = digest(BODY);
    let mut confirmed = keep(&one, moment(220), &not_modified, revisit(true));
    confirmed.payload = digest(BODY);
    let places = [
        keep(&one, moment(100), &first, KeepKind::Response),
        same,
        confirmed,
        keep(&two, moment(300), &packed, KeepKind::Response),
    ]
    .map(|keep| writer.keep(&keep, moment(400)).unwrap());
    writer.sync().unwrap();
    places
}

pub fn gzipped(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// A record as a stranger may write it.
pub fn plain_record(block: &[u8]) -> Vec<u8> {
    let head = format!("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: {}\r\n\r\n", block.len());
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}
