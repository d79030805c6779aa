//! Copies for other tools and from them: WARC, WACZ, CDXJ, Parquet, JSON lines, Markdown; Memento.
//!
//! The room reads acknowledged state only and holds up nobody. What it writes can be written again.

pub mod export;
