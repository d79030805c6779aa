//! HTTP/1.1 read by hand, so that the bytes are kept as they came, and HTTP/2 where a site speaks it.
//!
//! - `head`: request heads written, response heads found, judged and looked up.
//! - `body`: where a body ends, and its bytes without the transfer coding.
//! - `connection`: one HTTP/1.1 connection, one exchange at a time.
//! - `http2`: one HTTP/2 connection, many exchanges at a time.
//! - `pool`: connections that wait for their site's next order.
//! - `exchange`: one order, from a pooled or fresh connection to an answer.

mod body;
mod connection;
mod exchange;
pub mod head;
mod http2;
mod pool;

pub use exchange::{Way, ask};
pub use pool::Pool;
