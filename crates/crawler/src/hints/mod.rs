//! What sites say of their own changes, and what that does to the schedule.
//!
//! - [`Hints`]: the book, the subscriptions, and when files of hints were last given their places.
//! - `announce`: files of hints, and the URLs that they list, on their way to the sieve.
//! - `hearing`: files and pages speak, visits show who was right.
//! - `schedule`: when files of hints are read, and which pages are left alone because their site's word has proved good.
//! - `book`: trust and files of every site, and what is said of pages.
//! - `moved_entries`: what a file says that it did not say before.
//! - `dates`: how far Last-Modified is believed.
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
