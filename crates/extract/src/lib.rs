//! Documents that are not pages of HTML: PDF, office formats and books.
//!
//! A reader turns the bytes of a file into plain HTML that is the same each time (see `draft`): headings, paragraphs, lists, tables row by
//! row, links. Everything behind it, from the signature to the diff, reads HTML already.
//!
//! - [`kind_of`] tells what a file is: by its bytes, then by its header, then by its name.
//! - [`read_file`] reads one file, here and now. [`Pool`] does so in child processes of our own binary with limits on time and memory,
//!   without files and network; files from the web are only read so. [`serve`] is the child.
//! - [`plain_text`] and [`fact`] read the HTML again: its text for people, and what the file says of itself.
//!
//! Nothing here trusts its input. Every list, depth and length has a named limit.

mod bare_links;
mod child;
mod draft;
mod fault;
mod kind;
mod line;
mod package;
mod pdf;
mod plain_text;
mod read_file;
mod rtf;
mod style_names;
mod word97;

pub use child::{Confinement, Counts, Limits, Pool, confine, serve};
pub use fault::Fault;
pub use kind::{FileKind, kind_of, may_be_file};
pub use plain_text::{fact, plain_text};
pub use read_file::read_file;
