//! FTP (RFC 959), anonymous and passive, as far as reading public files and folders needs it.
//!
//! - `conversation`: the commands that read one file or one directory, and what the replies mean.
//! - `control`: commands and replies.
//! - `directory`: directory listings in their various formats become one name per line.

mod control;
mod conversation;
mod directory;

pub use conversation::ask;
