//! What is known of sites above the partitions. Delay, state and traps of one site are in its partition's `SiteBook`.
//!
//! - `robots`: the rules of each origin's robots.txt for us.
//! - `addresses`: the wider politeness towards an address with many sites.
//! - `noise_books`: the learned noise, site by site.
//! - `trap_pages`: the visited pages that lie in recognised traps.
//! - `slots`: who may use the slots of the crawl, and who waits for one.
//! - `conduct`: how a site behaved when it was asked, and what follows for the next request.

pub(crate) mod addresses;
mod all;
pub(crate) mod conduct;
pub(crate) mod noise_books;
pub(crate) mod robots;
pub(crate) mod slots;
pub(crate) mod trap_pages;

pub(crate) use self::all::Sites;
