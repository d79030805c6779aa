//! What a site answered, before it is judged and read.

use vernal_model::{Exchange, Failure, Outcome, Validators};

use crate::http::head;

/// A whole answer of any protocol, in HTTP's terms where it has none of its own.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub exchange: Exchange,
    /// Known without a response head (FTP, gopher); over HTTP the head says it.
    pub content_type: Option<&'static str>,
    pub validators: Validators,
}

impl Answer {
    /// A header field of the answer as text; `None` where it is absent or no UTF-8.
    pub fn field(&self, name: &str) -> Option<&str> {
        head::field(&self.exchange.response_head, name).and_then(|value| std::str::from_utf8(value).ok())
    }

    pub fn content_type(&self) -> Option<&str> {
        self.content_type.or_else(|| self.field("content-type"))
    }
}

/// Why there is no answer to judge.
#[derive(Debug)]
pub enum Broken {
    /// A connection from the pool was closed before a byte of the answer came: nothing was answered, so the one
    /// request of this order may be sent again on a fresh connection.
    Stale,
    /// The visit is over, with this outcome.
    Over(Outcome),
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Broken::Over(Outcome::Failed(failure))
    }
}

impl From<Outcome> for Broken {
    fn from(outcome: Outcome) -> Self {
        Broken::Over(outcome)
    }
}

pub fn protocol(why: impl Into<String>) -> Failure {
    Failure::Protocol(why.into())
}
