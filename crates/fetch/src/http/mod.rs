//! HTTP/1.1, implemented here so that the bytes are kept as they came, and HTTP/2 where a site offers it.
//!
//! - `head`: writes request heads; finds, checks and reads response heads.
//! - `body`: reads a body to its end and removes the transfer coding.
//! - `connection`: one HTTP/1.1 connection, one exchange at a time.
//! - `frame_limit`: limits what an HTTP/2 site may send beside bodies.
//! - `http2`: one HTTP/2 connection, many exchanges at a time.
//! - `pool`: idle connections, kept for the next order to their site.
//! - `exchange`: one order, from a pooled or fresh connection to an answer.

pub mod body;
pub mod connection;
mod exchange;
mod frame_limit;
pub mod head;
mod http2;
mod pool;

pub use exchange::{Route, ask};
pub use http2::ask_over;
pub use pool::Pool;
