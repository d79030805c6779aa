//! Which URL next: a pure state machine between discovery and the worker.
//!
//! A discovered URL passes the [`Dispatcher`] (scope, patterns, limits) and the [`TrapBook`], gets a rank from [`rank`], and
//! waits on disk. The crawler draws a bounded window of waiting URLs into the [`Frontier`], where the
//! distributor cuts them into three priority lists by rank and the allocator draws 4 : 2 : 1 from the lists, over the
//! sites that [`Politeness`] calls free now. Nothing here reads a clock, and no result depends on unordered iteration.

mod allocator;
mod audit;
mod dispatcher;
mod distributor;
mod politeness;
mod ranking;
mod traps;
mod window;

pub use allocator::Allocator;
pub use audit::{Breach, audit};
pub use dispatcher::{Dispatcher, DispatcherSettings, Error, pattern};
pub use distributor::thirds;
pub use politeness::{Politeness, PolitenessSettings};
pub use ranking::{VisitOrder, band, rank};
/// A compiled pattern of URLs. Matching is linear in the length of the URL.
pub use regex::Regex as Pattern;
pub use traps::{IndexReach, PatternMark, SITEMAPS_MAX, TrapBook};
pub use window::{Frontier, FrontierLimits, PriorityList, Waiting};
