//! Copies for other tools and from them: WARC, WACZ, CDXJ, Parquet, JSON lines, Markdown; Memento.
//!
//! The room reads acknowledged state only and holds up nobody. What it writes can be written again.
//!
//! - [`export`]: a state, or the difference of two, in the forms that other tools read.
//! - [`memento`]: which version was nearest to a moment, and all of them as lists (RFC 7089); changes by ResourceSync.
//! - [`import`]: other people's archives, record by record in the order of their dates.
//! - [`replay`]: a version as a browser may see it: links lead into the archive, and nothing of it runs.

pub mod export;
pub mod import;
pub mod memento;
pub mod replay;
