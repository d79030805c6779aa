//! What sites say of their own changes, and what that does to the schedule.
//!
//! - [`Hints`]: the book, the subscriptions, and when files of hints were last given their places.
//! - `announce`: announces files of hints, and the URLs that they list, to the sieve.
//! - `hearing`: handles the hints in files and pages, and judges them by what visits found.
//! - `schedule`: when files of hints are read, and which pages are visited less often because trusted hints cover them.
//! - `book`: trust and files of every site, and the hints about single pages.
//! - `moved_entries`: entries of a file that are new or have a new date.
//! - `dates`: how far Last-Modified is trusted.
//! - `subscriptions`, `subscription_book`: hubs of feeds are asked to send what is new.
//! - `hmac`: the signatures of hubs, and the secrets that hubs are given.

pub(crate) mod announce;
mod book;
pub(crate) mod dates;
mod hearing;
pub(crate) mod hmac;
pub(crate) mod moved_entries;
pub(crate) mod schedule;
mod subscription_book;
mod subscriptions;
#[cfg(test)]
mod tests;

pub(crate) use self::hearing::Hints;
