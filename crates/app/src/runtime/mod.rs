//! Where parts are wired together and time passes.
//!
//! - `clock`: the only place that asks the wall for the hour.
//! - `parts`: the settings in force as the settings of each room.
//! - `folder`: the data folder, opened by us or spoken to through the socket of the process that holds it.
//! - `crawl`: a crawl put together and set going.
//! - `live`: the one thread that owns the crawler; reports and acts in, orders out.
//! - `serving`: the socket and the listener.
//! - `shutdown`: signals.
//! - `progress`: what a person sees meanwhile.
//! - `runs`: which politeness each run promised, for the audit.

pub mod clock;
pub mod crawl;
pub mod folder;
pub mod live;
pub mod parts;
pub mod progress;
pub mod runs;
pub mod serving;
pub mod shutdown;
mod unreached_log;
