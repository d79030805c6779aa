//! A foreign record as one of ours: a response with its payload, without transfer coding.

use vernal_model::{Moment, Url};
use vernal_repository::Record;

/// What a record is for an import.
pub(super) enum What {
    /// It has a payload of its own.
    Payload,
    /// Its payload is that of another record.
    Revisit,
    /// It is no answer to a page: requests, metadata, robots.txt, names of hosts.
    Other,
}

/// A page that a record is about, and when.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub url: Url,
    pub moment: Moment,
}

/// Tells records apart. `Err` says what is wrong with a record that should have been a page.
pub(super) fn what(record: &Record) -> Result<(What, Option<About>), String> {
    let what = match record.kind() {
        "response" if record.block.starts_with(b"HTTP/") => What::Payload,
        "resource" => What::Payload,
        "revisit" => What::Revisit,
        _ => return Ok((What::Other, None)),
    };
    let target = record.target().ok_or("a record without a URL")?;
    // A resource may be of any kind: text that was taken out, a picture of a page, a file.
    let Some(url) = Url::parse(target).ok().filter(|url| matches!(url.scheme(), "http" | "https")) else {
        return match record.kind() {
            "resource" => Ok((What::Other, None)),
            _ => Err(format!("`{target}` is no URL of a page")),
        };
    };
    if record.robots_for().is_some() || url.path() == "/robots.txt" {
        return Ok((What::Other, None));
    }
    let moment = record.date().ok_or_else(|| format!("{url}: it has no date"))?;
    if moment < Moment::EPOCH {
        return Err(format!("{url}: its date {moment} is from before the web"));
    }
    if record.header("WARC-Truncated").is_some() {
        return Err(format!("{url} of {moment}: its body was cut off"));
    }
    Ok((what, Some(About { url, moment })))
}

/// The record as one of ours, with its own payload, or with that of the record it refers to.
pub(super) fn prepared(record: &Record, about: &About, payload_of: Option<&Record>) -> Result<Record, String> {
    let source = payload_of.unwrap_or(record);
    let body = source.payload().ok_or_else(|| format!("{}: there is no payload", about.url))?;
    let own_head = record
        .http()
        .filter(|http| http.status != 304)
        .map(|http| &record.block[..record.block.len() - http.body.len()]);
    let head = own_head.or_else(|| {
        let http = source.http()?;
        Some(&source.block[..source.block.len() - http.body.len()])
    });
    // A revisit has the body of another answer, whose codings need not be those that its own head names.
    let codings = source.http().map(|_| &source.block[..source.block.len() - body.len()]).or(head);
    let (head, body) = match head {
        Some(head) => plain(head, codings.unwrap_or(head), body),
        None => (of_resource(source), body.to_vec()),
    };
    Ok(Record::of_response(&about.url, about.moment, &head, &body))
}

/// The head that stands for that of a resource, which has none. It says so.
fn of_resource(record: &Record) -> Vec<u8> {
    let content_type = record.header("Content-Type").unwrap_or("application/octet-stream");
    let content_type: String = content_type.chars().filter(|letter| !letter.is_control()).collect();
    format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nVernal-Made-From: resource\r\n\r\n").into_bytes()
}

/// Head and body without the transfer coding, and without a content coding that the body does not have: many tools take codings off
/// and keep the head.
fn plain(head: &[u8], codings: &[u8], body: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let text = String::from_utf8_lossy(codings).to_ascii_lowercase();
    let named = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim));
    let is_chunked = named("transfer-encoding").is_some_and(|codings| codings.contains("chunked"));
    let body = match is_chunked.then(|| without_chunks(body)).flatten() {
        Some(body) => body,
        None => body.to_vec(),
    };
    let is_gzip = named("content-encoding").is_some_and(|coding| coding == "gzip" || coding == "x-gzip");
    let is_none_left = is_gzip && !body.starts_with(&[0x1f, 0x8b]);
    let mut kept = Vec::with_capacity(head.len());
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        let name =
            String::from_utf8_lossy(line.split(|byte| *byte == b':').next().unwrap_or_default()).to_ascii_lowercase();
        let is_dropped = name == "transfer-encoding" || (is_none_left && name == "content-encoding");
        if !is_dropped {
            kept.extend_from_slice(line);
        }
    }
    (kept, body)
}

/// The body of chunks; `None` where it is not made of whole chunks.
fn without_chunks(body: &[u8]) -> Option<Vec<u8>> {
    let (mut plain, mut left) = (Vec::with_capacity(body.len()), body);
    loop {
        let end = left.windows(2).take(64).position(|window| window == b"\r\n")?;
        let digits = std::str::from_utf8(&left[..end]).ok()?.split(';').next()?.trim();
        let bytes = usize::from_str_radix(digits, 16).ok()?;
        left = &left[end + 2..];
        if bytes == 0 {
            return Some(plain);
        }
        plain.extend_from_slice(left.get(..bytes)?);
        left = left.get(bytes..)?.strip_prefix(b"\r\n")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_put_together_and_what_is_no_chunk_stays() {
        assert_eq!(without_chunks(b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n").as_deref(), Some(&b"abcde"[..]));
        for body in [&b"plain text"[..], b"3\r\nab", b"ffffffffffffffffff\r\n", b"3\r\nabcd\r\n0\r\n", b""] {
            assert_eq!(without_chunks(body), None);
        }
    }

    #[test]
    fn codings_that_the_body_does_not_have_are_taken_from_the_head() {
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\nX: y\r\n\r\n";
        let (kept, body) = plain(head, head, b"<html>");
        assert_eq!((kept.as_slice(), body.as_slice()), (&b"HTTP/1.1 200 OK\r\nX: y\r\n\r\n"[..], &b"<html>"[..]));
        let (kept, _) = plain(head, head, &[0x1f, 0x8b, 8]);
        assert!(String::from_utf8(kept).unwrap().contains("Content-Encoding"));
    }
}
