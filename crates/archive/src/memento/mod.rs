//! Memento (RFC 7089): a version of a page is a memento of it. Lists and headers only; the bytes are served by [`crate::replay`].
//!
//! - `target`: the URL at the end of a request's target, with its query and its odd escapes.
//! - `digits`: the fourteen digits of a moment.
//! - `mementos`: the versions of a page with how long each was seen, and which of them is nearest to a moment.
//! - `uris`: where TimeGate, TimeMap and mementos are.
//! - `timemap`: the list of all mementos, as link format and as JSON, in pages.
//! - `resource_sync`: the changes of all pages as a ResourceSync change list.

mod digits;
mod mementos;
mod resource_sync;
mod target;
mod timemap;
mod uris;

pub use digits::{of_digits, rounded};
pub use mementos::{Memento, Mementos};
pub use resource_sync::{CHANGES_PER_LIST, capability_list, change_list, change_list_index};
pub use target::{NotATarget, url_at_end};
pub use timemap::{MEMENTOS_PER_PAGE, TimeMap, json_page, link_page};
pub use uris::Uris;
