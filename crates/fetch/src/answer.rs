//! The answer of a site, before it is judged and read.

use vernal_model::{Exchange, Failure, Outcome, Validators};

use crate::http::head;

/// A whole answer of any protocol. Protocols without statuses and heads use those of HTTP.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub exchange: Exchange,
    /// Set where there is no response head (FTP, gopher). Over HTTP the head has the type.
    pub content_type: Option<&'static str>,
    pub validators: Validators,
}

impl Answer {
    /// A header field of the answer as text; `None` where it is absent or is not UTF-8.
    pub fn field(&self, name: &str) -> Option<&str> {
        head::field(&self.exchange.response_head, name).and_then(|value| std::str::from_utf8(value).ok())
    }

    pub fn content_type(&self) -> Option<&str> {
        self.content_type.or_else(|| self.field("content-type"))
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub enum AnswerError {
    /// A connection from the pool was closed before the first byte of an answer. The request was not answered, so it may
    /// be sent again over a new connection.
    Stale,
    /// The visit ends with this outcome.
    Final(Outcome),
}

impl From<Failure> for AnswerError {
    fn from(failure: Failure) -> Self {
        AnswerError::Final(Outcome::Failed(failure))
    }
}

impl From<Outcome> for AnswerError {
    fn from(outcome: Outcome) -> Self {
        AnswerError::Final(outcome)
    }
}

pub fn protocol(why: impl Into<String>) -> Failure {
    Failure::Protocol(why.into())
}
