//! Our segments for other people's tools: an index that replay tools read, copies of chosen records, and rewriting of
//! sealed segments without what nobody keeps.

mod cdxj;
mod compact;
mod copy;
mod export;
mod sort;
mod surt;

pub use cdxj::cdxj;
pub use compact::{Compaction, compact, retire};
pub use export::{ExportReport, ExportTo, export_warc};
pub use surt::surt;
