//! Work over the whole repository, in turns between orders and reports.
//!
//! - [`Pass`]: what they have in common.
//! - `scope_rescan`: held pages are checked against a changed scope.
//! - `topics`: which pages are thought to change together.
//! - `link_scores`: how important pages are by the links between them.
//! - `history`: each hour is closed with what was counted in it.
//! - `eviction`: which pages are worth holding.

mod all;
pub(crate) mod eviction;
mod history;
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

/// The wait before the next turn of a pass that is under way.
pub(crate) const TURN_EVERY: Span = Span::from_millis(1);

/// Work over the whole repository. Each turn takes some milliseconds, so that orders and reports never wait long.
pub(crate) trait Pass {
    /// Whether a pass is under way, or it is time for one.
    fn is_due(&self, core: &Core, now: Moment) -> bool;
    /// When to check again; `None` if no later Moment is known.
    fn next(&self, core: &Core, now: Moment) -> Option<Moment>;
    /// Whether a turn reads tables, so that pending deeds must be committed before it.
    fn reads_tables(&self) -> bool;
    /// The next piece of work.
    fn turn(&mut self, core: &mut Core, plan: &mut Planner, now: Moment) -> Result<()>;
    /// Writes the progress of the pass, for the next process to resume. The deeds of the last turn are committed by now
    /// if the pass reads tables or has ended.
    fn checkpoint(&mut self, core: &Core) -> Result<()>;
    /// Whether the last turn was the last of its pass, so that it is committed at once.
    fn has_ended(&self) -> bool;
}
