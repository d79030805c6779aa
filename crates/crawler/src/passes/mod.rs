//! Work over the whole repository, in turns between orders and reports.
//!
//! - [`Pass`]: what they have in common.
//! - `scope_rescan`: held pages meet a scope that has changed.
//! - `topics`: which pages are thought to change together.
//! - `link_scores`: how important pages are by the links between them.
//! - `eviction`: which pages are worth holding.

mod all;
pub(crate) mod eviction;
pub(crate) mod link_scores;
mod scope_rescan;
#[cfg(test)]
mod tests;
pub mod topics;

pub(crate) use self::all::Passes;

use vernal_model::{Moment, Span};

use crate::Result;
use crate::core::Core;
use crate::plan::Planner;

/// A pass that is under way goes on after this.
pub(crate) const TURN_EVERY: Span = Span::from_millis(1);

/// Work over the whole repository. Each turn takes some milliseconds, so that orders and reports never wait long.
pub(crate) trait Pass {
    /// Whether a pass is under way, or it is time for one.
    fn is_due(&self, core: &Core, now: Moment) -> bool;
    /// When it is worth looking again; `None` if nothing is known that will ever be due.
    fn next(&self, core: &Core, now: Moment) -> Option<Moment>;
    /// Whether a turn walks through tables, so that what is on its way to them is committed before.
    fn reads_tables(&self) -> bool;
    /// The next piece of work.
    fn turn(&mut self, core: &mut Core, plan: &mut Planner, now: Moment) -> Result<()>;
    /// Lays down how far the pass is, for the next process to go on there. What its last turn pushed is committed by now,
    /// if the pass reads tables or has ended.
    fn checkpoint(&mut self, core: &Core) -> Result<()>;
    /// Whether the last turn was the last of its pass, so that it is committed at once.
    fn has_ended(&self) -> bool;
}
