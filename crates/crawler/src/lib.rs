//! Walks the ring: reports and ticks in, orders out.
//!
//! The [`Crawler`] is a deterministic state machine over a repository: time is an argument of every call, chance comes
//! from a number in the [`Settings`], and no socket, thread or clock lives here. The live runtime and the simulator
//! drive the very same code.

mod act;
mod address_book;
mod coordinator;
mod crawler;
mod error;
mod group;
mod hint_book;
mod intake;
mod keyed;
mod partition;
mod plan;
mod refresh_view;
mod retries;
mod robots_book;
mod settings;
mod subscription_book;
pub mod topics;
mod wanted;
mod weights;

pub use act::{Act, Acted, Check, HubWord, NoiseWord, Pulse};
pub use crawler::{Crawler, Cure, Measured, PromisesKept, Restored, Weighed, trust_words};
pub use error::{Error, Result};
pub use keyed::{SignatureMethod, UnknownMethod, callback_key, hub_secret, keyed_digest};
pub use plan::{Forecast, Plan, PlannedVisit, plan};
pub use settings::{Callback, DiskFreeMin, GroupLimits, Promise, Settings, Wish, WishOf};
pub use weights::{ImportanceBy, Weights};
