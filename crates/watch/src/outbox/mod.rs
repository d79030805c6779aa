//! The outbox: what is to be delivered, durable on disk, and what became of it.
//!
//! - `delivery`: one delivery, with its tries and when the next one is.
//! - `schedule`: when a digest is sent. `quiet`: when nothing is.
//! - `digest`: what is held back for one.
//! - `state`: watches, routes, deliveries and places in the feed, as the records of the log made them.
//! - `record`: one step of the log.
//! - `log`: where records are written to.
//! - `queue`: which deliveries are due, route by route.

mod delivery;
mod digest;
mod log;
mod queue;
mod quiet;
mod record;
mod schedule;
mod state;

pub use delivery::{ANSWER_BYTES_MAX, Alert, Delivery, DeliveryState, Reason, Try, next_try};
pub use digest::{EVENTS_MAX, Held};
pub use log::Opened;
pub use queue::due;
pub use quiet::Quiet;
pub use record::Record;
pub use schedule::Schedule;
pub use state::{RouteEntry, State, Trouble, TroubleKind, WatchEntry};

use crate::frames::FrameLog;

/// The log and what it says.
pub struct Outbox {
    pub log: FrameLog,
    pub state: State,
}
