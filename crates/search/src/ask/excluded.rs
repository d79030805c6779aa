//! What a query must not fit, wrapped so that the library may ask it for any unit.
//!
//! The library asks an excluded query whether it has a unit, also one that lies before the first that it has. Phrases of
//! tantivy 0.27 take that for a fault (an assertion of `PhraseScorer::seek_danger`). The steps that every query takes by default
//! allow it.

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Result, Score, SegmentReader, Term};

#[derive(Debug)]
pub struct Excluded(pub Box<dyn Query>);

struct ExcludedWeight(Box<dyn Weight>);

struct ExcludedScorer(Box<dyn Scorer>);

impl Clone for Excluded {
    fn clone(&self) -> Self {
        Excluded(self.0.box_clone())
    }
}

impl Query for Excluded {
    fn weight(&self, scoring: EnableScoring<'_>) -> Result<Box<dyn Weight>> {
        Ok(Box::new(ExcludedWeight(self.0.weight(scoring)?)))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.0.query_terms(visitor);
    }
}

impl Weight for ExcludedWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> Result<Box<dyn Scorer>> {
        Ok(Box::new(ExcludedScorer(self.0.scorer(reader, boost)?)))
    }

    fn explain(&self, reader: &SegmentReader, unit: DocId) -> Result<Explanation> {
        self.0.explain(reader, unit)
    }
}

impl DocSet for ExcludedScorer {
    fn advance(&mut self) -> DocId {
        self.0.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.0.seek(target)
    }

    fn doc(&self) -> DocId {
        self.0.doc()
    }

    fn size_hint(&self) -> u32 {
        self.0.size_hint()
    }
}

impl Scorer for ExcludedScorer {
    fn score(&mut self) -> Score {
        self.0.score()
    }
}
