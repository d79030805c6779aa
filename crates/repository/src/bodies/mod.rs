//! Versions as WARC 1.1 records in segment files: any archive tool can read our disk.
//!
//! ```text
//! DIR/bodies/vernal-20260501120000-00001.warc.gz         sealed: only erased records are written again
//! DIR/bodies/vernal-20260502093000-00002.warc.gz.open    the one that grows
//!
//! a segment  = warcinfo member, then (response | revisit | resource) member, request member, …
//! a member   = gzip header (10 bytes) · deflate blocks · CRC-32 · length      one WARC record each
//! a record   = WARC/1.1 CRLF · named fields · CRLF · block · CRLF CRLF
//! ```
//!
//! The format has its numbers and checksums from outside: `WARC/1.1` in each record, CRC-32 in each member, SHA-1 over
//! each block and payload. A body that came content-encoded is kept in *stored* deflate blocks, because compressing it
//! again costs much and gains nothing; every other block is deflated at the lowest level.
//!
//! **Revisits.** Both profiles carry `WARC-Refers-To-Target-URI`, `WARC-Refers-To-Date` and, as `WARC-Payload-Digest`,
//! the digest of the payload they refer to, because this is what replay tools look up. For a 304 this is the payload
//! of the version that the site confirmed, never that of the empty body which came with the 304. The block of a 304's
//! revisit is empty, because pywb would otherwise replay the 304 itself, without a body; what the 304 said is kept in a
//! metadata record beside it.

mod fields;
mod inflate;
mod keep;
mod member;
mod overwrite;
mod read;
mod record;
mod scan;
mod segment;
mod timeline;
mod verify;
mod writer;

pub use fields::Fields;
pub use keep::{Keep, KeepKind, WarcInfo};
pub use read::{Bodies, read};
pub use record::{HttpMessage, Record};
pub use scan::{Damage, Scan, ScanLimits, Scanned, scan};
pub(crate) use segment::FOLDER;
pub use segment::{End, SegmentFile, segments};
pub use timeline::{Timeline, timeline};
pub use verify::{VerifyReport, verify};
pub use writer::{CutTail, Segments};

pub(crate) use overwrite::{followers, overwrite};
pub(crate) use segment::{sealed_path, sync_folder};
pub(crate) use writer::whole_end;
