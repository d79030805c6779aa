//! The invented web as a real HTTP/1.1 server on loopback.
//!
//! It shares the machine with the crawler that is measured against it, so it must cost little: requests are parsed in
//! place, and answers that last are kept whole, compressed, in a bounded cache. It keeps its own log of requests, so
//! that politeness and conditional requests can be audited without asking the crawler.
//! - `server`: the listeners. `connection`: one connection, with every misbehaviour of the web.
//! - `answer_cache`: the bounded cache of whole answers. `log`: what was requested, and when.

mod answer_cache;
mod connection;
mod log;
mod server;

pub use log::{Counts, Logged};
pub use server::{Clock, ServeOptions, Served, serve, standalone};
