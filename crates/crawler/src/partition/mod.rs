//! One partition's life. A cheap struct, not a thread or a store.
//!
//! - [`Partition`]: its parts, and how pages move between them.
//! - [`SiteBook`]: its sites: conduct, delay, traps, and the site of each page.
//! - [`WaitingUrls`]: URLs that wait for their first visit, from disk into the window and out of it.
//! - [`RefreshQueue`]: held pages with the policy, and the value of the best visit.
//! - [`Retries`]: pages that are with neither of them.
//! - [`RefreshView`]: what the policy can see.
//! - [`Partitions`]: all of them. [`Believed`]: what their policies believe of the pages.

mod all;
mod believed;
mod one;
mod refresh;
mod retries;
mod sites;
mod view;
mod waiting;

pub use self::believed::Believed;

pub(crate) use self::all::{Partitions, Sums, bits};
pub(crate) use self::one::Partition;
pub(crate) use self::refresh::RefreshQueue;
pub(crate) use self::sites::{Reach, SiteBook, SiteLife};
pub(crate) use self::view::{Facts, RefreshView};
pub(crate) use self::waiting::{WaitingUrls, window_row};
