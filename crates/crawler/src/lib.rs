//! Walks the ring: reports and ticks in, orders out.
//!
//! The [`Crawler`] is a deterministic state machine over a repository: time is an argument of every call, chance comes
//! from a number in the [`Settings`], and no socket, thread or clock lives here. The live runtime and the simulator
//! drive the very same code.

mod act;
mod acts;
pub mod audit;
mod coordinator;
mod core;
mod crawler;
mod disk;
mod error;
mod explain;
mod forget;
mod hints;
mod import;
mod in_flight;
mod intake;
mod names;
mod partition;
mod passes;
mod plan;
mod promising;
mod pulse;
mod restore;
mod scope;
mod settings;
mod sites;
#[cfg(test)]
mod testing;
mod unreached;
mod url_terms;
mod weights;
mod work;

pub use act::{Act, Acted, Check, ForgetWord, HubWord, NamesWord, NoiseWord};
pub use crawler::Crawler;
pub use error::{Error, Result};
pub use explain::PromisesKept;
pub use hints::hmac::{SignatureMethod, UnknownMethod, callback_key, hub_secret, keyed_digest};
pub use hints::schedule::trust_words;
pub use import::Imported;
pub use partition::Believed;
pub use passes::link_scores::Weighed;
pub use passes::topics;
pub use plan::measured::{Calibration, CalibrationBin, Measured, SAMPLES_MIN};
pub use plan::{Forecast, Plan, PlannedVisit, plan};
pub use pulse::Pulse;
pub use restore::Restored;
pub use settings::{Callback, DiskFreeMin, GroupLimits, Promise, Requisites, Settings, Wish, WishOf};
pub use unreached::UnreachedSeed;
pub use url_terms::{UrlTerms, UrlTermsBook, UrlsOf};
pub use vernal_frontier::PriorityList;
pub use weights::{ImportanceBy, Weights};
