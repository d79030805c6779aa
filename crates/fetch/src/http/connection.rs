//! One HTTP/1.1 connection, one exchange at a time.

use std::net::IpAddr;

use tokio::time::timeout;
use vernal_model::{Exchange, Failure, Protocol, Stage, Validators};

use super::body::{self, BodyLimit, Incoming, SharedBuffer};
use super::head::{self, HeadEnd, Status};
use crate::Settings;
use crate::answer::{Answer, AnswerError, protocol};
use crate::stream::{Meter, Stream};

/// So many interim answers (1xx) are skipped before the real one.
const INTERIM_MAX: usize = 8;
/// So many empty lines are skipped before a status line: some servers send one too many after a body.
const EMPTY_BYTES_MAX: usize = 4;

pub struct Connection {
    incoming: Incoming,
    address: IpAddr,
    is_reused: bool,
}

impl Connection {
    pub fn new(stream: Stream, buffer_source: SharedBuffer, address: IpAddr) -> Self {
        Connection { incoming: Incoming::new(stream, buffer_source), address, is_reused: false }
    }

    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Whether it seems usable for another order. Only a request can tell for certain.
    pub fn is_quiet(&self) -> bool {
        self.incoming.available().is_empty() && self.incoming.stream.is_quiet()
    }

    /// Sends one request and reads its answer. Returns the connection when it can be used again.
    pub async fn ask(
        mut self,
        request_head: Vec<u8>,
        request_body: &[u8],
        (settings, limit): (&Settings, BodyLimit),
        meter: &Meter,
    ) -> Result<(Answer, Option<Connection>), AnswerError> {
        let mut sent = self.incoming.stream.send(&request_head, meter).await;
        if !request_body.is_empty() && sent.is_ok() {
            sent = self.incoming.stream.send(request_body, meter).await;
        }
        if sent.is_err() && self.is_reused {
            return Err(AnswerError::Stale);
        }
        // A site may answer and close before it has read the whole request, so a failed write decides nothing yet.
        let (status, response_head) = self.read_head(settings, meter).await?;
        let body = body::read(&mut self.incoming, status.framing, limit, meter).await?;
        let answer = Answer {
            status: status.status,
            content_type: None,
            validators: Validators::default(),
            exchange: Exchange {
                address: Some(self.address),
                protocol: Protocol::Http1,
                request_head,
                content_encoded: is_encoded(&response_head),
                response_head: head::kept(response_head),
                body: body.bytes,
            },
        };
        // A 205 has no body. If a server sends one all the same, the next answer would begin with it.
        let reusable =
            body.is_whole && status.keep_alive && status.status != 205 && self.incoming.available().is_empty();
        self.is_reused = true;
        self.incoming.trim();
        Ok((answer, reusable.then_some(self)))
    }

    async fn read_head(&mut self, settings: &Settings, meter: &Meter) -> Result<(Status, Vec<u8>), AnswerError> {
        self.await_first_byte(settings, meter).await?;
        for _ in 0..=INTERIM_MAX {
            let length = self.await_head(settings.head_bytes_max, meter).await?;
            let response_head = self.incoming.available()[..length].to_vec();
            let status = head::read(&response_head, settings.headers_max)?;
            self.incoming.consume(length);
            match status.status {
                101 => return Err(protocol("a switch of protocols that nobody asked for").into()),
                100..200 => {}
                _ => return Ok((status, response_head)),
            }
        }
        Err(protocol("interim answers without end").into())
    }

    async fn await_first_byte(&mut self, settings: &Settings, meter: &Meter) -> Result<(), AnswerError> {
        match timeout(settings.timeouts.first_byte, self.incoming.fill(meter)).await {
            Ok(Ok(count)) if count > 0 => Ok(()),
            Ok(_) if self.is_reused => Err(AnswerError::Stale),
            Ok(Ok(_)) => Err(protocol("closed without an answer").into()),
            Ok(Err(error)) => Err(protocol(format!("no answer: {error}")).into()),
            Err(_) => Err(Failure::Timeout(Stage::FirstByte).into()),
        }
    }

    /// Waits for a whole head and returns its length.
    async fn await_head(&mut self, bytes_max: usize, meter: &Meter) -> Result<usize, Failure> {
        let mut end = HeadEnd::default();
        let mut passed = 0;
        loop {
            let available = self.incoming.available();
            let empty = available.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            if empty > 0 {
                passed += empty;
                if passed > EMPTY_BYTES_MAX {
                    return Err(protocol("empty lines instead of a head"));
                }
                self.incoming.consume(empty);
                continue;
            }
            if !head::begins_like_http(available) {
                return Err(protocol("no HTTP/1 status line"));
            }
            let found = end.find(available);
            if found.unwrap_or(available.len()) > bytes_max {
                return Err(Failure::HeadTooLarge);
            }
            if let Some(length) = found {
                return Ok(length);
            }
            match self.incoming.fill(meter).await {
                Ok(0) => return Err(protocol("closed within the head")),
                Ok(_) => {}
                Err(error) => return Err(protocol(format!("broken within the head: {error}"))),
            }
        }
    }
}

/// Whether the head names a content coding.
pub fn is_encoded(response_head: &[u8]) -> bool {
    head::fields(response_head, "content-encoding")
        .any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
}
