//! Two meanings become a change, and an answer that is no page becomes a wall.

pub mod alignment;
pub(crate) mod digest_map;
mod flags;
mod login;
pub mod methods;
mod pages;
pub mod structure;
mod verdict;
mod wall;
mod wall_words;

pub use flags::{Flags, flags};
pub(crate) use login::leads_to_login;
pub use pages::{compare_pages, tell_closely};
pub use verdict::compare;
pub use wall::wall;
