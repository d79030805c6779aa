//! Where parts are wired together and time passes.
//!
//! - `clock`: the only place that asks the wall for the hour.
//! - `parts`: the settings in force as the settings of each room.
//! - `folder`: the data folder, opened by us or spoken to through the socket of the process that holds it.
//! - `files`: PDF and office files, read in child processes.
//! - `crawl`: a crawl put together and set going.
//! - `live`: the one thread that owns the crawler; reports and acts in, orders out.
//! - `backend`: the crawl behind the API, running or stopped.
//! - `dashboard`: the pages for people, before the API.
//! - `descriptors`: how many files and connections there may be, and who gets which share.
//! - `serving`: the socket. `network`: the listener, within the limits of `connections`, and over `tls` where it is asked for.
//! - `local_token`: what a write through the loopback port must carry.
//! - `search`: the text index, followed by a thread of low priority.
//! - `alerts`: watches and deliveries, followed by another one.
//! - `shown`: a stopped folder on the network.
//! - `shutdown`: signals.
//! - `progress`: what a person sees meanwhile.

pub mod alerts;
mod backend;
pub mod clock;
pub mod connections;
pub mod crawl;
mod dashboard;
pub mod descriptors;
pub mod files;
pub mod folder;
pub mod live;
pub mod local_token;
pub mod network;
pub mod parts;
pub mod progress;
pub mod search;
pub mod serving;
pub mod shown;
pub mod shutdown;
pub mod tls;
mod unreached_log;
