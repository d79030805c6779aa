//! The unit of work: the only way to read or write state while a report, a tick or an act is handled.
//!
//! - [`Work`]: reads that include pending deeds, writes as deeds, and the one commit.
//! - `group`: the pending deeds, and the positions of the newest rows among them.

mod group;
#[cfg(test)]
mod tests;
mod unit;

#[cfg(test)]
pub(crate) use self::unit::Durable;
pub(crate) use self::unit::{WHOLE, Work};
