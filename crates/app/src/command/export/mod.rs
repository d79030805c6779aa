//! `vernal export warc|wacz|cdxj|parquet|jsonl|markdown|trace`
//!
//! - `arguments`: the flags. `question`: what is asked of the API. `run`: which of the following a format takes.
//! - `transfer`: an answer on its way, with progress. `place`: files that appear whole or not at all.
//! - `file`: one file. `segments`: WARC into a folder, a file per segment.
//! - `follow`: lines that are appended as they come. `markdown`, `parquet`: folders that are brought up to date. `git`: a commit of such a folder.

mod arguments;
mod file;
mod follow;
mod git;
mod markdown;
mod parquet;
mod place;
mod question;
mod run;
mod segments;
mod transfer;

pub use arguments::Arguments;
pub use run::export;
