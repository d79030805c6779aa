//! The outbox: what is to be delivered, durable on disk, and what became of it.
//!
//! - `delivery`: one delivery, with its tries and when the next one is.
//! - `schedule`: when a digest is sent.
//! - `digest`: what is held back for one.
//! - `state`: watches, routes, deliveries and places in the feed, as the records of the log made them.
//! - `record`: one step of the log.
//! - `log`: the bytes.
//! - `queue`: which deliveries are due, route by route.

mod delivery;
mod digest;
mod log;
mod queue;
mod record;
mod schedule;
mod state;

pub use delivery::{ANSWER_BYTES_MAX, Alert, Delivery, DeliveryState, Reason, Try, next_try};
pub use digest::{EVENTS_MAX, Held};
pub use log::{Log, Opened};
pub use queue::due;
pub use record::Record;
pub use schedule::Schedule;
pub use state::{RouteEntry, State, Trouble, TroubleKind, WatchEntry};

/// The log and what it says.
pub struct Outbox {
    pub log: Log,
    pub state: State,
}
