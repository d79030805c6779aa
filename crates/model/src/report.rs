//! The message from worker to crawler: the result of one request.

use std::net::IpAddr;

use crate::{Document, Moment, Order, Outcome, Signature, Validators};

/// The result of one order. The worker parses the body, so `document` and `signature` are included.
#[derive(Clone, Debug)]
pub struct Report {
    pub order: Order,
    pub started: Moment,
    pub finished: Moment,
    pub outcome: Outcome,
    /// Request and response as on the wire; `None` when there was no response.
    pub exchange: Option<Exchange>,
    /// Present when a body was read and understood.
    pub document: Option<Document>,
    pub signature: Option<Signature>,
    /// Validators of this answer, for the next visit.
    pub validators: Validators,
    /// Bytes sent and received, heads included.
    pub wire_bytes: u64,
}

impl Report {
    /// The report of a visit without an answer.
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
    /// Status line and header lines as received, the empty line included. The Transfer-Encoding header
    /// is renamed to `X-Crawler-Transfer-Encoding` and the body below is de-chunked.
    pub response_head: Vec<u8>,
    /// The body as received, content-encoded, without transfer coding.
    pub body: Vec<u8>,
    /// Whether the body is compressed, as its head says, so that compressing it again would gain nothing.
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
