//! What a person had forgotten: the pages of a rule are erased, and kept out from then on.
//!
//! - `book`: the rules in force, asked of every URL.
//! - `covered`: which pages and which waiting URLs a rule covers, with their other names.
//! - `page`: everything that is kept of one page, as the deed that erases it.
//! - `site`: what is kept of a site beside its pages.
//! - `act`: the acts of people: forget, try out, and take back.

mod act;
mod book;
mod covered;
mod page;
mod site;
#[cfg(test)]
mod tests;

pub(crate) use self::act::{Forgetting, forget, forget_on, lift, rewrite_erased, take_up_ledger};
pub(crate) use self::book::Forgotten;
pub(crate) use self::site::overwrite;
