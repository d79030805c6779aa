//! Bytes from the web. This is the only crate that opens outgoing connections.
//!
//! One order is one request is one report. An [`Order`](vernal_model::Order) enters the URL buffer ([`buffer`]), a
//! worker's loop ([`worker`]) takes it, a [`Visitor`] asks the site and reads the answer, and a
//! [`Report`](vernal_model::Report) comes out. Redirects are not followed: the answer is `Moved`. Faults of the web are
//! data: each becomes an outcome in the report. [`Error`] is only for what keeps the workers from starting.
//!
//! Invariants:
//! - The address that the guard judged is the address that is dialled; nothing else opens a connection.
//! - No request begins before the gap of its order has passed at its site and the limits of its address allow it ([`AddressLimits`](vernal_model::AddressLimits)).
//! - Every part of an answer (head, body, unpacked body, time) has a limit in [`Settings`].
//! - The bytes of an answer are kept as they came. Only the transfer coding is removed, and the head says so.
//! - No page can end a loop: a panic while reading it becomes an outcome.

mod settings;

mod buffer;
mod start_limiter;
mod visitor;
pub mod worker;

pub mod dns;
pub mod guard;
pub mod hosts;

mod dial;
mod post;
mod stream;

mod ftp;
mod gopher;
mod http;

mod answer;
mod body;
mod read;
mod validator;

pub use body::unpack_body;
pub use dns::Resolve;
pub use hosts::{HostEntry, Hosts};
pub use http::ask_over;
pub use post::{MailStream, Posted, Poster};
pub use settings::{Clock, Error, Result, Settings, Timeouts};
pub use visitor::Visitor;
pub use worker::{Sink, Workers};
