//! What people and programs read on standard output: tables for the one, JSON for the other.

mod bytes;
mod direction;
mod methods;
mod readable;
mod sink;
mod table;
mod time;
mod verdict;
mod width;

pub use bytes::bytes_shown;
pub use direction::escaped;
pub use methods::method_lines;
pub use readable::readable;
pub use sink::Sink;
pub use table::{Column, Table};
pub use time::TimeStyle;
pub use verdict::{plain, quoted, remarks, sides, verdict};
