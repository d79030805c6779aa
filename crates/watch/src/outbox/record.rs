//! One step of the log. Records of one frame are applied together or not at all.

use serde::{Deserialize, Serialize};
use vernal_model::Moment;
use vernal_repository::Cursor;

use super::delivery::{Delivery, DeliveryState, Try};
use super::state::{RouteEntry, State, Trouble, WatchEntry};
use crate::told::Told;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// Everything so far; the first record of a log that was written anew.
    Whole(Box<State>),
    Watch(Box<WatchEntry>),
    WatchRemoved(String),
    Route(Box<RouteEntry>),
    RouteRemoved(String),
    /// These watches have seen all events up to here.
    Seen {
        watches: Vec<String>,
        upto: Cursor,
    },
    /// Something of what is watched was seen.
    Heard {
        watch: String,
        at: Moment,
    },
    Deliver(Box<Delivery>),
    /// An event waits for a digest, which is due then unless one is due sooner.
    Held {
        watch: String,
        route: String,
        told: Box<Told>,
        due: Moment,
    },
    /// The digest was made; what was held is in it.
    Released {
        watch: String,
        route: String,
    },
    Tried {
        delivery: String,
        tried: Try,
        state: DeliveryState,
        next: Moment,
    },
    /// A person wants it sent anew, with the same id.
    Again {
        delivery: String,
        at: Moment,
    },
    /// Nothing is sent on this route until somebody enables it; `None` enables it.
    Disabled {
        route: String,
        why: Option<String>,
    },
    Trouble {
        watch: String,
        trouble: Option<Box<Trouble>>,
    },
    /// The page was erased: its words go from all that is kept.
    Forgot {
        url: String,
    },
}
