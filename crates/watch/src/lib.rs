//! Conditions over the change feed, and an outbox that loses nothing: webhooks, mail, commands, digests.
//!
//! A [`Watch`] is a saved question to the feed and the [`Route`]s where its answers go. It reads acknowledged events only and
//! has a place of its own in the feed; it never asks a page. What matches becomes a [`Delivery`] in the [`outbox`], which is a
//! log of its own in the data folder, and stays there until its route has taken it or it is given up.
//!
//! Beside them are the [`marks`] that people set on events, and how far each of them has read, in a log of their own.
//!
//! The room knows neither pages nor sockets: [`Feed`] gives events, [`Network`] gives connections, and `app` fills both.
//!
//! Invariants:
//! - The place in the feed and the deliveries of all events before it are written in one frame: after a crash every event that
//!   matched is delivered at least once, and a repeat has the same id.
//! - Nothing is sent that has nothing to read.
//! - A route that fails holds up no other route, and a delivery that fails holds up only later ones of the same page.
//! - Secrets leave the room as signatures and passwords alone: nothing that is shown, logged or told has them.
//! - The ring never waits: nothing here is called by it, and the log has a lock of its own.

mod error;
mod frames;
mod texts;
mod told;

pub mod condition;
mod watch;

mod route;
mod secret;

pub mod template;

pub mod outbox;

mod matching;
mod preview;
mod trouble;

pub mod send;

pub mod marks;

mod agreement;
mod alerts;
mod follow;
mod found;
mod shown;

pub use agreement::OfSettings;
pub use alerts::{Alerts, Question, WatchChange};
pub use error::{Error, Result};
pub use follow::{Batch, Feed, FeedEvent, Follow, Now, judged, take_events};
pub use found::Found;
pub use marks::{Mark, MarkState, Marks};
pub use matching::{Matcher, Matching};
pub use outbox::{
    Alert, Delivery, DeliveryState, Quiet, Reason, RouteEntry, Schedule, State, Trouble, Try, WatchEntry,
};
pub use preview::{Preview, Reach, preview};
pub use route::{ATOM, Body, Mail, Program, Route, RouteKind, RouteShown, Webhook};
pub use secret::Secret;
pub use send::{Connection, DialTls, LocalFuture, MailStream, Network, Outcome, Post, PostAnswer, SendError};
pub use shown::DeliveryQuery;
pub use told::{Excerpt, Note, Paragraph, Tally, Told};
pub use watch::{Also, AtMost, How, Over, To, Watch};
