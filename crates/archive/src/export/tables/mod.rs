//! Parquet: tables for databases and data frames, compressed with zstd.
//!
//! - `schema`: the columns of each table. Their ids are fixed and columns are only added, so that old and new files are read together.
//! - `columns`: values become columns. `rows`: what is known becomes values.

mod columns;
mod rows;
mod schema;
mod write;

pub(super) use columns::Value;
pub(super) use rows::event;
pub use schema::Table;
pub use write::write;
