//! What people and programs read on standard output: tables for the one, JSON for the other.

mod readable;
mod sink;
mod table;
mod time;
mod width;

pub use readable::readable;
pub use sink::Sink;
pub use table::{Column, Table};
pub use time::TimeStyle;
pub use vernal_document::tell::{escaped, method_lines, plain, quoted, remarks, sides, verdict};
pub use vernal_model::bytes_shown;
