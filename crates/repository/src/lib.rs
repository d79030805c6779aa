//! What we know, kept on disk and found again; the one room that opens data files.
//!
//! ```text
//! DIR/FORMAT            what this folder is, and which format its files have
//! DIR/lock              held by the one process that has the folder open
//! DIR/bodies/*.warc.gz  versions as WARC records: any archive tool can read them
//! DIR/journal/*.log     every change of state as a deed; the truth
//! DIR/tables/           the deeds applied: a cache in the embedded store, rebuilt from the journal when it is missing
//! DIR/known/*.run       the known URLs, sorted; a part of that cache
//! DIR/graph/            the links by target, as the last pass over them sorted them; derived
//! DIR/passes/           where passes over the whole repository stand, so that the next process goes on there; derived
//! DIR/damaged-*/        journal, tables and known as a repair found them; nothing reads them again
//! DIR/repairing         a repair is under way, or was cut short
//! ```
//!
//! There is one writer, the [`Repository`], and any number of [`Reader`]s. The writer keeps bodies, then commits a group
//! of deeds: the segment is synced, then one journal frame is synced, then the tables follow. What a reader sees has
//! been through all three, so that nothing acknowledged is ever lost.

pub mod archive;
pub mod bodies;
mod compact;
mod cursor;
mod encoding;
mod error;
mod folder;
pub mod graph;
mod hints;
mod journal;
mod passes;
mod reader;
mod rebuild;
mod recover;
mod repair;
mod repository;
mod sieve;
mod tables;

pub use bodies::{Keep, KeepKind, Record, WarcInfo};
pub use compact::{Compacted, Retention};
pub use cursor::{Cursor, EventId};
pub use error::{Error, Result};
pub use hints::SiteHints;
pub use journal::{JournalReport, fuzz_journal, verify_journal};
pub use reader::{DiskSpace, Reader};
pub use rebuild::{TablesReport, compare_tables};
pub use recover::{Recovery, TablesRecovery};
pub use repair::{Aside, Saved};
pub use repository::{Repository, Settings};
pub use sieve::{Candidate, PartitionSieving, Sieving};
pub use tables::rows::{Known, KnownState, Totals, UrlRow};
