//! Operations on whole segments: an index for replay tools, exports of selected records, and compaction.

mod cdxj;
mod compact;
mod copy;
mod export;
mod sort;
mod surt;

pub use cdxj::{CaptureIndex, IndexOf, cdxj};
pub use compact::{Compaction, compact, retire};
pub use export::{CopiedRecord, ExportReport, ExportTo, export_warc, stream_warc};
pub use surt::surt;
