//! What is known of sites above the partitions. Delay, standing and traps of one site lie in its partition's `SiteBook`.
//!
//! - `robots`: what each origin's robots.txt says to us.
//! - `addresses`: the wider politeness towards an address behind many sites.
//! - `noise_books`: what was learned to differ without meaning, site by site.
//! - `conduct`: how a site behaved when it was asked, and what that means for the next request.

pub(crate) mod addresses;
mod all;
pub(crate) mod conduct;
pub(crate) mod noise_books;
pub(crate) mod robots;

pub(crate) use self::all::Sites;
