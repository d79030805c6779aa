//! Everything that Vernal knows, on disk. No other crate opens these files; `DIR/search/`, the text index, is made of them by
//! `vernal-search`.
//!
//! ```text
//! DIR/FORMAT            what this folder is, and which format its files have
//! DIR/FORMAT.copy       the same once more
//! DIR/lock              held by the one process that has the folder open
//! DIR/bodies/*.warc.gz  versions as WARC records: any archive tool can read them
//! DIR/journal/*.log     every change of state as a deed, behind a checkpoint of the tables; the source of truth
//! DIR/journal.archive/  the deeds before the checkpoint, where they are archived; never read
//! DIR/tables/           the deeds applied: a cache in the embedded store, rebuilt from the journal when it is missing
//! DIR/known/*.run       the known URLs, sorted; a part of that cache
//! DIR/graph/            the links by target, as the last pass over them sorted them; derived
//! DIR/tokens            who may ask the API, by digests of their tokens
//! DIR/passes/           progress of passes over the whole repository, for the next process to continue; derived
//! DIR/damaged-*/        journal, tables and known as a repair found them; kept for people, never read again
//! DIR/journal.mended/   a journal that is being mended from the tables
//! DIR/repaired.new/     a repository that is made anew from the segments, until it is whole
//! DIR/runs.jsonl        what each run promised its sites, and runs.copy.jsonl; see [`runs`]
//! DIR/repairing         an earlier Vernal was cut short while it repaired
//! ```
//!
//! There is one writer, the [`Repository`], and any number of [`Reader`]s. The writer appends bodies
//! and then commits a group of deeds: it syncs the segment, then syncs one journal frame, then updates the tables. A reader
//! sees only what has passed all three steps, so nothing that it has seen can be lost.

pub mod archive;
pub mod bodies;
mod compact;
mod cursor;
mod disk_use;
mod encoding;
mod error;
mod events;
mod folder;
mod forget;
pub mod graph;
mod hints;
mod journal;
mod lost;
mod mend;
mod names;
mod passes;
mod read_only;
mod reader;
mod rebuild;
mod recover;
mod repair;
mod repository;
pub mod runs;
mod series;
mod shorten;
mod sieve;
mod tables;
mod tokens;
mod version_record;

pub use bodies::{Keep, KeepKind, Record, WarcInfo};
pub use compact::{Compacted, Retention};
pub use cursor::{Cursor, EventId};
pub use error::{Error, Result};
pub use folder::has_format as exists;
pub use forget::ToRewrite;
pub use hints::SiteHints;
pub use journal::{JournalReport, verify_journal};
pub use lost::LostBody;
pub use mend::Mended;
pub use read_only::ReadOnlyCopy;
pub use reader::{DiskSpace, Reader};
pub use rebuild::{TablesReport, compare_tables, note_damage};
pub use recover::{Recovery, TablesRecovery};
pub use repair::{DamagedFiles, Salvaged};
pub use repository::{Repository, Settings};
pub use series::{SERIES_ROWS_MAX, Series, SeriesFault, SeriesName, SeriesQuery};
pub use shorten::JournalKept;
pub use sieve::{Candidate, PartitionSieving, Sieving};
pub use tables::rows::{Known, KnownState, Totals, UrlRow};
pub use tokens::{AccessToken, Role, TOKEN_NAME_BYTES_MAX, TOKENS_MAX, is_token_name, read_tokens, write_tokens};
