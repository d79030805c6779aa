//! The checkpoint of a topic pass: written now and then, and resumed by the next process.
//!
//! There are two files: the progress of the pass, and, once everything is gathered, the gathered data, which is large
//! and does not change while columns are computed. Later results need no checkpoint: topics that a page already has are
//! not written again.

use vernal_model::{Moment, Span};
use vernal_policy::topic::{Graph, TopicTerms};
use vernal_repository::{Reader, Repository};

use super::pass::{Pass, ROWS_PER_TURN, Stage};
use super::stages::Gathering;
use crate::Result;

/// The names of the two files.
const PROGRESS: &str = "topics";
const GATHERED: &str = "topics-gathered";
/// A pass older than this is restarted: too many pages have come and gone.
const KEPT_MAX: Span = Span::from_days(7);
/// While pages are read, a checkpoint takes as long as reading some part of them; it is written after half as many
/// more.
const PAGES_PER_TURN_KEPT: usize = 2 * ROWS_PER_TURN;
/// While columns are computed, a checkpoint costs one turn per so many pages, and is held to a thirtieth of the work.
const PAGES_PER_TURN_RECKONED: usize = 1_000;

impl Pass {
    /// Writes a checkpoint when one is due: after every so many pages read, and never so often that it becomes much of
    /// the work. The deeds of the pass's turns must be committed before.
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

    /// Resumes the pass of the previous process, if it is still usable: it would be the next of `passes`, computes in
    /// the same way, and is not too old.
    pub(crate) fn resume(reader: &Reader, terms: TopicTerms, passes: u32, now: Moment) -> Option<Pass> {
        let mut pass: Pass = reader.kept_pass(PROGRESS)?;
        let (moment, before) = pass.begun;
        let is_worth_it = before == passes && moment <= now && now.since(moment) < KEPT_MAX;
        if !is_worth_it || pass.terms != terms {
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
                (*room, *least) = super::pass::room_for(best, terms.most);
            }
            _ => return None,
        }
        Some(pass)
    }

    /// Removes the checkpoint of a pass that has ended.
    pub(crate) fn forget(folder: &Repository) -> Result<()> {
        folder.forget_pass(PROGRESS)?;
        Ok(folder.forget_pass(GATHERED)?)
    }
}
