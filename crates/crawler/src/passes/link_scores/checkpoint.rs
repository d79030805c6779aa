//! The checkpoint of a pass over all links: written after each sweep, and resumed by the next process. Links that are
//! read and not swept yet are in the pieces of the repository (`graph/pieces.rs`).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use vernal_model::{Moment, Span};
use vernal_policy::importance::Scores;
use vernal_repository::Repository;
use vernal_repository::graph::{GatheredLinks, LinkGathering, LinkStream, NodeState, PassStart};

use super::LinkScores;
use super::scores::{Stage, Sweeping, telling};
use crate::Result;
use crate::core::Core;

/// The name of the checkpoint.
const NAME: &str = "links";
/// A pass older than this is restarted: its links are too old.
const KEPT_MAX: Span = Span::from_days(7);

#[derive(Serialize, Deserialize)]
struct Checkpoint<'a> {
    begun: PassStart,
    states: Cow<'a, [NodeState]>,
    scores: Cow<'a, Scores>,
    is_still: bool,
}

impl Sweeping {
    /// Writes the scores after a sweep, or before the first. From here on no links are gathered again.
    pub fn keep(&self, folder: &Repository, is_still: bool) -> Result<()> {
        let Sweeping { begun, gathered, scores, .. } = self;
        let (states, scores) = (Cow::Borrowed(&gathered.states[..]), Cow::Borrowed(scores));
        folder.keep_pass(NAME, &Checkpoint { begun: *begun, states, scores, is_still })?;
        Ok(folder.forget_gathering()?)
    }
}

/// Removes the checkpoint of a pass that has ended.
pub(crate) fn forget(folder: &Repository) -> Result<()> {
    folder.forget_gathering()?;
    Ok(folder.forget_pass(NAME)?)
}

impl LinkScores {
    /// Resumes the pass of the previous process, if it is still usable.
    pub(super) fn resume(&self, core: &Core, now: Moment) -> Result<Option<Stage>> {
        if let Some(stage) = self.resume_sweeps(core, now)? {
            return Ok(Some(stage));
        }
        let gathering = LinkGathering::resume(core.work.derived())?;
        let gathering = gathering.filter(|gathering| self.is_worth_it(&gathering.begun(), now));
        let in_pieces = |gathering: LinkGathering| gathering.in_pieces_of(core.settings.pass_piece_pages);
        Ok(gathering.map(|gathering| Stage::Gathering(Box::new(in_pieces(gathering)))))
    }

    fn resume_sweeps(&self, core: &Core, now: Moment) -> Result<Option<Stage>> {
        let reader = core.work.acknowledged();
        let Some(kept) = reader.kept_pass::<Checkpoint<'static>>(NAME) else { return Ok(None) };
        let Checkpoint { begun, states, scores, is_still } = kept;
        if !self.is_worth_it(&begun, now) {
            return Ok(None);
        }
        let Some(index) = reader.link_index_of(&begun)? else { return Ok(None) };
        let nodes = index.numbering().len() as usize;
        if (states.len(), scores.nodes()) != (nodes, nodes) {
            return Ok(None);
        }
        let stream = LinkStream::new(index.clone());
        let gathered = GatheredLinks { index, states: states.into_owned() };
        let sweeping = Sweeping { begun, gathered, stream, scores: scores.into_owned() };
        Ok(Some(if is_still { telling(core, sweeping) } else { Stage::Sweeping(Box::new(sweeping)) }))
    }

    /// Whether a pass that began then has not ended, and is not too old.
    fn is_worth_it(&self, begun: &PassStart, now: Moment) -> bool {
        begun.position > self.mark().position && begun.moment <= now && now.since(begun.moment) < KEPT_MAX
    }
}
