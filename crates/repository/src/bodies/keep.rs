//! The exchanges that the writer keeps, and the named fields of their records.

use std::borrow::Cow;
use std::io::Write;
use std::net::IpAddr;

use sha1::{Digest as _, Sha1};
use vernal_model::{Digest, Exchange, Moment, Origin, Protocol, Url};

/// The operator and the software of the crawl, for the warcinfo record at the start of each segment.
#[derive(Clone, Debug, Default)]
pub struct WarcInfo {
    pub software: String,
    pub operator: String,
    /// A mail address or URL for contacting the operator.
    pub contact: String,
    pub user_agent: String,
    /// The robots policy in force.
    pub robots: String,
    /// The random id of the repository. Record ids are derived from it and from the location of the record.
    pub repository: u128,
}

/// One exchange to keep.
#[derive(Clone, Debug)]
pub struct Keep<'a> {
    pub url: &'a Url,
    pub moment: Moment,
    pub exchange: &'a Exchange,
    /// SHA-1 of the body, content-encoded as received. For a revisit that of the payload referred to.
    pub payload: Digest,
    pub what: KeepKind<'a>,
}

#[derive(Clone, Debug)]
pub enum KeepKind<'a> {
    /// A response: head and body as received.
    Response,
    /// A response to a request for the robots.txt of an origin. A field of our own names the origin, because after redirects
    /// the URL does not show it.
    Robots { origin: &'a Origin },
    /// A revisit: the payload is that of an earlier record, which its URL and Moment name. The head is kept in the revisit
    /// record if we compared bytes, and in a separate metadata record if it is that of a 304.
    Revisit {
        target: &'a Url,
        date: Moment,
        /// Whether the site said so (304). Otherwise we compared the bytes.
        server_not_modified: bool,
    },
    /// A body without an HTTP head (ftp, gopher).
    Resource { content_type: &'a str },
}

/// Angle brackets, `urn:uuid:`, thirty-two digits and four hyphens.
pub(super) type RecordId = [u8; 47];
const IDENTICAL_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
/// The origin whose robots.txt a response was asked for as.
pub(super) const ROBOTS_FIELD: &str = "Vernal-Robots-For";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

/// SHA-1 of an empty block, as the revisit for a 304 has it.
const DIGEST_OF_NOTHING: Digest = Digest([
    0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b, 0x0d, 0x32, 0x55, 0xbf, 0xef, 0x95, 0x60, 0x18, 0x90, 0xaf, 0xd8, 0x07,
    0x09,
]);

/// Formatted dates of the last records. Most consecutive records have the same second, and so do those that they refer to.
#[derive(Default)]
pub(super) struct CachedFields {
    visited: Dated,
    referred: Dated,
    address: Option<IpAddr>,
    /// The whole field, or nothing.
    address_field: Vec<u8>,
}

/// A second and its name.
#[derive(Default)]
struct Dated {
    second: i64,
    text: String,
}

impl Dated {
    fn of(&mut self, moment: Moment) -> &str {
        let second = moment.micros().div_euclid(1_000_000);
        if self.second != second || self.text.is_empty() {
            *self = Dated { second, text: moment.warc_date() };
        }
        &self.text
    }
}

impl CachedFields {
    pub(super) fn of(&mut self, keep: &Keep<'_>) -> SharedFields<'_> {
        let address = keep.exchange.address;
        if self.address != address {
            self.address_field.clear();
            if let Some(address) = address {
                let _ = write!(self.address_field, "WARC-IP-Address: {address}\r\n");
            }
            self.address = address;
        }
        let referred = match keep.what {
            KeepKind::Revisit { date, .. } => self.referred.of(date),
            _ => "",
        };
        SharedFields {
            date: self.visited.of(keep.moment),
            referred,
            address: &self.address_field,
            protocol: protocol_name(keep.exchange),
        }
    }
}

/// The fields that all records of one exchange share.
pub(super) struct SharedFields<'a> {
    date: &'a str,
    /// The date of the record that a revisit refers to.
    referred: &'a str,
    address: &'a [u8],
    protocol: &'static str,
}

/// Writes the head of the main record of `keep`. Returns the parts of its block.
pub(super) fn main_record<'a>(
    head: &mut Vec<u8>,
    keep: &'a Keep<'a>,
    common: &SharedFields<'_>,
    id: &RecordId,
) -> [&'a [u8]; 2] {
    let exchange = keep.exchange;
    let (kind, block): (&str, [&[u8]; 2]) = match keep.what {
        KeepKind::Response | KeepKind::Robots { .. } => ("response", [&exchange.response_head, &exchange.body]),
        KeepKind::Revisit { server_not_modified: false, .. } => ("revisit", [&exchange.response_head, b""]),
        // With the head of the 304 in the block, replay tools would answer 304 without a body.
        KeepKind::Revisit { server_not_modified: true, .. } => ("revisit", [b"", b""]),
        KeepKind::Resource { .. } => ("resource", [b"", &exchange.body]),
    };
    open(head, kind, id, common.date);
    own_field(head, "WARC-Target-URI", keep.url.as_str());
    head.extend_from_slice(common.address);
    own_field(head, "WARC-Protocol", common.protocol);
    if let KeepKind::Revisit { target, server_not_modified, .. } = keep.what {
        own_field(head, "WARC-Profile", if server_not_modified { NOT_MODIFIED } else { IDENTICAL_PAYLOAD });
        own_field(head, "WARC-Refers-To-Target-URI", target.as_str());
        own_field(head, "WARC-Refers-To-Date", common.referred);
    }
    if let KeepKind::Robots { origin } = keep.what {
        own_field(head, ROBOTS_FIELD, origin.as_str());
    }
    // The payload of a resource is its block, so both have the same digest.
    let block_digest = match keep.what {
        KeepKind::Resource { .. } => keep.payload,
        _ => digest_of(&block),
    };
    digest_field(head, "WARC-Payload-Digest", keep.payload);
    digest_field(head, "WARC-Block-Digest", block_digest);
    let content_type = match keep.what {
        KeepKind::Resource { content_type } => harmless(content_type),
        _ => Cow::Borrowed("application/http;msgtype=response"),
    };
    close(head, &content_type, &block);
    block
}

/// Writes the head of a metadata record that belongs to the revisit `concurrent_to` and records the head of a 304; the parts
/// of its block. Header lines are named fields already; only the status line needs a name.
pub(super) fn not_modified_record<'a>(
    head: &mut Vec<u8>,
    keep: &'a Keep<'a>,
    common: &SharedFields<'_>,
    id: &RecordId,
    concurrent_to: &RecordId,
) -> [&'a [u8]; 2] {
    let said = &keep.exchange.response_head;
    let block: [&[u8]; 2] = [b"http-status-line: ", said.strip_suffix(b"\r\n").unwrap_or(said)];
    open(head, "metadata", id, common.date);
    own_field(head, "WARC-Target-URI", keep.url.as_str());
    own_field(head, "WARC-Concurrent-To", concurrent_to);
    digest_field(head, "WARC-Block-Digest", digest_of(&block));
    close(head, "application/warc-fields", &block);
    block
}

/// Writes the head of the request record that belongs to the main record `concurrent_to`; its block.
pub(super) fn request_record<'a>(
    head: &mut Vec<u8>,
    keep: &'a Keep<'a>,
    common: &SharedFields<'_>,
    id: &RecordId,
    concurrent_to: &RecordId,
) -> &'a [u8] {
    let block = keep.exchange.request_head.as_slice();
    open(head, "request", id, common.date);
    own_field(head, "WARC-Target-URI", keep.url.as_str());
    own_field(head, "WARC-Concurrent-To", concurrent_to);
    head.extend_from_slice(common.address);
    own_field(head, "WARC-Protocol", common.protocol);
    digest_field(head, "WARC-Block-Digest", digest_of(&[block]));
    close(head, "application/http;msgtype=request", &[block]);
    block
}

/// The warcinfo record of a segment named `file_name`, whole but for the end marks.
pub(super) fn warcinfo_record(info: &WarcInfo, id: &RecordId, file_name: &str, now: Moment) -> (Vec<u8>, Vec<u8>) {
    let mut block = Vec::new();
    field(&mut block, "software", &info.software);
    field(&mut block, "format", "WARC File Format 1.1");
    field(&mut block, "conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/");
    for (name, value) in [
        ("operator", &info.operator),
        ("http-header-from", &info.contact),
        ("http-header-user-agent", &info.user_agent),
        ("robots", &info.robots),
    ] {
        if !value.is_empty() {
            field(&mut block, name, value);
        }
    }
    let mut head = Vec::new();
    open(&mut head, "warcinfo", id, &now.warc_date());
    field(&mut head, "WARC-Filename", file_name);
    digest_field(&mut head, "WARC-Block-Digest", digest_of(&[&block]));
    close(&mut head, "application/warc-fields", &[&block]);
    (head, block)
}

/// The id of a record. It is derived from the location, which is unique in the repository, and needs neither clock nor chance.
pub(super) fn record_id(repository: u128, segment: u32, offset: u64) -> RecordId {
    let mut place = [0u8; 28];
    place[..16].copy_from_slice(&repository.to_be_bytes());
    place[16..20].copy_from_slice(&segment.to_be_bytes());
    place[20..].copy_from_slice(&offset.to_be_bytes());
    let bits = xxhash_rust::xxh3::xxh3_128(&place);
    // Version 8 and the variant of RFC 9562: the remaining bits are vendor-specific.
    let bits = (bits & !(0xf << 76) & !(0x3 << 62)) | (0x8 << 76) | (0x2 << 62);
    let mut id = *b"<urn:uuid:00000000-0000-0000-0000-000000000000>";
    for (byte, place) in bits.to_be_bytes().into_iter().zip(ID_PLACES) {
        id[place] = HEX_DIGITS[usize::from(byte >> 4)];
        id[place + 1] = HEX_DIGITS[usize::from(byte & 0xf)];
    }
    id
}

const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";
/// Where the two digits of each byte stand in a record's id.
const ID_PLACES: [usize; 16] = [10, 12, 14, 16, 19, 21, 24, 26, 29, 31, 34, 36, 38, 40, 42, 44];

pub(super) fn digest_of(parts: &[&[u8]]) -> Digest {
    if parts.iter().all(|part| part.is_empty()) {
        return DIGEST_OF_NOTHING;
    }
    let mut sha1 = Sha1::new();
    for part in parts {
        sha1.update(part);
    }
    Digest(sha1.finalize().into())
}

fn protocol_name(exchange: &Exchange) -> &'static str {
    match exchange.protocol {
        Protocol::Http1 if exchange.response_head.starts_with(b"HTTP/1.0") => "http/1.0",
        Protocol::Http1 => "http/1.1",
        Protocol::Http2 => "h2",
        Protocol::Ftp => "ftp",
        Protocol::Gopher => "gopher",
    }
}

/// Begins a new head in the cleared buffer.
fn open(head: &mut Vec<u8>, kind: &str, id: &RecordId, date: &str) {
    head.clear();
    head.extend_from_slice(b"WARC/1.1\r\n");
    own_field(head, "WARC-Type", kind);
    own_field(head, "WARC-Record-ID", id);
    own_field(head, "WARC-Date", date);
}

fn close(head: &mut Vec<u8>, content_type: &str, block: &[&[u8]]) {
    let bytes: usize = block.iter().map(|part| part.len()).sum();
    own_field(head, "Content-Type", content_type);
    head.extend_from_slice(b"Content-Length: ");
    push_decimal(head, bytes);
    head.extend_from_slice(b"\r\n\r\n");
}

fn push_decimal(head: &mut Vec<u8>, number: usize) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    let mut left = number;
    loop {
        first -= 1;
        digits[first] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    head.extend_from_slice(&digits[first..]);
}

/// Writes a field whose value we made ourselves, such as a canonical URL. It has no line breaks.
fn own_field<V: AsRef<[u8]> + ?Sized>(head: &mut Vec<u8>, name: &str, value: &V) {
    for part in [name.as_bytes(), b": ", value.as_ref(), b"\r\n"] {
        head.extend_from_slice(part);
    }
}

fn field(head: &mut Vec<u8>, name: &str, value: &str) {
    own_field(head, name, &*harmless(value));
}

/// Writes a field with line breaks replaced by spaces, because a line break would begin another field.
fn harmless(value: &str) -> Cow<'_, str> {
    if value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(value);
    }
    Cow::Owned(value.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect())
}

fn digest_field(head: &mut Vec<u8>, name: &str, digest: Digest) {
    for part in [name.as_bytes(), b": sha1:", &digest.base32(), b"\r\n"] {
        head.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_and_differ_by_repository_segment_and_offset() {
        let id = record_id(1, 2, 3);
        assert_eq!(id.len(), "<urn:uuid:>".len() + 36);
        assert_eq!(id[10 + 14], b'8');
        assert!(b"89ab".contains(&id[10 + 19]));
        assert!(id[10..46].iter().all(|letter| letter.is_ascii_hexdigit() || *letter == b'-'));
        assert_eq!(record_id(1, 2, 3), id);
        for other in [record_id(0, 2, 3), record_id(1, 3, 3), record_id(1, 2, 4)] {
            assert_ne!(other, id);
        }
    }

    #[test]
    fn the_digest_of_nothing_is_that_of_sha1() {
        assert_eq!(DIGEST_OF_NOTHING, Digest(Sha1::new().finalize().into()));
        assert_eq!(digest_of(&[b"", b"a"]), digest_of(&[b"a"]));
    }

    #[test]
    fn what_is_spelled_out_once_is_spelled_as_each_time_anew() {
        let url = Url::parse("http://example.org/").unwrap();
        let mut cached_fields = CachedFields::default();
        let seconds = [0, 1_700_000_000, 1_700_000_000, -1, 1_700_000_001, 0];
        for (turn, second) in seconds.into_iter().enumerate() {
            let address = [None, Some(IpAddr::from([192, 0, 2, 1])), Some(IpAddr::from([0; 16]))][turn % 3];
            let exchange = Exchange { address, ..Exchange::default() };
            let moment = Moment::from_secs(second) + vernal_model::Span::from_millis(turn as u64 * 150);
            let what = KeepKind::Revisit { target: &url, date: moment, server_not_modified: true };
            let keep = Keep { url: &url, moment, exchange: &exchange, payload: DIGEST_OF_NOTHING, what };
            let common = cached_fields.of(&keep);
            assert_eq!((common.date, common.referred), (&*moment.warc_date(), &*moment.warc_date()));
            let field = address.map_or_else(String::new, |address| format!("WARC-IP-Address: {address}\r\n"));
            assert_eq!(common.address, field.as_bytes());
        }
    }

    #[test]
    fn lengths_are_written_in_decimal() {
        for number in [0, 7, 10, 99, 100, 65_535, usize::MAX] {
            let mut text = Vec::new();
            push_decimal(&mut text, number);
            assert_eq!(text, number.to_string().into_bytes());
        }
    }

    #[test]
    fn a_line_break_in_a_value_begins_no_field() {
        let mut head = Vec::new();
        field(&mut head, "operator", "me\r\nWARC-Type: response");
        assert_eq!(head, b"operator: me  WARC-Type: response\r\n");
    }
}
