//! The index on disk.
//!
//! ```text
//! DIR/search/           the files of the index library; each has a checksum, and `meta.json` names those of the last commit
//! DIR/search/meta.json  its payload is the place: {"format":2,"cursor":57,"last":[51,[3,12]],"has_anchors":true}
//! ```
//!
//! `meta.json` is replaced as a whole after all files that it names are synced. So the index is at any instant that of one
//! commit, and the place says which events that commit has in it. Whatever else is found there is removed and made anew.

pub(crate) mod held_unit;
pub mod opened;
pub mod place;
pub mod schema;
