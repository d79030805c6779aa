//! One connection: requests are parsed in place, and answers are sent as the web behaves.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use vernal_model::Moment;

use super::answer_cache::{AnswerCache, CachedAnswer};
use super::log::{Log, Logged};
use super::server::Clock;
use crate::web::{Answer, Behaviour, Request, Web};

/// A head with more bytes is refused with 431.
const HEAD_BYTES_MAX: usize = 32 << 10;
const HEADERS_MAX: usize = 64;

/// A connection without a request is closed after this.
const IDLE: Duration = Duration::from_secs(75);
/// A dripping or silent answer holds its reader for at most this long, in case that reader has no limit of its own.
const STALL: Duration = Duration::from_secs(600);
/// Between two bytes of a dripping answer.
const DRIP: Duration = Duration::from_millis(5);

/// A chunk of a chunked body is at most so long; odd on purpose.
const CHUNK_BYTES: usize = 3_001;

/// What all connections share.
pub(super) struct Shared {
    pub web: Arc<Web>,
    pub clock: Clock,
    pub kept: AnswerCache,
    pub log: Log,
}

/// What will be sent.
pub(super) enum Prepared {
    CachedAnswer(CachedAnswer),
    /// It comes in an order of its own, and the connection does not outlive it.
    Odd(Answer),
}

impl Shared {
    pub fn prepare(&self, request: &Request<'_>, now: Moment) -> (u16, Prepared) {
        let mark = self.web.cache_key(request, now);
        if let Some(whole) = mark.as_ref().and_then(|mark| self.kept.find(mark)) {
            return (200, Prepared::CachedAnswer(whole));
        }
        let answer = self.web.answer(request, now);
        let status = answer.status;
        if !matches!(answer.behaviour, Behaviour::Normal | Behaviour::Chunked) {
            return (status, Prepared::Odd(answer));
        }
        let whole = written(&answer);
        if let Some(mark) = mark {
            self.kept.keep(mark, whole.clone());
        }
        (status, Prepared::CachedAnswer(whole))
    }
}

/// The parts of one request that matter.
struct Asked {
    prepared: Prepared,
    path: Box<str>,
    started: Moment,
    status: u16,
    conditional: bool,
    head_only: bool,
    keep_alive: bool,
    /// Bytes of the request's head.
    length: usize,
}

pub(super) async fn serve_connection(mut stream: TcpStream, site: usize, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = BytesMut::with_capacity(4 << 10);
    loop {
        let asked = match parse_request(&buffer, site, shared) {
            Ok(Some(asked)) => asked,
            Ok(None) if buffer.len() > HEAD_BYTES_MAX => return refuse(&mut stream, "431 Too Large").await,
            Ok(None) => {
                buffer.reserve(4 << 10);
                let read = tokio::time::timeout(IDLE, stream.read_buf(&mut buffer)).await;
                if !matches!(read, Ok(Ok(1..))) {
                    return Ok(());
                }
                continue;
            }
            Err(why) => return refuse(&mut stream, why).await,
        };
        buffer.advance(asked.length);
        shared.log.started(site);
        let sent = send(&mut stream, &asked, shared).await;
        let (finished, keep_alive) = ((shared.clock)(), asked.keep_alive);
        let Asked { path, started, status, conditional, .. } = asked;
        shared.log.finished(Logged { site, path, started, finished, status, conditional });
        if !sent? || !keep_alive {
            return stream.shutdown().await;
        }
    }
}

/// Reads a request if there is a whole one. What cannot be understood gets the line given as error.
fn parse_request(buffer: &[u8], site: usize, shared: &Shared) -> Result<Option<Asked>, &'static str> {
    if buffer.is_empty() {
        return Ok(None);
    }
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Request::new(&mut headers);
    let length = match head.parse(buffer) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err("400 Bad Request"),
    };
    let head_only = head.method == Some("HEAD");
    if !head_only && head.method != Some("GET") {
        return Err("405 Method Not Allowed");
    }
    let mut request = Request { site, path_and_query: head.path.unwrap_or("/"), ..Request::default() };
    let mut keep_alive = head.version == Some(1);
    for header in head.headers.iter() {
        let value = || std::str::from_utf8(header.value).ok();
        match header.name.len() {
            13 if header.name.eq_ignore_ascii_case("if-none-match") => request.if_none_match = value(),
            17 if header.name.eq_ignore_ascii_case("if-modified-since") => request.if_modified_since = value(),
            15 if header.name.eq_ignore_ascii_case("accept-encoding") => {
                request.accepts_gzip = value().is_some_and(|value| value.contains("gzip"));
            }
            10 if header.name.eq_ignore_ascii_case("connection") => {
                keep_alive &= !value().is_some_and(|value| value.eq_ignore_ascii_case("close"));
            }
            _ => {}
        }
    }
    let started = (shared.clock)();
    let (status, prepared) = shared.prepare(&request, started);
    let path = if shared.log.keeps_entries() { request.path_and_query.into() } else { Box::default() };
    let conditional = request.if_none_match.is_some() || request.if_modified_since.is_some();
    Ok(Some(Asked { prepared, path, started, status, conditional, head_only, keep_alive, length }))
}

async fn refuse(stream: &mut TcpStream, why: &str) -> io::Result<()> {
    let answer = format!("HTTP/1.1 {why}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

/// Sends an answer; whether the connection may live on.
async fn send(stream: &mut TcpStream, asked: &Asked, shared: &Shared) -> io::Result<bool> {
    let mut sender = Sender { stream, shared };
    let answer = match &asked.prepared {
        Prepared::CachedAnswer(whole) => {
            let end = if asked.head_only { whole.head_bytes } else { whole.bytes.len() };
            sender.write(&whole.bytes[..end]).await?;
            return Ok(true);
        }
        Prepared::Odd(answer) => answer,
    };
    match answer.behaviour {
        Behaviour::Slow { wait_ms } => {
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
            let whole = written(answer);
            let end = if asked.head_only { whole.head_bytes } else { whole.bytes.len() };
            sender.write(&whole.bytes[..end]).await?;
            return Ok(true);
        }
        Behaviour::Silent => sender.stall().await,
        _ if asked.head_only => sender.write(&head(answer, "Connection: close\r\n")).await?,
        Behaviour::Drip { bytes } => sender.drip(answer, bytes).await?,
        Behaviour::Endless => sender.endless(answer).await?,
        Behaviour::Huge { bytes } => sender.huge(answer, bytes).await?,
        Behaviour::CutOff { after } => {
            sender.write(&head(answer, &format!("Content-Length: {}\r\n", answer.body.len()))).await?;
            sender.write(&answer.body[..after]).await?;
        }
        Behaviour::LyingLength { declared } => {
            sender.write(&head(answer, &format!("Content-Length: {declared}\r\n"))).await?;
            sender.write(&answer.body).await?;
        }
        Behaviour::Normal | Behaviour::Chunked => sender.write(&written(answer).bytes).await?,
    }
    Ok(false)
}

struct Sender<'a> {
    stream: &'a mut TcpStream,
    shared: &'a Shared,
}

impl Sender<'_> {
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.shared.log.bytes_sent.fetch_add(bytes.len() as u64, Relaxed);
        Ok(())
    }

    async fn drip(&mut self, answer: &Answer, bytes: usize) -> io::Result<()> {
        self.write(&head(answer, &format!("Content-Length: {}\r\n", answer.body.len()))).await?;
        for byte in answer.body.iter().take(bytes) {
            self.write(&[*byte]).await?;
            tokio::time::sleep(DRIP).await;
        }
        self.stall().await;
        Ok(())
    }

    async fn endless(&mut self, answer: &Answer) -> io::Result<()> {
        self.write(&head(answer, "Transfer-Encoding: chunked\r\n")).await?;
        let chunk = chunked(&answer.body, false);
        loop {
            self.write(&chunk).await?;
        }
    }

    async fn huge(&mut self, answer: &Answer, bytes: u64) -> io::Result<()> {
        self.write(&head(answer, &format!("Content-Length: {bytes}\r\n"))).await?;
        let mut left = bytes;
        while left > 0 {
            let piece = answer.body.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.write(&answer.body[..piece]).await?;
            left -= piece as u64;
        }
        Ok(())
    }

    /// Keeps the connection open and silent until the reader goes.
    async fn stall(&mut self) {
        let mut ignored = [0; 256];
        let gone = async { while matches!(self.stream.read(&mut ignored).await, Ok(1..)) {} };
        let _ = tokio::time::timeout(STALL, gone).await;
    }
}

/// The whole answer as it goes over the wire.
fn written(answer: &Answer) -> CachedAnswer {
    let framing = match answer.behaviour {
        Behaviour::Chunked => "Transfer-Encoding: chunked\r\n".to_owned(),
        // RFC 9110, 8.6: a 304 may leave the length out, and ours does.
        _ if answer.status == 304 => String::new(),
        _ => format!("Content-Length: {}\r\n", answer.body.len()),
    };
    let mut bytes = head(answer, &framing);
    let head_bytes = bytes.len();
    match answer.behaviour {
        Behaviour::Chunked => bytes.extend(chunked(&answer.body, true)),
        _ => bytes.extend_from_slice(&answer.body),
    }
    CachedAnswer { bytes: Bytes::from(bytes), head_bytes }
}

fn head(answer: &Answer, framing: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(answer.body.len() + 256);
    out.extend(format!("HTTP/1.1 {} {}\r\n", answer.status, reason(answer.status)).as_bytes());
    for (name, value) in &answer.headers {
        for part in [name.as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            out.extend_from_slice(part);
        }
    }
    out.extend_from_slice(framing.as_bytes());
    out.extend_from_slice(b"\r\n");
    out
}

fn chunked(body: &[u8], with_end: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 64);
    for chunk in body.chunks(CHUNK_BYTES) {
        out.extend(format!("{:x}\r\n", chunk.len()).as_bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    if with_end {
        out.extend_from_slice(b"0\r\n\r\n");
    }
    out
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        404 => "Not Found",
        410 => "Gone",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Unknown",
    }
}
