//! The deeds applied: a cache in the embedded store that can be rebuilt from the journal at any time.
//!
//! - `keys`, `rows`: how things lie in the tables.
//! - `store`: the tables opened, with their limits; `shared`: what the writer and its readers share.
//! - `closed`: what the files were when they were closed.
//! - `table`, `memory`, `sorted`, `by_page`: one table, wherever it lies.
//! - `page_rows`: the rows of pages in memory, as far as there is room.
//! - `apply`: one group of deeds becomes one atomic batch (`row_batch`); `obsolete`: what that leaves to be removed.
//! - `restate`: the tables as deeds, for checkpoints of the journal.
//! - `sieved`: what the sieve decided.
//! - `waiting`: what waits at a site, packed.
//! - `learned`: what visits taught of noise.
//! - `named`: the names of pages.
//! - `erased`: what a person had forgotten.
//! - `hinted`: what sites said of their own changes.
//! - `series`: what the hours and days of the crawl were like.
//! - `count`: what a visit does to the counters.
//! - `dump`: everything as text, in key order, for comparison.
//!
//! **What a power cut may do.** The store is not synced with each commit, because the journal is. After a power cut its
//! tables may therefore stand at different commits, none older than their last sync. Replaying the journal from the
//! state row heals this: rows are written as they become, site rows carry a stamp, and what a replay needs (found rows,
//! runs of the known set) is removed only after a sync.

mod apply;
mod by_page;
pub(crate) mod closed;
mod count;
mod dump;
mod erased;
mod hinted;
pub(crate) mod keys;
mod learned;
mod memory;
mod named;
mod obsolete;
mod page_rows;
mod restate;
mod row_batch;
pub(crate) mod rows;
mod series;
mod shared;
mod sieved;
mod sorted;
mod store;
mod table;
mod waiting;

pub(crate) use apply::Group;
pub(crate) use dump::dump;
pub(crate) use obsolete::Obsolete;
pub(crate) use restate::{Restatement, apply};
pub(crate) use shared::{Live, Shared};
pub(crate) use store::{STORE_FILES_MAX, Tables};
pub(crate) use table::{Row, Table};
pub(crate) use waiting::WaitingRow;
