//! Where a pass for topics stands: kept now and then, and taken up by the next process.
//!
//! Two files: how far the pass is, and, once all is gathered, what it was gathered from, which is large and stays as it is
//! while columns are reckoned. What is written afterwards need not be kept: topics that a page has already are not written
//! again.

use vernal_model::{Moment, Span};
use vernal_policy::topic::{Graph, Reckoning};
use vernal_repository::{Reader, Repository};

use super::pass::{Pass, ROWS_PER_TURN, Stage};
use super::stages::Gathering;
use crate::Result;

/// The names under which the two are kept.
const PROGRESS: &str = "topics";
const GATHERED: &str = "topics-gathered";
/// A pass that began longer ago begins anew: too many pages have come and gone.
const KEPT_MAX: Span = Span::from_days(7);
/// While pages are read, keeping takes as long as reading some part of them; it is done after half as many more.
const PAGES_PER_TURN_KEPT: usize = 2 * ROWS_PER_TURN;
/// While columns are reckoned, it takes as long as a turn for so many pages, and is made a thirtieth of the work.
const PAGES_PER_TURN_RECKONED: usize = 1_000;

impl Pass {
    /// Keeps how far it is, when it is time for that: every so many pages that were read, and never so often that it would
    /// be much of the work. The deeds of its turns have to be committed before.
    pub(crate) fn keep(&mut self, folder: &Repository, piece_pages: usize) -> Result<()> {
        let (least, has_begun) = match &self.stage {
            Stage::Counting { counted, .. } => (counted.pages.len() / PAGES_PER_TURN_KEPT, false),
            Stage::Gathering { at, .. } => (at / PAGES_PER_TURN_KEPT, *at == 0),
            Stage::Reckoning { column, gathered, .. } => {
                let has_ended = *column == gathered.topics();
                (gathered.pages() / PAGES_PER_TURN_RECKONED, *column == 0 || has_ended)
            }
            _ => return Ok(()),
        };
        self.turns_unkept += 1;
        if !has_begun && self.turns_unkept < (piece_pages / ROWS_PER_TURN).max(least).max(1) {
            return Ok(());
        }
        if let Stage::Reckoning { column: 0, gathered, graph, .. } = &self.stage {
            folder.keep_pass(GATHERED, &(self.begun, gathered, graph))?;
        }
        folder.keep_pass(PROGRESS, self)?;
        self.turns_unkept = 0;
        Ok(())
    }

    /// Goes on where the process before stood, if it left a pass that is worth it: one that would be the next of `passes`, is
    /// reckoned in the same way and not too old.
    pub(crate) fn resume(reader: &Reader, reckoning: Reckoning, passes: u32, now: Moment) -> Option<Pass> {
        let mut pass: Pass = reader.kept_pass(PROGRESS)?;
        let (moment, before) = pass.begun;
        let is_worth_it = before == passes && moment <= now && now.since(moment) < KEPT_MAX;
        if !is_worth_it || pass.reckoning != reckoning {
            return None;
        }
        match &mut pass.stage {
            Stage::Counting { counted, .. } => counted.number(),
            Stage::Gathering { gathering, .. } => gathering.number(),
            Stage::Reckoning { column, gathered, graph, room, best, least } => {
                let kept: ((Moment, u32), Box<Gathering>, Graph) = reader.kept_pass(GATHERED)?;
                if kept.0 != pass.begun || best.len() != kept.1.pages() || *column > kept.1.topics() {
                    return None;
                }
                (*gathered, *graph) = (kept.1, kept.2);
                (*room, *least) = super::pass::room_for(best);
            }
            _ => return None,
        }
        Some(pass)
    }

    /// The pass has ended.
    pub(crate) fn forget(folder: &Repository) -> Result<()> {
        folder.forget_pass(PROGRESS)?;
        Ok(folder.forget_pass(GATHERED)?)
    }
}
