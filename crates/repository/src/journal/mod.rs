//! The append-only log of deeds: one physical log per machine that holds the logical log of each partition.
//!
//! ```text
//! DIR/journal/00000001.log     numbers without a gap; a new file after 64 MiB
//!
//! file:   head | frame | frame | …                                all numbers little-endian
//! head:   magic "VRNLJRNL" | format u32 (2, or 3 for a checkpoint) | file number u32 | position of its first deed u64 | checksum u64
//! frame:  magic 0xA17F_D33D u32 | payload bytes u32 | position of its first deed u64 | checksum u64 | payload
//! payload, in postcard:  Moment | end of the bodies (segment, length) | count of deeds u32 | entry | entry | …
//! entry:  (Partition, Sequence, Deed)
//! ```
//!
//! A frame is one commit group, which is valid as a whole or not at all. `Sequence` counts the deeds of one partition from 1; the
//! position counts all deeds from 1 and orders everything. A checksum is XXH3-64 over the bytes before it and the payload. Its
//! seed is made of the id of the repository, so that no page can contain bytes that look like a frame of this journal.
//!
//! **Checkpoints.** Files up to a number may be replaced by a checkpoint, which has the rows of the tables in their place
//! ([`checkpoint`]). The journal begins with the last one.
//!
//! **Damage.** Bytes at the end of the last file that are no whole frame are a torn write, which was never acknowledged. They
//! are cut. Any other damage is an error that names the file and the byte.

mod checkpoint;
mod file;
mod frame;
mod read;
#[cfg(test)]
mod tests;
mod verify;
mod write;

pub(crate) use checkpoint::{ARCHIVE, Checkpoint, Contains, begins_after, remove_replaced};
pub(crate) use file::path as file_path;
pub(crate) use frame::{Frame, VisitedRanges, WrittenFrame};
pub(crate) use read::{Tail, replay};
pub(crate) use verify::walk;
pub use verify::{JournalReport, verify_journal};
pub(crate) use write::Journal;

/// The folder of the journal within a repository.
pub(crate) const FOLDER: &str = "journal";
