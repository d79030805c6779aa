//! The unit of work: the only way to read or write state while a report, a tick or an act is handled.
//!
//! - [`Work`]: reads that see what is on its way to the journal, writes as deeds, and the one commit.
//! - `group`: those deeds, and where the newest rows are among them.

mod group;
#[cfg(test)]
mod tests;
mod unit;

#[cfg(test)]
pub(crate) use self::unit::Durable;
pub(crate) use self::unit::{WHOLE, Work};
