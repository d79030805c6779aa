//! Writes request heads; finds, checks and reads response heads.

use std::mem::MaybeUninit;

use memchr::memchr;
use vernal_model::{Failure, Form, Url, Validators};

use crate::answer::protocol;
use crate::{Settings, validator};

const ACCEPT: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
/// The only content type that our requests send.
pub const FORM_TYPE: &str = "application/x-www-form-urlencoded";
const ACCEPT_ENCODING: &str = "gzip, br, zstd, deflate";

/// The header lines that all requests of a process share. Those of one order are written between them.
pub struct RequestHead {
    user_agent: String,
    from: Option<String>,
}

impl RequestHead {
    pub fn new(settings: &Settings) -> Self {
        RequestHead { user_agent: settings.user_agent_line(), from: settings.mail_address() }
    }

    /// Name and value of each header line except Host and Connection.
    pub fn lines<'a>(&'a self, validators: &'a Validators) -> impl Iterator<Item = (&'static str, &'a str)> {
        let standing = [("User-Agent", &*self.user_agent), ("Accept", ACCEPT), ("Accept-Encoding", ACCEPT_ENCODING)];
        let from = self.from.as_deref().map(|from| ("From", from));
        standing.into_iter().chain(from).chain(validator::conditions(validators))
    }

    /// The head as HTTP/1.1 sends it.
    pub fn http1(&self, url: &Url, validators: &Validators, form: Option<&Form>) -> Result<Vec<u8>, Failure> {
        let path = url.path_and_query();
        if path.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return Err(protocol("the path cannot stand in a request line"));
        }
        let mut head = Vec::with_capacity(512);
        for part in [method(form), " ", path, " HTTP/1.1\r\nHost: ", url.site_text(), "\r\n"] {
            head.extend_from_slice(part.as_bytes());
        }
        let length = form.map(|form| form.as_bytes().len().to_string());
        let framing =
            length.iter().flat_map(|length| [("Content-Type", FORM_TYPE), ("Content-Length", length.as_str())]);
        for (name, value) in self.lines(validators).chain(framing) {
            for part in [name, ": ", value, "\r\n"] {
                head.extend_from_slice(part.as_bytes());
            }
        }
        head.extend_from_slice(b"Connection: keep-alive\r\n\r\n");
        Ok(head)
    }
}

/// A form is posted; everything else is a GET.
pub fn method(form: Option<&Form>) -> &'static str {
    if form.is_some() { "POST" } else { "GET" }
}

/// What a response head says about the exchange.
#[derive(Debug, PartialEq, Eq)]
pub struct Status {
    pub status: u16,
    /// Whether the connection may serve another request after this one.
    pub keep_alive: bool,
    pub framing: Framing,
}

/// How the end of the body is found (RFC 9112, 6.3).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Framing {
    Nothing,
    Length(u64),
    Chunked,
    UntilClose,
}

/// Finds the end of a head in bytes that arrive piece by piece. Each byte is examined once, however slowly they arrive.
#[derive(Default)]
pub struct HeadEnd {
    seen: usize,
}

impl HeadEnd {
    /// The length of the head, its empty line included, once it is whole.
    pub fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        while let Some(offset) = memchr(b'\n', bytes.get(self.seen..)?) {
            let line_end = self.seen + offset;
            let rest = &bytes[line_end + 1..];
            match rest {
                [b'\n', ..] => return Some(line_end + 2),
                [b'\r', b'\n', ..] => return Some(line_end + 3),
                // The bytes after this line feed decide, and they have not arrived yet.
                [] | [b'\r'] => {
                    self.seen = line_end;
                    return None;
                }
                _ => self.seen = line_end + 1,
            }
        }
        self.seen = bytes.len();
        None
    }
}

/// Whether these first bytes can still become a status line.
pub fn begins_like_http(bytes: &[u8]) -> bool {
    let start = b"HTTP/1.";
    let length = bytes.len().min(start.len());
    bytes[..length] == start[..length]
}

/// Checks a whole response head.
pub fn read(head: &[u8], headers_max: usize) -> Result<Status, Failure> {
    let mut config = httparse::ParserConfig::default();
    config.allow_multiple_spaces_in_response_status_delimiters(true);
    config.allow_obsolete_multiline_headers_in_responses(true);
    // A line that is no header is skipped, as browsers do. Lines that frame the body are read strictly below.
    config.ignore_invalid_headers_in_responses(true);
    let mut lines = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let lines = &mut lines[..headers_max.min(HEADERS_MAX)];
    let mut response = httparse::Response::new(&mut []);
    match config.parse_response_with_uninit_headers(&mut response, head, lines) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err(protocol("the head ends within a line")),
        Err(httparse::Error::TooManyHeaders) => return Err(Failure::HeadTooLarge),
        Err(error) => return Err(protocol(error.to_string())),
    }
    let status = response.code.ok_or_else(|| protocol("no status"))?;
    let is_new = response.version == Some(1);
    let framing = framing(head, status)?;
    let connection = |word| fields(head, "connection").any(|value| has_word(value, word));
    // An answer with both framings may be response smuggling. The coding wins, and the connection is not used again.
    let ambiguous = framing == Framing::Chunked && (field(head, "content-length").is_some() || !is_new);
    let keep_alive = if is_new { !connection("close") } else { connection("keep-alive") };
    Ok(Status { status, keep_alive: keep_alive && !ambiguous && framing != Framing::UntilClose, framing })
}

/// The upper bound of the setting for header lines. They are on the stack while a head is read.
const HEADERS_MAX: usize = 256;

fn framing(head: &[u8], status: u16) -> Result<Framing, Failure> {
    if status < 200 || status == 204 || status == 205 || status == 304 {
        return Ok(Framing::Nothing);
    }
    let mut codings = fields(head, "transfer-encoding");
    if let Some(coding) = codings.next() {
        return match (coding.trim_ascii().eq_ignore_ascii_case(b"chunked"), codings.next()) {
            (true, None) => Ok(Framing::Chunked),
            _ => Err(protocol("a transfer coding other than chunked")),
        };
    }
    let mut lengths = fields(head, "content-length");
    let Some(length) = lengths.next() else { return Ok(Framing::UntilClose) };
    if lengths.next().is_some() {
        return Err(protocol("more than one Content-Length"));
    }
    let is_number = !length.is_empty() && length.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(length).ok().filter(|_| is_number).and_then(|text| text.parse().ok());
    number.map(Framing::Length).ok_or_else(|| protocol("a Content-Length that is no number"))
}

/// The first header field of this name.
pub fn field<'a>(head: &'a [u8], name: &str) -> Option<&'a [u8]> {
    fields(head, name).next()
}

/// All header fields of this name, in order, without the white space around them.
pub fn fields<'a>(head: &'a [u8], name: &str) -> impl Iterator<Item = &'a [u8]> {
    header_lines(head).filter(move |(found, _)| found.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
}

fn header_lines(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = head.get(memchr(b'\n', head).map_or(head.len(), |end| end + 1)..).unwrap_or_default();
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                return None;
            }
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            let line = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            if let Some(colon) = line.iter().position(|&byte| byte == b':') {
                return Some((&line[..colon], line[colon + 1..].trim_ascii()));
            }
        }
    })
}

fn has_word(value: &[u8], word: &str) -> bool {
    value.split(|&byte| byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
}

/// The head as it is kept: byte for byte, except that the header of a removed transfer coding is renamed.
pub fn kept(head: Vec<u8>) -> Vec<u8> {
    const OLD: &[u8] = b"transfer-encoding";
    if field(&head, "transfer-encoding").is_none() {
        return head;
    }
    let mut kept = Vec::with_capacity(head.len() + 10);
    for line in head.split_inclusive(|&byte| byte == b'\n') {
        let named = line.len() > OLD.len() && line[OLD.len()] == b':' && line[..OLD.len()].eq_ignore_ascii_case(OLD);
        if named {
            kept.extend_from_slice(b"X-Crawler-");
        }
        kept.extend_from_slice(line);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(head: &str) -> Result<Status, Failure> {
        read(head.as_bytes(), 100)
    }

    #[test]
    fn the_request_says_who_asks_and_what_we_hold() {
        let settings = Settings { user_agent: "v/1".into(), contact: "a@b.org".into(), ..Settings::default() };
        let validators = Validators { etag: Some("\"x\"".into()), last_modified: Some("then".into()) };
        let url = Url::parse("http://example.org:81/a?b=c").unwrap();
        let head = RequestHead::new(&settings).http1(&url, &validators, None).unwrap();
        let expected = "GET /a?b=c HTTP/1.1\r\nHost: example.org:81\r\nUser-Agent: v/1 (+a@b.org)\r\n\
            Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
            Accept-Encoding: gzip, br, zstd, deflate\r\nFrom: a@b.org\r\nIf-None-Match: \"x\"\r\n\
            If-Modified-Since: then\r\nConnection: keep-alive\r\n\r\n";
        assert_eq!(String::from_utf8(head).unwrap(), expected);
    }

    #[test]
    fn the_end_of_a_head_is_the_same_however_it_is_cut() {
        for text in ["HTTP/1.1 200 OK\r\nA: b\r\n\r\nrest", "HTTP/1.1 200 OK\nA: b\n\nrest", "H\r\n\nx", "H\n\r\nx"] {
            let bytes = text.as_bytes();
            let whole = HeadEnd::default().find(bytes);
            let mut piecewise = HeadEnd::default();
            let found = (0..=bytes.len()).find_map(|end| piecewise.find(&bytes[..end]));
            assert!(whole.is_some(), "{text:?}");
            assert_eq!(found, whole, "{text:?}");
        }
        assert_eq!(HeadEnd::default().find(b"HTTP/1.1 200 OK\r\nA: b\r\n"), None);
    }

    #[test]
    fn bodies_are_framed_by_the_book() {
        let framing = |head: &str| framed(head).map(|status| status.framing);
        assert_eq!(framing("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), Ok(Framing::Length(5)));
        assert_eq!(framing("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"), Ok(Framing::Chunked));
        assert_eq!(framing("HTTP/1.1 200 OK\r\n\r\n"), Ok(Framing::UntilClose));
        assert_eq!(framing("HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n"), Ok(Framing::Nothing));
        for wrong in [
            "Content-Length: 5\r\nContent-Length: 6",
            "Content-Length: 5\r\nContent-Length: 5",
            "Content-Length: 5, 5",
            "Content-Length: -5",
            "Content-Length: +5",
            "Content-Length:",
            "Content-Length: 0x5",
            "Content-Length: 99999999999999999999999",
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        ] {
            let answer = framing(&format!("HTTP/1.1 200 OK\r\n{wrong}\r\n\r\n"));
            assert!(matches!(answer, Err(Failure::Protocol(_))), "{wrong}: {answer:?}");
        }
    }

    #[test]
    fn a_connection_is_kept_only_when_both_sides_know_where_the_answer_ends() {
        let kept = |head: &str| framed(head).unwrap().keep_alive;
        assert!(kept("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"));
        assert!(kept("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 5\r\n\r\n"));
        assert!(!kept("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n"));
        assert!(!kept("HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 5\r\n\r\n"));
        assert!(!kept("HTTP/1.1 200 OK\r\n\r\n"));
        assert!(!kept("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"));
    }

    #[test]
    fn a_kept_head_differs_only_in_the_name_of_the_coding_taken_off() {
        let head = b"HTTP/1.1 200 OK\r\nserver:  X \r\ntransfer-encoding: chunked\r\n\r\n";
        let expected = b"HTTP/1.1 200 OK\r\nserver:  X \r\nX-Crawler-transfer-encoding: chunked\r\n\r\n";
        assert_eq!(kept(head.to_vec()), expected);
        let plain = b"HTTP/1.1 200  OK\nA:b\n\n";
        assert_eq!(kept(plain.to_vec()), plain);
    }
}
