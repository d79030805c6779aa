//! Where a pass over all links stands: kept behind each sweep, and taken up by the next process. What is read and not swept
//! yet lies in the pieces of the repository (`graph/pieces.rs`).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use vernal_model::{Moment, Span};
use vernal_policy::importance::Scores;
use vernal_repository::graph::{GatheredLinks, LinkGathering, LinkStream, NodeState, PassStart};

use super::{Stage, Sweeping};
use crate::Result;
use crate::crawler::Crawler;

/// The name under which it is kept.
const NAME: &str = "links";
/// A pass that began longer ago begins anew: its links are too old to be worth the rest of the way.
const KEPT_MAX: Span = Span::from_days(7);

#[derive(Serialize, Deserialize)]
struct Standing<'a> {
    begun: PassStart,
    states: Cow<'a, [NodeState]>,
    scores: Cow<'a, Scores>,
    is_still: bool,
}

impl Crawler {
    /// Keeps the scores as they are behind a sweep, or before the first. From here on nothing is gathered again.
    pub(super) fn keep_sweeps(&self, sweeping: &Sweeping, is_still: bool) -> Result<()> {
        let Sweeping { begun, gathered, scores, .. } = sweeping;
        let (states, scores) = (Cow::Borrowed(&gathered.states[..]), Cow::Borrowed(scores));
        self.repository.keep_pass(NAME, &Standing { begun: *begun, states, scores, is_still })?;
        Ok(self.repository.forget_gathering()?)
    }

    /// The pass has ended.
    pub(super) fn forget_sweeps(&self) -> Result<()> {
        self.repository.forget_gathering()?;
        Ok(self.repository.forget_pass(NAME)?)
    }

    /// Goes on where the process before stood, if it left a pass that is worth it.
    pub(super) fn resume_pass(&self, now: Moment) -> Result<Option<Stage>> {
        if let Some(stage) = self.resume_sweeps(now)? {
            return Ok(Some(stage));
        }
        let gathering =
            LinkGathering::resume(&self.repository)?.filter(|gathering| self.is_worth_it(&gathering.begun(), now));
        let in_pieces = |gathering: LinkGathering| gathering.in_pieces_of(self.settings.pass_piece_pages);
        Ok(gathering.map(|gathering| Stage::Gathering(Box::new(in_pieces(gathering)))))
    }

    fn resume_sweeps(&self, now: Moment) -> Result<Option<Stage>> {
        let Some(standing) = self.reader.kept_pass::<Standing<'static>>(NAME) else { return Ok(None) };
        let Standing { begun, states, scores, is_still } = standing;
        if !self.is_worth_it(&begun, now) {
            return Ok(None);
        }
        let Some(index) = self.reader.link_index_of(&begun)? else { return Ok(None) };
        let nodes = index.numbering().len() as usize;
        if (states.len(), scores.nodes()) != (nodes, nodes) {
            return Ok(None);
        }
        let stream = LinkStream::new(index.clone());
        let gathered = GatheredLinks { index, states: states.into_owned() };
        let sweeping = Sweeping { begun, gathered, stream, scores: scores.into_owned() };
        Ok(Some(if is_still { self.telling(sweeping) } else { Stage::Sweeping(Box::new(sweeping)) }))
    }

    /// Whether a pass that began then has not ended, and is not too old.
    fn is_worth_it(&self, begun: &PassStart, now: Moment) -> bool {
        begun.position > self.weighing.mark.position && begun.moment <= now && now.since(begun.moment) < KEPT_MAX
    }
}
