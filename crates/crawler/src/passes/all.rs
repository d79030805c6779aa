//! The passes of a crawl, in the order of their turns.

use vernal_model::{GraphMark, Moment};
use vernal_repository::Reader;

use super::Pass;
use super::eviction::EvictionPass;
use super::history::History;
use super::link_scores::LinkScores;
use super::scope_rescan::ScopeRescan;
use super::topics::Topics;
use crate::Result;
use crate::core::Core;

pub(crate) struct Passes {
    pub scope_rescan: ScopeRescan,
    pub topics: Topics,
    pub link_scores: LinkScores,
    pub eviction: EvictionPass,
    pub history: History,
}

impl Passes {
    pub fn new(reader: &Reader, now: Moment) -> Result<Self> {
        Ok(Passes {
            scope_rescan: ScopeRescan::new(reader.scope_mark()),
            topics: Topics::new(now),
            link_scores: LinkScores::new(reader.graph_mark()?.unwrap_or_default()),
            eviction: EvictionPass::default(),
            history: History::new(reader),
        })
    }

    /// All passes, in the order of their turns.
    pub fn all(&self) -> [&dyn Pass; 5] {
        [&self.scope_rescan, &self.topics, &self.link_scores, &self.eviction, &self.history]
    }

    /// The pass at this index of their order.
    pub fn at(&mut self, place: usize) -> &mut dyn Pass {
        match place {
            0 => &mut self.scope_rescan,
            1 => &mut self.topics,
            2 => &mut self.link_scores,
            3 => &mut self.eviction,
            _ => &mut self.history,
        }
    }

    /// Passes the result of one pass to the next: eviction ranks by the new scores.
    pub fn hand_over(&mut self) {
        if let Some(ranked) = self.link_scores.take_ranked() {
            self.eviction.begin(ranked);
        }
        if let Some(mark) = self.eviction.take_mark() {
            self.link_scores.end(mark);
        }
    }

    /// The mark of the last completed pass over all links.
    pub fn graph_mark(&self) -> GraphMark {
        self.link_scores.mark()
    }

    /// The Moments at which the passes next have work.
    pub fn next(&self, core: &Core, now: Moment) -> impl Iterator<Item = Moment> {
        self.all().map(|pass| pass.next(core, now)).into_iter().flatten()
    }
}
