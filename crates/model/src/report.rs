//! The message from worker to crawler: what one request found.

use std::net::IpAddr;

use crate::{Document, Moment, Order, Outcome, Signature, Validators};

/// What one order came to. The worker parses: `document` and `signature` are made where the bytes arrived.
#[derive(Clone, Debug)]
pub struct Report {
    pub order: Order,
    pub started: Moment,
    pub finished: Moment,
    pub outcome: Outcome,
    /// What was said on the wire; `None` when nothing came back.
    pub exchange: Option<Exchange>,
    /// Present when a body was read and has a meaning that we understand.
    pub document: Option<Document>,
    pub signature: Option<Signature>,
    /// Validators of this answer, for the next visit.
    pub validators: Validators,
    /// Bytes sent and received, heads included.
    pub wire_bytes: u64,
}

impl Report {
    /// The report of a visit that brought nothing back.
    pub fn unanswered(order: Order, started: Moment, finished: Moment, outcome: Outcome) -> Self {
        Report {
            order,
            started,
            finished,
            outcome,
            exchange: None,
            document: None,
            signature: None,
            validators: Validators::default(),
            wire_bytes: 0,
        }
    }
}

/// Request and response as they were, ready for a WARC record.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    pub address: Option<IpAddr>,
    pub protocol: Protocol,
    /// Request line and header lines with CRLFs, the empty line included (reconstructed for HTTP/2).
    pub request_head: Vec<u8>,
    /// Status line and header lines as received, the empty line included. Transfer-Encoding is dropped honestly:
    /// the header is renamed to `X-Crawler-Transfer-Encoding` and the body below is de-chunked.
    pub response_head: Vec<u8>,
    /// The body as received, content-encoded, without transfer coding.
    pub body: Vec<u8>,
    /// The head of the response says that the body is compressed, so compressing it again would only cost.
    pub content_encoded: bool,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    #[default]
    Http1,
    Http2,
    Ftp,
    Gopher,
}
