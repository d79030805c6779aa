//! Other people's archives, read as history: WARC, WACZ and CDXJ.
//!
//! Everything in such a file may be wrong or hostile. Sizes, ratios, entries and names are limited, nothing is written but
//! unpacked entries to unnamed files in the data folder, and no name in an archive becomes a path of ours.
//!
//! - `section`: a part of a file, read like a file.
//! - `zip_entries`: the WARC files within a WACZ.
//! - `cdxj_lines`: which records of which files an index names.
//! - `archives`: two passes: first where each record is, then the records in the order of their dates.
//! - `prepared`: a foreign record as one of ours: its payload found, its transfer coding taken off.

mod archives;
mod cdxj_lines;
mod prepared;
mod section;
mod zip_entries;

pub use archives::{Archives, Form, ImportError, LeftOut, Progress};
