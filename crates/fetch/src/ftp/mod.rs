//! FTP (RFC 959), anonymous and passive, as far as reading public files and folders needs it.
//!
//! - `conversation`: what is said for one file or one folder, and what the answers mean.
//! - `control`: commands and replies.
//! - `listing`: the folder formats of the world become one name per line.

mod control;
mod conversation;
mod listing;

pub use conversation::ask;
