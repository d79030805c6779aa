//! The same crawler and policies on an invented web.
//!
//! - [`web`]: sites, pages and links, made from one chance number. Every answer is a pure function of the plan, the
//!   request and the Moment, so the same web can be asked in virtual time or served over HTTP.
//! - [`drift`]: how its pages change (alone, in bursts, daily, together), with the truth on record and in random access.
//! - [`serve`]: that web as a real HTTP server on loopback, with a request log of its own to audit a crawler by.
//! - [`trial`]: the live crawler driven in virtual time on that web, over a [`wire`] without sockets.
//! - [`lab`]: policies alone, on worlds whose every change is known.
//! - [`scenario`]: a web and its server as a file.

pub mod drift;
mod error;
pub mod lab;
pub mod scenario;
pub mod serve;
pub mod trial;
pub mod web;
pub mod wire;

pub use error::{Error, Result};
