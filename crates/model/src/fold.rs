//! What is kept of a version for those who follow the feed: the numbers of its paragraphs, and the folds that the
//! operations of its change belong to.
//!
//! A fold is one same operation on several pages of a site. Most folds have one page only and are never told.

use serde::{Deserialize, Serialize};

use crate::{Event, Moment, PageKey, ParagraphMark};

/// What is kept of one version of a page beside its visit, from the second version on. The paragraphs of a first version
/// have the numbers from 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VersionRow {
    /// The numbers of its paragraphs in order, as runs.
    pub numbers: Vec<NumberRun>,
    /// The fold of each paragraph operation and of each note of its change. Both are empty where nothing is folded.
    pub operations: Vec<FoldKey>,
    pub notes: Vec<FoldKey>,
}

/// Consecutive paragraph numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberRun {
    pub first: u32,
    pub count: u32,
}

impl NumberRun {
    pub fn of(marks: &[ParagraphMark]) -> Vec<NumberRun> {
        let mut runs: Vec<NumberRun> = Vec::new();
        for mark in marks {
            match runs.last_mut() {
                Some(run) if run.first.checked_add(run.count) == Some(mark.id) => run.count += 1,
                _ => runs.push(NumberRun { first: mark.id, count: 1 }),
            }
        }
        runs
    }

    /// At most `limit` numbers: a row may be damaged.
    pub fn numbers(runs: &[NumberRun], limit: usize) -> Vec<u32> {
        let all = runs.iter().flat_map(|run| (0..run.count).map(|more| run.first.saturating_add(more)));
        all.take(limit).collect()
    }
}

/// The fold that an operation belongs to.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FoldKey {
    /// A mark of the site and of the operation. 0: it is never folded.
    pub mark: u64,
    /// The same operation at another time is another fold with another number, from 1.
    pub number: u32,
}

/// The folds of one mark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldRow {
    /// The number of the current fold.
    pub number: u32,
    pub current: OperationFold,
    /// Earlier folds that were told, the oldest first.
    pub earlier: Vec<(u32, OperationFold)>,
}

/// One operation on pages of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationFold {
    /// When it was first and last found.
    pub first: Moment,
    pub last: Moment,
    /// On every page it happened after the first of these moments and before the second.
    pub after: Moment,
    pub before: Moment,
    /// How many pages have it.
    pub pages: u32,
    /// The sum of the marks of their versions: folds of the same versions have the same sum.
    pub versions: u64,
    /// The first of the pages, each with its version.
    pub sample: Vec<(PageKey, u32)>,
    /// The page count when it was last told; 0 when it never was.
    pub told: u32,
}

impl FoldRow {
    /// Beyond this limit the oldest of the earlier folds is removed, and its events are listed again.
    pub const EARLIER_MAX: usize = 8;

    pub fn fold(&self, number: u32) -> Option<&OperationFold> {
        if number == self.number {
            return Some(&self.current);
        }
        self.earlier.iter().find(|(earlier, _)| *earlier == number).map(|(_, fold)| fold)
    }
}

impl OperationFold {
    /// So many pages must have the operation before the site has an event of it.
    pub const PAGES_MIN: u32 = 5;
    pub const SAMPLE_MAX: usize = Self::PAGES_MIN as usize;

    pub fn is_told(&self) -> bool {
        self.told > 0
    }
}

/// The folds that one version joined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Folded {
    pub page: PageKey,
    /// The new rows, by mark.
    pub folds: Vec<(u64, FoldRow)>,
    /// The event of the site, if it has one to tell now.
    pub telling: Option<Telling>,
}

/// An event of a site about folds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Telling {
    pub event: Event,
    pub folds: ToldFolds,
}

/// The folds of an event of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToldFolds {
    /// How many pages had them then.
    pub pages: u32,
    /// The fold of each paragraph operation and of each note of the event.
    pub operations: Vec<FoldKey>,
    pub notes: Vec<FoldKey>,
}

/// The row of a version, with the version that it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VersionTold {
    pub page: PageKey,
    pub version: u32,
    pub row: VersionRow,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_their_runs_in_order() {
        let numbers = [1, 2, 3, 9, 4, 5, u32::MAX, 0];
        let marks: Vec<ParagraphMark> =
            numbers.iter().map(|&id| ParagraphMark { id, ..ParagraphMark::default() }).collect();
        let runs = NumberRun::of(&marks);
        assert_eq!(runs.len(), 5);
        assert_eq!(NumberRun::numbers(&runs, 100), numbers);
        assert_eq!(NumberRun::numbers(&runs, 4), numbers[..4]);
        assert_eq!(NumberRun::of(&[]), []);
    }
}
