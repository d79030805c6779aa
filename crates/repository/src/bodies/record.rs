//! One WARC record.

use std::ops::Range;

use vernal_model::{Digest, Moment, Url};

use super::fields::Fields;
use super::inflate::{Fault, malformed};
use super::keep::ROBOTS_FIELD;

const FIELDS_MAX: usize = 1_000; // named fields of one record; real ones have about a dozen

/// Named fields and block. Fields keep their order and their spelling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    pub headers: Fields,
    pub block: Vec<u8>,
}

/// The HTTP response in a block. That of a revisit has no body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpMessage<'a> {
    pub status: u16,
    pub headers: Fields,
    pub body: &'a [u8],
}

impl Record {
    /// The record of an answer that came from elsewhere: URL, second, head and body. Its digest is that of this body.
    pub fn of_response(url: &Url, moment: Moment, head: &[u8], body: &[u8]) -> Record {
        let digest = super::keep::digest_of(&[body]);
        let mut headers = Fields::with_capacity(url.as_str().len() + 256);
        headers.push("WARC-Type", "response");
        headers.push("WARC-Target-URI", url.as_str());
        headers.push("WARC-Date", &moment.warc_date());
        headers.push("WARC-Payload-Digest", &format!("sha1:{}", String::from_utf8_lossy(&digest.base32())));
        Record { headers, block: [head, body].concat() }
    }

    /// The first field of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.first(name)
    }

    /// The record type: `response`, `revisit`, `request`, …; empty if it is missing.
    pub fn kind(&self) -> &str {
        self.header("WARC-Type").unwrap_or_default()
    }

    pub fn id(&self) -> Option<&str> {
        self.header("WARC-Record-ID")
    }

    /// The URL asked for, as written. Some writers of WARC 1.0 put it in angle brackets.
    pub fn target(&self) -> Option<&str> {
        self.header("WARC-Target-URI").map(without_brackets)
    }

    pub fn date(&self) -> Option<Moment> {
        self.header("WARC-Date").and_then(warc_date)
    }

    /// The SHA-1 digest. Other digests give `None`; `header` returns them as text.
    pub fn payload_digest(&self) -> Option<Digest> {
        self.header("WARC-Payload-Digest").and_then(sha1_digest)
    }

    pub fn block_digest(&self) -> Option<Digest> {
        self.header("WARC-Block-Digest").and_then(sha1_digest)
    }

    /// For a revisit: URL and Moment of the record with the payload.
    pub fn refers_to(&self) -> Option<(&str, Moment)> {
        let target = self.header("WARC-Refers-To-Target-URI").map(without_brackets)?;
        Some((target, self.header("WARC-Refers-To-Date").and_then(warc_date)?))
    }

    /// The origin whose robots.txt was requested; `None` for pages and in foreign archives.
    pub fn robots_for(&self) -> Option<&str> {
        self.header(ROBOTS_FIELD)
    }

    /// The HTTP response of a response or revisit record.
    pub fn http(&self) -> Option<HttpMessage<'_>> {
        if !matches!(self.kind(), "response" | "revisit") || !self.block.starts_with(b"HTTP/") {
            return None;
        }
        let head_bytes = http_head_bytes(&self.block);
        let head = String::from_utf8_lossy(&self.block[..head_bytes]);
        let mut lines = head.lines();
        let status = lines.next()?.split_ascii_whitespace().nth(1)?.parse().ok()?;
        let mut headers = Fields::with_capacity(head_bytes);
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            headers.push(name.trim(), value.trim());
        }
        Some(HttpMessage { status, headers, body: &self.block[head_bytes..] })
    }

    /// The payload: the body of a response or the block of a resource. A revisit has none.
    pub fn payload(&self) -> Option<&[u8]> {
        match self.kind() {
            "response" if self.block.starts_with(b"HTTP/") => Some(&self.block[http_head_bytes(&self.block)..]),
            "response" | "resource" => Some(&self.block),
            _ => None,
        }
    }

    /// A 64-bit mark of URL, second and digest, by which revisits find the payload of this record.
    pub(crate) fn payload_mark(&self) -> Option<u64> {
        match self.kind() {
            "response" | "resource" => Some(mark(self.target()?, self.date()?, self.payload_digest()?)),
            _ => None,
        }
    }

    /// The mark of the payload that this revisit refers to.
    pub(crate) fn referred_mark(&self) -> Option<u64> {
        let (target, date) = self.refers_to().filter(|_| self.kind() == "revisit")?;
        Some(mark(target, date, self.payload_digest()?))
    }

    /// Reads the one record that `content` holds.
    pub(super) fn parse(content: &[u8], head_bytes_max: usize) -> Result<Record, Fault> {
        let (headers, block) = parts(content, head_bytes_max)?;
        Ok(Record { headers, block: content[block].to_vec() })
    }

    /// Reads the one record that `content` holds, reusing its memory for the block.
    pub(super) fn within(mut content: Vec<u8>, head_bytes_max: usize) -> Result<Record, Fault> {
        let (headers, block) = parts(&content, head_bytes_max)?;
        content.truncate(block.end);
        content.drain(..block.start);
        Ok(Record { headers, block: content })
    }
}

impl HttpMessage<'_> {
    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.first(name)
    }
}

/// The fields of the one record that `content` holds, and the range of its block.
fn parts(content: &[u8], head_bytes_max: usize) -> Result<(Fields, Range<usize>), Fault> {
    let head_end = memchr::memmem::find(&content[..content.len().min(head_bytes_max + 3)], b"\r\n\r\n");
    let Some(head_end) = head_end else {
        return match content.len() > head_bytes_max {
            true => Err(Fault::TooLarge("the head of a record is too long")),
            false => malformed("the head of a record has no end"),
        };
    };
    let headers = parse_head(&content[..head_end])?;
    let block_bytes = content_length(&headers)?;
    let start = head_end + 4;
    match usize::try_from(block_bytes).ok().and_then(|bytes| content[start..].split_at_checked(bytes)) {
        Some((block, b"\r\n\r\n")) => Ok((headers, start..start + block.len())),
        Some((_, after)) if after.starts_with(b"\r\n\r\nWARC/") => {
            malformed("a gzip member holds more than one record")
        }
        _ => malformed("Content-Length is not the length of the block"),
    }
}

/// Version line and named fields, without the empty line.
pub(super) fn parse_head(head: &[u8]) -> Result<Fields, Fault> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.split("\r\n");
    if !lines.next().is_some_and(|version| version.starts_with("WARC/")) {
        return malformed("no WARC version line");
    }
    let mut headers = Fields::with_capacity(text.len());
    for line in lines {
        // A line that begins with white space continues the value before it.
        if line.strip_prefix([' ', '\t']).is_some_and(|more| headers.go_on(more.trim())) {
            continue;
        }
        let Some((name, value)) = line.split_once(':') else { return malformed("a field has no colon") };
        if headers.len() == FIELDS_MAX {
            return Err(Fault::TooLarge("a record has too many fields"));
        }
        headers.push(name.trim(), value.trim());
    }
    Ok(headers)
}

pub(super) fn content_length(headers: &Fields) -> Result<u64, Fault> {
    match headers.first("Content-Length").map(str::parse) {
        Some(Ok(bytes)) => Ok(bytes),
        _ => malformed("no Content-Length"),
    }
}

/// The length of the head including its empty line. A block without an empty line is all head.
fn http_head_bytes(block: &[u8]) -> usize {
    let mut place = 0;
    for line in block.split_inclusive(|&byte| byte == b'\n') {
        place += line.len();
        if matches!(line, b"\r\n" | b"\n") {
            return place;
        }
    }
    block.len()
}

fn mark(target: &str, date: Moment, payload: Digest) -> u64 {
    let place = xxhash_rust::xxh3::xxh3_64_with_seed(target.as_bytes(), date.secs() as u64);
    xxhash_rust::xxh3::xxh3_64_with_seed(&payload.0, place)
}

fn without_brackets(uri: &str) -> &str {
    uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')).unwrap_or(uri)
}

fn warc_date(text: &str) -> Option<Moment> {
    // `Moment::parse` also accepts ages and plain dates, which a record must not have.
    text.contains('T').then(|| Moment::parse(text, Moment::EPOCH).ok()).flatten()
}

fn sha1_digest(text: &str) -> Option<Digest> {
    let (algorithm, value) = text.split_once(':')?;
    algorithm.eq_ignore_ascii_case("sha1").then(|| Digest::from_base32(value)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(block: &[u8]) -> Record {
        let mut headers = Fields::default();
        headers.push("warc-type", "response");
        Record { headers, block: block.to_vec() }
    }

    #[test]
    fn a_response_is_split_at_its_first_empty_line() {
        let record = response(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX:y\r\n\r\nbody\r\n\r\nmore");
        let http = record.http().unwrap();
        assert_eq!((http.status, http.header("content-TYPE"), http.header("x")), (200, Some("text/html"), Some("y")));
        assert_eq!(http.body, b"body\r\n\r\nmore");
        let bare = response(b"HTTP/1.0 404 No\nA: b\n\n\nrest");
        assert_eq!(bare.http().unwrap().body, b"\nrest");
        assert_eq!(response(b"HTTP/1.1 204 Nothing\r\n\r\n").http().unwrap().body, b"");
        assert_eq!(response(b"nonsense").http(), None);
    }

    #[test]
    fn a_head_is_read_with_folded_lines_and_any_case() {
        let content = b"WARC/1.0\r\nWARC-TYPE: resource\r\nwarc-target-uri: <http://a.b/>\r\nNote: one\r\n two\r\ncontent-length: 2\r\n\r\nhi\r\n\r\n";
        let record = Record::parse(content, 1 << 10).unwrap();
        assert_eq!((record.kind(), record.target()), ("resource", Some("http://a.b/")));
        assert_eq!((record.header("note"), record.payload()), (Some("one two"), Some(&b"hi"[..])));
        assert_eq!(Record::within(content.to_vec(), 1 << 10).unwrap(), record);
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for content in [
            &b""[..],
            b"WARC/1.1\r\n",
            b"WARC/1.1\r\n\r\n",
            b"WARC/1.1\r\nContent-Length: 5\r\n\r\nhi\r\n\r\n",
            b"WARC/1.1\r\nContent-Length: 1\r\n\r\nhi\r\n\r\n",
            b"WARC/1.1\r\nContent-Length: 18446744073709551615\r\n\r\nhi\r\n\r\n",
            b"WARC/1.1\r\nContent-Length: -2\r\n\r\nhi\r\n\r\n",
            b"WARC/1.1\r\nno colon\r\nContent-Length: 2\r\n\r\nhi\r\n\r\n",
            b"ARC/1.1\r\nContent-Length: 2\r\n\r\nhi\r\n\r\n",
        ] {
            assert!(Record::parse(content, 1 << 10).is_err(), "{}", String::from_utf8_lossy(content));
        }
    }
}
