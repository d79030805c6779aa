//! Sends a delivery on its route. Connections come from [`Network`], which `app` fills with the guard of the crawler.
//!
//! - `attempt`: one try.
//! - `network`: what the room needs of the network.
//! - `sign`: signatures of the Standard Webhooks form.
//! - `webhook`: a POST.
//! - `mail`: SMTP.
//! - `command`: a program of the operator.

mod attempt;
mod command;
mod mail;
mod network;
mod sign;
mod webhook;

pub use attempt::{Outcome, send, written};
pub use network::{Connection, DialTls, LocalFuture, MailStream, Network, Post, PostAnswer, SendError};
pub use sign::signature;
