//! Bytes from the web; the one room that opens outgoing connections.
//!
//! One order is one request is one report. An [`Order`](vernal_model::Order) enters the URL buffer ([`buffer`]), a
//! worker's loop ([`worker`]) takes it, a [`Visitor`] asks the site and reads the answer, and a
//! [`Report`](vernal_model::Report) comes out. Redirects are not followed: the answer is `Moved`. A bad web is data: every
//! trouble is an outcome in the report, and [`Error`] is only for what keeps the workers from starting.
//!
//! Invariants:
//! - The address that the guard judged is the address that is dialled; nothing else opens a connection.
//! - No request begins before its site has rested for the order's gap and its address has room ([`AddressLimits`](vernal_model::AddressLimits)).
//! - Every part of an answer (head, body, unpacked body, time) has a limit in [`Settings`].
//! - The bytes of an answer are kept as they came; only the transfer coding is taken off, and the head says so.
//! - Whatever a page contains, the loop lives: a panic while reading is an outcome too.

mod settings;

mod buffer;
mod turns;
mod visitor;
pub mod worker;

pub mod dns;
pub mod guard;

mod dial;
mod stream;

mod ftp;
mod gopher;
mod http;

mod answer;
mod body;
mod parse;
mod validator;

pub use body::unpack_body;
pub use dns::Resolve;
pub use settings::{Clock, Error, Result, Settings, Timeouts};
pub use visitor::{Visitor, fetch_once};
pub use worker::{Sink, Workers};
